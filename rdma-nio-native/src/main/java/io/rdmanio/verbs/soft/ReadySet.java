package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.IntConsumer;

/**
 * A set of queue pair slots in the header of a process pair: the peer adds to it, this process takes everything out. A
 * bit per slot, and above the words of bits a summary of a bit per word, so that an empty set is seen by four reads.
 *
 * <p>The handshake: who adds has published what the slot is about, and executed a full fence, before it calls
 * {@link #offer}; a bit that is set already belongs to a taker who has yet to clear it, and clears before it looks.
 *
 * <p>Thread safety: all methods may be called by any thread of either process.
 */
final class ReadySet {
    /** How many slots there are. */
    static final int SLOTS = 16_384;
    /** How many bytes a set takes. */
    static final int BYTES = PairHeader.LINE_BYTES + SLOTS / Byte.SIZE;

    private static final int WORDS = SLOTS / Long.SIZE;
    private static final int SUMMARIES = WORDS / Long.SIZE;

    private final MemorySegment header;
    private final long summary;
    private final long words;

    ReadySet(MemorySegment header, long offset) {
        this.header = header;
        this.summary = offset;
        this.words = offset + PairHeader.LINE_BYTES;
    }

    /**
     * Adds a slot.
     *
     * @param slot from 0, less than {@link #SLOTS}
     */
    void offer(int slot) {
        if (setBit(words, slot)) {
            // A summary bit that is set already must not have been read before the slot's bit was seen by the taker.
            VarHandle.fullFence();
            setBit(summary, slot / Long.SIZE);
        }
    }

    private boolean setBit(long base, int index) {
        long offset = base + (long) (index / Long.SIZE) * Long.BYTES;
        long bit = 1L << index;
        if ((SharedWords.getLong(header, offset) & bit) != 0) {
            return false;
        }
        SharedWords.orLong(header, offset, bit);
        return true;
    }

    /**
     * Tells whether something may be in it, by reading alone.
     *
     * @return false when it is empty
     */
    boolean mayHaveAny() {
        return (SharedWords.getLong(header, summary)
                        | SharedWords.getLong(header, summary + Long.BYTES)
                        | SharedWords.getLong(header, summary + 2 * Long.BYTES)
                        | SharedWords.getLong(header, summary + 3 * Long.BYTES))
                != 0;
    }

    /**
     * Takes everything out.
     *
     * @param taker is given each slot
     */
    void takeAll(IntConsumer taker) {
        for (int i = 0; i < SUMMARIES; i++) {
            if (SharedWords.getLong(header, summary + (long) i * Long.BYTES) == 0) {
                continue;
            }
            long marked = SharedWords.getAndSetLong(header, summary + (long) i * Long.BYTES, 0);
            while (marked != 0) {
                takeWord(i * Long.SIZE + Long.numberOfTrailingZeros(marked), taker);
                marked &= marked - 1;
            }
        }
    }

    private void takeWord(int word, IntConsumer taker) {
        long bits = SharedWords.getAndSetLong(header, words + (long) word * Long.BYTES, 0);
        while (bits != 0) {
            taker.accept(word * Long.SIZE + Long.numberOfTrailingZeros(bits));
            bits &= bits - 1;
        }
    }
}
