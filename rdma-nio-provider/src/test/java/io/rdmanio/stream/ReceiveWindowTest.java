package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ProtocolException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReceiveWindowTest {
    private static final int BYTES = 8192;
    private static final int HALF = BYTES / 2;
    private static final int CREDITS = 16;

    private final ReceiveWindow window = new ReceiveWindow(BYTES, CREDITS);

    @Test
    void firstUpdate_offersTheSecondHalfAtOnce() {
        assertThat(window.updateDue()).isTrue();
        assertThat(window.halfFree()).isTrue();
        assertThat(window.freeHalfOffset()).isEqualTo(HALF);
        assertThat(window.limit()).isEqualTo(CREDITS);
        window.updated(true);
        assertThat(window.updateDue()).isFalse();
        assertThat(window.freeHalfOffset()).isZero();
    }

    @Test
    void consumed_givesACreditOnlyForAWholeMessage() throws ProtocolException {
        window.updated(true);
        window.arrived(10);
        window.arrived(10);
        window.consumed(9);
        assertThat(window.limit()).isEqualTo(CREDITS);
        window.consumed(1);
        assertThat(window.limit()).isEqualTo(CREDITS + 1);
        window.consumed(10);
        assertThat(window.limit()).isEqualTo(CREDITS + 2);
    }

    @Test
    void updateDue_afterHalfTheCredits() throws ProtocolException {
        window.updated(true);
        for (int i = 0; i < CREDITS / 2 - 1; i++) {
            window.arrived(1);
            window.consumed(1);
        }
        assertThat(window.updateDue()).isFalse();
        window.arrived(1);
        window.consumed(1);
        assertThat(window.updateDue()).isTrue();
        assertThat(window.halfFree()).isFalse();
    }

    @Test
    void read_wrapsAtTheEndOfTheBuffer() throws ProtocolException {
        window.updated(true);
        window.arrived(HALF);
        window.arrived(HALF);
        assertThat(window.contiguous()).isEqualTo(BYTES);
        window.consumed(HALF + 100);
        assertThat(window.halfFree()).isTrue();
        window.updated(true);
        window.arrived(50);
        assertThat(window.available()).isEqualTo(HALF - 100 + 50);
        assertThat(window.contiguous()).isEqualTo(HALF - 100);
        window.consumed(HALF - 100);
        assertThat(window.readOffset()).isZero();
        assertThat(window.contiguous()).isEqualTo(50);
    }

    @Test
    void arrived_refusesWhatWasNotGranted() throws ProtocolException {
        assertThatThrownBy(() -> new ReceiveWindow(BYTES, CREDITS).arrived(HALF + 1))
                .isInstanceOf(ProtocolException.class);
        window.arrived(HALF - 1);
        assertThatThrownBy(() -> window.arrived(2))
                .as("a message across two halves")
                .isInstanceOf(ProtocolException.class);
        window.arrived(1);
        window.arrived(HALF);
        assertThatThrownBy(() -> window.arrived(1)).as("a full buffer").isInstanceOf(ProtocolException.class);
    }

    @Test
    void arrived_refusesMoreMessagesThanCredits() throws ProtocolException {
        for (int i = 0; i < CREDITS; i++) {
            window.arrived(1);
        }
        assertThatThrownBy(() -> window.arrived(1))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining(String.valueOf(CREDITS));
    }

    @Test
    void arrived_ofNothingReturnsItsCredit() throws ProtocolException {
        window.arrived(0);
        assertThat(window.available()).isZero();
        assertThat(window.limit()).isEqualTo(CREDITS + 1);
    }

    /** A sender that keeps to its credits and halves is never refused, and never starved, however the reader reads. */
    @Test
    void conversation_neverStallsNorOverruns() throws ProtocolException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int[] halves = {HALF, 0};
        int current = 0;
        int nextOffered = 1;
        int sent = 0;
        int limit = CREDITS;
        long total = 0;
        for (int step = 0; step < 300_000; step++) {
            while (window.updateDue()) {
                boolean half = window.halfFree();
                limit = window.limit();
                if (half) {
                    assertThat(halves[nextOffered]).as("seed %d", seed).isZero();
                    halves[nextOffered] = HALF;
                    nextOffered ^= 1;
                }
                window.updated(half);
            }
            boolean canSend = halves[current] > 0 && sent != limit;
            if (canSend && random.nextBoolean()) {
                int bytes = 1 + random.nextInt(random.nextBoolean() ? halves[current] : 1);
                halves[current] -= bytes;
                if (halves[current] == 0) {
                    current ^= 1;
                }
                sent = sent + 1 & 0xffff;
                window.arrived(bytes);
                total += bytes;
            } else if (window.available() > 0) {
                window.consumed(1 + random.nextInt(window.available()));
            } else {
                assertThat(canSend).as("seed %d stalls: %s", seed, window).isTrue();
            }
        }
        assertThat(total).isGreaterThan(1 << 20);
    }
}
