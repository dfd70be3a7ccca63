package io.rdmanio.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Small blocks of native memory for flyweights, used again and again and never given back to the system: a program has as many
 * as it ever had flyweights at once. They are of a few lengths, a power of two each.
 *
 * <p>Thread safety: all methods may be called by any thread. The monitor of the list of its length guards a block that nobody has.
 */
final class FlyweightBlocks {
    private static final int SHORTEST_SHIFT = 7;
    private static final int LONGEST_SHIFT = 12;
    private static final long CUT_BYTES = 1L << 14;
    private static final FlyweightBlocks[] LENGTHS = new FlyweightBlocks[LONGEST_SHIFT - SHORTEST_SHIFT + 1];

    static {
        for (int i = 0; i < LENGTHS.length; i++) {
            LENGTHS[i] = new FlyweightBlocks(1L << (SHORTEST_SHIFT + i));
        }
    }

    private final long lengthBytes;
    // Guarded by itself.
    private final Deque<MemorySegment> free = new ArrayDeque<>();

    private FlyweightBlocks(long lengthBytes) {
        this.lengthBytes = lengthBytes;
    }

    /** Whether there are blocks of so many bytes. */
    static boolean suits(long bytes) {
        return bytes <= 1L << LONGEST_SHIFT;
    }

    /**
     * Takes a block, zeroed.
     *
     * @param bytes how long it must be at least
     * @return the block, to be given back as it is
     */
    static MemorySegment take(long bytes) {
        MemorySegment block = of(bytes).take();
        return block.fill((byte) 0);
    }

    /** Gives a block back that was taken, and that nobody uses any more. */
    static void giveBack(MemorySegment block) {
        of(block.byteSize()).add(block);
    }

    private static FlyweightBlocks of(long bytes) {
        int shift = Long.SIZE - Long.numberOfLeadingZeros(bytes - 1);
        return LENGTHS[Math.max(shift - SHORTEST_SHIFT, 0)];
    }

    private MemorySegment take() {
        synchronized (free) {
            if (free.isEmpty()) {
                MemorySegment cut = Arena.global().allocate(CUT_BYTES, OwnMemory.ALIGNMENT);
                for (long offset = 0; offset < CUT_BYTES; offset += lengthBytes) {
                    free.push(cut.asSlice(offset, lengthBytes));
                }
            }
            return free.pop();
        }
    }

    private void add(MemorySegment block) {
        synchronized (free) {
            free.push(block);
        }
    }
}
