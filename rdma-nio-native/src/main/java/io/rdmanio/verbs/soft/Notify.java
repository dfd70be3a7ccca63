package io.rdmanio.verbs.soft;

/**
 * Who wants to hear of new entries in an {@link Area}, as a word of shared memory: the slot of an arm word in the owner's
 * {@link PairHeader}, and the number of the doorbell to be rung when that word is armed. The owner changes it when another
 * waits for the queue pair's completions.
 */
final class Notify {
    /** Nobody ever waits. */
    static final int NOBODY = 0;

    private static final int DOORBELL_SHIFT = 14;
    private static final int MASK = (1 << DOORBELL_SHIFT) - 1;
    private static final int SOMEBODY = 1 << (2 * DOORBELL_SHIFT);

    private Notify() {}

    /**
     * Makes a word.
     *
     * @param armSlot less than {@link PairHeader#COMPLETION_QUEUES}
     * @param doorbell less than {@link Doorbells#MAX_DOORBELLS}
     * @return not {@link #NOBODY}
     */
    static int of(int armSlot, int doorbell) {
        assert (armSlot & ~MASK) == 0 && (doorbell & ~MASK) == 0 : armSlot + ", " + doorbell;
        return SOMEBODY | doorbell << DOORBELL_SHIFT | armSlot;
    }

    /** The slot of the arm word; in range whatever the word holds. */
    static int armSlot(int word) {
        return word & MASK;
    }

    /** The number of the doorbell; in range whatever the word holds. */
    static int doorbell(int word) {
        return word >>> DOORBELL_SHIFT & MASK;
    }
}
