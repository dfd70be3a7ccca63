package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StreamMessageTest {
    @Test
    void of_putsTheOperationIntoTheTopThreeBits() {
        assertThat(StreamMessage.of(StreamMessage.DATA, 5)).isEqualTo(5);
        assertThat(StreamMessage.of(StreamMessage.SGL, 0x1ffff)).isEqualTo(0x8001ffff);
        assertThat(StreamMessage.of(StreamMessage.CTRL, StreamMessage.CTRL_SHUTDOWN))
                .isEqualTo(0xe0000002);
    }

    @Test
    void parts_comeBackForEveryOperation() {
        for (int operation = 0; operation < 8; operation++) {
            int message = StreamMessage.of(operation, StreamMessage.MAX_VALUE);
            assertThat(StreamMessage.operation(message)).isEqualTo(operation);
            assertThat(StreamMessage.value(message)).isEqualTo(StreamMessage.MAX_VALUE);
        }
    }
}
