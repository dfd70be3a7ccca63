package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SendWindowTest {
    @Test
    void buffer_isExchangedOnlyWhileNothingLiesInIt() {
        SendWindow window = new SendWindow(32, 1, 8192);
        window.limit(100);
        window.dataPosted(7000, true);
        assertThat(window.bufferFull()).isTrue();
        assertThat(window.bufferUnused()).isFalse();
        assertThatThrownBy(() -> window.resize(65536)).isInstanceOf(IllegalStateException.class);
        window.completed();
        assertThat(window.bufferUnused()).isTrue();
        window.resize(65536);
        assertThat(window.head()).isZero();
        assertThat(window.freeBytes()).isEqualTo(65536);
        assertThat(window.mustSignalData(16383)).isFalse();
        assertThat(window.mustSignalData(16384)).isTrue();
        window.dataPosted(65536, true);
        assertThat(window.head()).isZero();
        assertThat(window.bufferFull()).isTrue();
    }

    private static final int ENTRIES = 32;
    private static final int BYTES = 16 << 10;

    @Test
    void canSend_endsAtTheLimitAndResumesWithIt() {
        SendWindow window = new SendWindow(ENTRIES, 1, BYTES);
        assertThat(window.canSend()).isFalse();
        window.limit(2);
        window.dataPosted(1, true);
        assertThat(window.canSend()).isTrue();
        window.dataPosted(1, true);
        assertThat(window.canSend()).isFalse();
        window.limit(3);
        assertThat(window.canSend()).isTrue();
    }

    @Test
    void limit_countsSixteenBitsAndWraps() {
        SendWindow window = new SendWindow(ENTRIES, 1, BYTES);
        for (int sent = 0; sent < 3 << 16; sent++) {
            window.limit((sent + 1) & 0x1ffff); // the C peer may send a seventeenth bit
            assertThat(window.canSend()).as("message %d", sent).isTrue();
            window.dataPosted(0, true);
            assertThat(window.canSend()).as("behind message %d", sent).isFalse();
            window.completed();
        }
    }

    @Test
    void canSend_needsRoomInTheBuffer() {
        SendWindow window = new SendWindow(ENTRIES, 1, BYTES);
        window.limit(100);
        window.dataPosted(BYTES - SendWindow.MIN_FREE_BYTES + 1, true);
        assertThat(window.canSend()).isFalse();
        window.completed();
        assertThat(window.canSend()).isTrue();
        assertThat(window.freeBytes()).isEqualTo(BYTES);
    }

    @Test
    void controlSlots_areOutsideTheCreditsAndComeBackOnCompletion() {
        SendWindow window = new SendWindow(ENTRIES, 1, BYTES);
        for (int slot = 0; slot < SendWindow.CONTROL_SLOTS; slot++) {
            assertThat(window.controlAvailable(1)).isTrue();
            window.controlPosted(1, slot == SendWindow.CONTROL_SLOTS - 1);
        }
        assertThat(window.controlAvailable(1)).isFalse();
        window.completed();
        assertThat(window.controlAvailable(SendWindow.CONTROL_SLOTS)).isTrue();
    }

    @Test
    void completed_withoutAnythingSignalledIsAFault() {
        SendWindow window = new SendWindow(ENTRIES, 1, BYTES);
        window.limit(1);
        window.dataPosted(10, false);
        assertThatThrownBy(window::completed).isInstanceOf(IllegalStateException.class);
    }

    /** Whatever is posted, a window that is shut has something signalled under way that will open it. */
    @Test
    void mustSignal_neverLeavesTheWindowShutForGood() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int entriesPerData = 1; entriesPerData <= 2; entriesPerData++) {
            SendWindow window = new SendWindow(ENTRIES, entriesPerData, BYTES);
            ArrayDeque<Integer> signalled = new ArrayDeque<>();
            for (int step = 0; step < 100_000; step++) {
                window.limit((step + 1) << 4);
                if (random.nextInt(8) == 0 && window.controlAvailable(1)) {
                    boolean signal = window.mustSignalControl(1);
                    window.controlPosted(1, signal);
                    if (signal) {
                        signalled.add(step);
                    }
                }
                if (window.canSend()) {
                    int bytes = random.nextBoolean() ? 0 : 1 + random.nextInt(window.freeBytes());
                    boolean signal = window.mustSignalData(bytes);
                    window.dataPosted(bytes, signal);
                    if (signal) {
                        signalled.add(step);
                    }
                }
                boolean shut = window.freeBytes() < SendWindow.MIN_FREE_BYTES || !window.controlAvailable(1);
                if (shut) {
                    assertThat(signalled)
                            .as("seed %d, entries %d, %s", seed, entriesPerData, window)
                            .isNotEmpty();
                }
                if (!signalled.isEmpty() && (shut || random.nextInt(3) == 0)) {
                    signalled.poll();
                    window.completed();
                }
            }
        }
    }
}
