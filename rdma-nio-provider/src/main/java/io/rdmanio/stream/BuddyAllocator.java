package io.rdmanio.stream;

import java.util.BitSet;

/**
 * Which pieces of a slab are free: the slab is halved, and halves are halved, until a piece is as long as was asked for; two
 * free halves of the same whole become one again. A piece is as long as a power of two and lies at a multiple of its length.
 *
 * <p>Pure accounting. Not thread-safe: guarded by the pool of the slab.
 */
final class BuddyAllocator {
    /** The shortest piece: a cache line, so that no two connections share one. */
    static final int MIN_BYTES = 64;

    /** {@link #allocate}: nothing free is long enough. */
    static final int FULL = -1;

    private static final int MIN_SHIFT = Integer.numberOfTrailingZeros(MIN_BYTES);

    /** By order, which is the length as a power of two of the shortest: the free pieces, by their place among equals. */
    private final BitSet[] free;

    /**
     * All of it is free.
     *
     * @param lengthBytes a power of two
     */
    BuddyAllocator(int lengthBytes) {
        if (Integer.bitCount(lengthBytes) != 1 || lengthBytes < MIN_BYTES) {
            throw new IllegalArgumentException("A slab can't have " + lengthBytes + " bytes");
        }
        free = new BitSet[order(lengthBytes) + 1];
        for (int order = 0; order < free.length; order++) {
            free[order] = new BitSet();
        }
        free[free.length - 1].set(0);
    }

    private static int order(int lengthBytes) {
        return Integer.numberOfTrailingZeros(lengthBytes) - MIN_SHIFT;
    }

    /** The length of the piece that somebody gets who asks for so many bytes. */
    static int pieceBytes(int wantedBytes) {
        if (wantedBytes < 1 || wantedBytes > 1 << 30) {
            throw new IllegalArgumentException("A piece can't have " + wantedBytes + " bytes");
        }
        return wantedBytes <= MIN_BYTES ? MIN_BYTES : Integer.highestOneBit(wantedBytes - 1) << 1;
    }

    /**
     * Takes a piece, the first of the shortest that will do, so that what is free stays long.
     *
     * @param pieceBytes its length, of {@link #pieceBytes(int)}
     * @return its offset, or {@link #FULL}
     */
    int allocate(int pieceBytes) {
        int wanted = order(pieceBytes);
        for (int order = wanted; order < free.length; order++) {
            int index = free[order].nextSetBit(0);
            if (index >= 0) {
                free[order].clear(index);
                while (order > wanted) {
                    order--;
                    index *= 2;
                    free[order].set(index + 1);
                }
                return index * pieceBytes;
            }
        }
        return FULL;
    }

    /**
     * Gives a piece back.
     *
     * @throws IllegalStateException if it is free already
     */
    void free(int offset, int pieceBytes) {
        int order = order(pieceBytes);
        int index = offset / pieceBytes;
        for (int whole = order; whole < free.length; whole++) {
            if (free[whole].get(index >> (whole - order))) {
                throw new IllegalStateException("The piece at " + offset + " is free already");
            }
        }
        while (order < free.length - 1 && free[order].get(index ^ 1)) {
            free[order].clear(index ^ 1);
            index /= 2;
            order++;
        }
        free[order].set(index);
    }

    /** Whether no piece is taken. */
    boolean isUnused() {
        return free[free.length - 1].get(0);
    }
}
