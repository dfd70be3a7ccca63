package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Posted receives. */
class ReceiveQueueTest {
    @Test
    void appendEmpty_takesAsManyAsFit() {
        ReceiveQueue receives = new ReceiveQueue(10, 2);
        assertThat(receives.appendEmpty(7)).isEqualTo(7);
        assertThat(receives.appendEmpty(7)).isEqualTo(3);
        assertThat(receives.appendEmpty(1)).isZero();
        for (int expected : new int[] {0, 1, 2, 3, 4, 5, 6, 0, 1, 2}) {
            int base = receives.peek();
            assertThat(receives.words[base]).isEqualTo(expected);
            assertThat(ReceiveQueue.lengthBytes(receives.words, base)).isZero();
            receives.words[base + 1] = 1;
            receives.remove();
        }
        assertThat(receives.peek()).isEqualTo(-1);
        assertThat(receives.appendEmpty(9)).isEqualTo(9);
        assertThat(receives.words[receives.peek() + 1])
                .as("entries of what was there before")
                .isZero();
    }
}
