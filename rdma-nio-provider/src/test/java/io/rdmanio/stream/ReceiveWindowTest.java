package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReceiveWindowTest {
    private static final int HALF = 4096;
    private static final int LONGEST = 64 << 10;
    private static final int CREDITS = 16;

    private long now;
    private int nextOffset;

    private final MemoryBlock first = block(HALF);
    private final MemoryBlock second = block(HALF);
    private final ReceiveWindow window =
            new ReceiveWindow(CREDITS, first, second, new HalfLength(HALF, LONGEST), () -> now);

    /** Where no other is. */
    private MemoryBlock block(int bytes) {
        MemoryBlock block = new MemoryBlock(null, nextOffset, bytes);
        nextOffset += bytes;
        return block;
    }

    private void grantSecond() {
        assertThat(window.takeSpare()).isSameAs(second);
        window.grant(second);
        window.toldLimit();
    }

    @Test
    void firstUpdate_grantsTheSecondHalfAtOnce() {
        assertThat(window.updateDue()).isTrue();
        assertThat(window.halfDue()).isTrue();
        assertThat(window.creditsDue()).isFalse();
        assertThat(window.nextHalfBytes()).isEqualTo(HALF);
        assertThat(window.limit()).isEqualTo(CREDITS);
        assertThat(window.takeSurplus()).isNull();
        grantSecond();
        assertThat(window.updateDue()).isFalse();
        assertThat(window.takeSpare()).isNull();
    }

    @Test
    void arrived_returnsTheCreditBeforeAnythingIsRead() throws ProtocolException {
        grantSecond();
        window.arrived(10);
        assertThat(window.limit()).isEqualTo(CREDITS + 1);
        window.arrived(10);
        assertThat(window.limit()).isEqualTo(CREDITS + 2);
        window.consumed(15);
        assertThat(window.limit()).isEqualTo(CREDITS + 2);
    }

    /** However many short messages nobody reads: it is the buffer that ends them. */
    @Test
    void messages_areBoundedByBytesAlone() throws ProtocolException {
        grantSecond();
        for (int i = 0; i < 2 * HALF; i++) {
            window.arrived(1);
            if (window.creditsDue()) {
                window.toldLimit();
            }
        }
        assertThat(window.available()).isEqualTo(2 * HALF);
        assertThatThrownBy(() -> window.arrived(1)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void updateDue_afterHalfTheCredits() throws ProtocolException {
        grantSecond();
        for (int i = 0; i < CREDITS / 2 - 1; i++) {
            window.arrived(1);
            window.consumed(1);
        }
        assertThat(window.updateDue()).isFalse();
        window.arrived(1);
        window.consumed(1);
        assertThat(window.updateDue()).isTrue();
        assertThat(window.halfDue()).isFalse();
        window.toldLimit();
        assertThat(window.updateDue()).isFalse();
    }

    @Test
    void readable_liesInTheHalvesInTheirOrder() throws ProtocolException {
        grantSecond();
        window.arrived(HALF);
        window.arrived(50);
        window.consumed(100);
        assertThat(window.available()).isEqualTo(HALF - 50);
        assertThat(window.readableBytes(0)).isEqualTo(HALF - 100);
        assertThat(window.block(0)).isSameAs(first);
        assertThat(window.readOffset(0)).isEqualTo(first.offset + 100);
        assertThat(window.readableBytes(1)).isEqualTo(50);
        assertThat(window.readOffset(1)).isEqualTo(second.offset);
        assertThat(window.readableBytes(2)).isZero();
        window.consumed(HALF - 100 + 20);
        assertThat(window.readableBytes(0)).isEqualTo(30);
        assertThat(window.readOffset(0)).isEqualTo(second.offset + 20);
        assertThat(window.readableBytes(1)).isZero();
    }

    /** The peer's table has a place as soon as it has filled a half; the block is free when the half has been read whole. */
    @Test
    void halfFilled_isFollowedByALongerOneThoughItIsNotRead() throws ProtocolException {
        grantSecond();
        window.arrived(HALF - 1);
        assertThat(window.halfDue()).isFalse();
        window.arrived(1);
        assertThat(window.halfDue()).isTrue();
        assertThat(window.takeSpare()).isNull();
        assertThat(window.nextHalfBytes()).isEqualTo(4 * HALF);
        MemoryBlock third = block(4 * HALF);
        assertThat(window.grant(third)).isEqualTo(4 * HALF);
        assertThat(window.halfDue()).as("two are not filled").isFalse();
        window.arrived(HALF);
        window.arrived(4 * HALF);
        assertThatThrownBy(() -> window.arrived(1)).isInstanceOf(ProtocolException.class);
        window.consumed(HALF + 1);
        assertThat(window.takeSpare()).isSameAs(first);
        assertThat(window.readOffset(0)).isEqualTo(second.offset + 1);
        window.consumed(HALF);
        assertThat(window.takeSpare()).isSameAs(second);
        assertThat(window.readOffset(0)).isEqualTo(third.offset + 1);
    }

    /** What is granted and not read is never more than the buffer may be. */
    @Test
    void halves_areNoLongerTogetherThanTheBufferMayBe() throws ProtocolException {
        List<Integer> lengths = new ArrayList<>(List.of(HALF));
        int total = HALF;
        while (window.halfDue()) {
            int length = window.grant(block(window.nextHalfBytes()));
            lengths.add(length);
            total += length;
            if (!window.halfDue()) {
                window.arrived(lengths.get(lengths.size() - 2));
            }
        }
        assertThat(lengths)
                .startsWith(HALF, HALF, 4 * HALF, 4 * HALF, 16 * HALF)
                .hasSizeLessThan(12);
        assertThat(total).isBetween(2 * LONGEST - HALF + 1, 2 * LONGEST);
        window.consumed(HALF);
        assertThat(window.halfDue()).isTrue();
        assertThat(window.nextHalfBytes()).isEqualTo(HALF);
    }

    @Test
    void manyShortHalves_areBounded() throws ProtocolException {
        ReceiveWindow many = new ReceiveWindow(100, first, second, new HalfLength(HALF, LONGEST), () -> now);
        int halves = 1;
        while (many.halfDue()) {
            many.arrived(halves == 1 ? HALF : 64);
            many.grant(block(64));
            halves++;
        }
        assertThat(halves).isEqualTo(ReceiveWindow.MAX_HALVES);
        assertThat(many.available()).isEqualTo(HALF + (halves - 2) * 64);
    }

    /** Blocks that were needed only while the reader was behind are given up. */
    @Test
    void blocksBeyondOne_areSurplusWhenAllIsRead() throws ProtocolException {
        grantSecond();
        window.arrived(HALF);
        MemoryBlock third = block(4 * HALF);
        window.grant(third);
        window.arrived(HALF);
        window.arrived(4 * HALF);
        window.consumed(6 * HALF);
        assertThat(window.takeSurplus()).isSameAs(third);
        assertThat(window.takeSurplus()).isSameAs(second);
        assertThat(window.takeSurplus()).isNull();
        assertThat(window.takeSpare()).isSameAs(first);
    }

    @Test
    void half_isAsLongAsItsBlockAtMost() {
        assertThat(window.grant(block(64))).isEqualTo(64);
    }

    @Test
    void length_followsTheTimeAHalfLasts() throws ProtocolException {
        grantSecond();
        window.arrived(1);
        now += HalfLength.SLOW_NANOS;
        window.arrived(HALF - 1);
        assertThat(window.nextHalfBytes()).isEqualTo(HALF);
        now += HalfLength.QUICK_NANOS;
        window.arrived(HALF);
        assertThat(window.nextHalfBytes()).isEqualTo(4 * HALF);
    }

    @Test
    void arrived_refusesWhatWasNotGranted() throws ProtocolException {
        assertThatThrownBy(() -> window.arrived(HALF + 1)).isInstanceOf(ProtocolException.class);
        window.arrived(HALF - 1);
        assertThatThrownBy(() -> window.arrived(2))
                .as("a message across two halves")
                .isInstanceOf(ProtocolException.class);
        window.arrived(1);
        assertThatThrownBy(() -> window.arrived(1))
                .as("a half that was not granted yet")
                .isInstanceOf(ProtocolException.class);
        grantSecond();
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

    /** The sender of a conversation: what it was granted, and every byte that it wrote and that was not read yet. */
    private static final class Sender {
        /** Halves granted, oldest first: where each is written next, and how much is left of it. */
        private final ArrayDeque<int[]> halves = new ArrayDeque<>();

        /** The places of the bytes on the way, in the order of the stream. */
        private final ArrayDeque<Integer> stream = new ArrayDeque<>();

        private int sent;
        private int limit = CREDITS;

        /** Bytes granted, and not read. */
        private int granted;

        void granted(MemoryBlock block, int bytes) {
            halves.add(new int[] {block.offset, bytes});
            granted += bytes;
        }

        boolean canSend() {
            return !halves.isEmpty() && sent != limit;
        }

        int send(Random random) {
            int[] half = halves.getFirst();
            int bytes = 1 + random.nextInt(random.nextInt(3) == 0 ? half[1] : Math.min(half[1], 100));
            for (int i = 0; i < bytes; i++) {
                stream.add(half[0] + i);
            }
            half[0] += bytes;
            half[1] -= bytes;
            if (half[1] == 0) {
                halves.removeFirst();
            }
            sent = sent + 1 & 0xffff;
            return bytes;
        }
    }

    /**
     * Whatever lengths the halves have and however the reader reads: a sender that keeps to its grants is never refused, never
     * starved, and every byte is read from where it was written, in order.
     */
    @Test
    void conversation_readsWhatWasWrittenWhereItWasWritten() throws ProtocolException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Sender sender = new Sender();
        sender.granted(first, HALF);
        long total = 0;
        for (int step = 0; step < 200_000; step++) {
            now += random.nextInt(50) == 0 ? random.nextLong(2 * HalfLength.SLOW_NANOS) : 1000;
            while (window.updateDue() && random.nextInt(4) != 0) {
                grant(sender, random);
            }
            if (sender.canSend() && random.nextBoolean()) {
                int bytes = sender.send(random);
                window.arrived(bytes);
                total += bytes;
            } else if (window.available() > 0) {
                int bytes = 1 + random.nextInt(window.available());
                assertReads(sender, bytes, seed);
                window.consumed(bytes);
            } else {
                assertThat(sender.canSend() || window.updateDue())
                        .as("seed %d stalls: %s", seed, window)
                        .isTrue();
            }
            assertThat(window.available()).as("seed %d", seed).isEqualTo(sender.stream.size());
        }
        assertThat(total).isGreaterThan(1 << 20);
    }

    private void grant(Sender sender, Random random) {
        if (window.halfDue()) {
            MemoryBlock granted = window.takeSpare();
            if (granted == null || random.nextInt(3) == 0) {
                granted = block(1 + random.nextInt(random.nextBoolean() ? 300 : 20_000));
                nextOffset += 64; // a gap, in which nothing may be read
            }
            int room = 2 * LONGEST - sender.granted;
            int length = window.grant(granted);
            assertThat(length).isLessThanOrEqualTo(room);
            sender.granted(granted, length);
        }
        sender.limit = window.limit();
        window.toldLimit();
    }

    private void assertReads(Sender sender, int bytes, long seed) {
        int left = bytes;
        for (int half = 0; left > 0; half++) {
            int count = Math.min(left, window.readableBytes(half));
            for (int i = 0; i < count; i++) {
                int written = sender.stream.remove();
                if (written != window.readOffset(half) + i) {
                    throw new AssertionError("seed " + seed + ": read at " + (window.readOffset(half) + i)
                            + " what was written at " + written + ", " + window);
                }
            }
            left -= count;
        }
        sender.granted -= bytes;
    }
}
