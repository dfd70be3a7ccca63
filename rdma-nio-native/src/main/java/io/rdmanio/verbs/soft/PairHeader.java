package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The header of one direction of a process pair, in shared memory of the process that receives: which of its queue pairs
 * have something (for those who poll, and for its progress thread), and which of its completion queues, or groups of them,
 * want an event. The peer writes to it; the owner takes.
 *
 * <p>Thread safety: all methods may be called by any thread, of either process where it says so. The content is the
 * peer's word: no method fails or leaves the header's bounds whatever it holds.
 */
final class PairHeader {
    /** What two writers must not share. */
    static final int LINE_BYTES = 64;
    /** How many completion queues that have a channel, and groups of queues, a pair can serve. */
    static final int COMPLETION_QUEUES = 16_384;
    /** No event is wanted. */
    static final int NOT_ARMED = 0;
    /** An event is wanted with any completion. */
    static final int ARMED = 1;
    /** An event is wanted with a completion that is solicited or failed. */
    static final int ARMED_SOLICITED = 2;

    /** {@link #disarm}: nobody is to be woken. */
    static final int NOBODY = -1;

    private static final int DOORBELL_SHIFT = 2;
    private static final int KIND_MASK = (1 << DOORBELL_SHIFT) - 1;

    private static final long READY = 0;
    private static final long WORK = READY + ReadySet.BYTES;
    private static final long SLEEPING = WORK + ReadySet.BYTES;
    private static final long ARM = SLEEPING + LINE_BYTES;
    /** The header's size. */
    static final long BYTES = ARM + (long) COMPLETION_QUEUES * Integer.BYTES;

    private final MemorySegment memory;
    private final ReadySet ready;
    private final ReadySet work;

    /** A header in memory that is {@link #BYTES} long, zeroed when it was made. */
    PairHeader(MemorySegment memory) {
        this.memory = memory.asSlice(0, BYTES);
        ready = new ReadySet(this.memory, READY);
        work = new ReadySet(this.memory, WORK);
    }

    /** The queue pairs of the owner that have something to receive. */
    ReadySet ready() {
        return ready;
    }

    /** The queue pairs of the owner that its progress thread must look after. */
    ReadySet work() {
        return work;
    }

    /** Called by the owner's progress thread before it sleeps; it must look at {@link #work} once more afterwards. */
    void beginSleep() {
        SharedWords.set(memory, SLEEPING, 1);
        VarHandle.fullFence();
    }

    /** Called by the owner's progress thread when it is awake. */
    void endSleep() {
        SharedWords.set(memory, SLEEPING, 0);
    }

    /**
     * Gives the owner's progress thread work; what it is about was published before. Called by the peer.
     *
     * @param slot the owner's queue pair
     * @return whether the caller must ring the owner's doorbell, since the thread sleeps
     */
    boolean offerWork(int slot) {
        VarHandle.fullFence();
        work.offer(slot);
        VarHandle.fullFence();
        return SharedWords.get(memory, SLEEPING) == 1 && SharedWords.compareAndSet(memory, SLEEPING, 1, 0);
    }

    /**
     * Asks for an event, or for none. Called by the owner, who executes a full fence afterwards and polls once more. The word
     * itself says whom to wake: a peer that is slow to take it may find that the slot is another's by now, whom it then
     * wakes for nothing, and who would sleep on if somebody else was woken.
     *
     * @param slot whose word
     * @param kind one of {@link #NOT_ARMED}, {@link #ARMED} and {@link #ARMED_SOLICITED}
     * @param doorbell the number of what is to be rung then
     */
    void arm(int slot, int kind, int doorbell) {
        SharedWords.set(memory, armOffset(slot), kind == NOT_ARMED ? NOT_ARMED : doorbell << DOORBELL_SHIFT | kind);
    }

    /** What is asked for in a slot. */
    int armed(int slot) {
        return SharedWords.getAcquire(memory, armOffset(slot)) & KIND_MASK;
    }

    /**
     * Takes the request for an event, when there is one that suits. Called by whoever has published a completion, and
     * executed a full fence or an atomic step since.
     *
     * @param slot whose word
     * @param solicited whether the completion is solicited or failed
     * @return the number of the doorbell that the caller must ring, whatever number that is; or {@link #NOBODY}
     */
    int disarm(int slot, boolean solicited) {
        int word = SharedWords.getVolatile(memory, armOffset(slot));
        boolean taken = word != NOT_ARMED
                && ((word & KIND_MASK) == ARMED || solicited)
                && SharedWords.compareAndSet(memory, armOffset(slot), word, NOT_ARMED);
        return taken ? word >>> DOORBELL_SHIFT : NOBODY;
    }

    private static long armOffset(int slot) {
        return ARM + (long) (slot & (COMPLETION_QUEUES - 1)) * Integer.BYTES;
    }
}
