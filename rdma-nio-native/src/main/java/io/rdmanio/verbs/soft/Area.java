package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The memory of one direction of a connection, which belongs to the queue pair that receives: control lines, a ring of
 * entries, a mirror of the posted receives, and bytes on their way (staging). Each control line has one writer, and what
 * changes with every message is apart from what hardly changes, so that a message costs its own lines only.
 *
 * <p>Thread safety: nothing here is guarded; the initiator's fields are used under its send claim and the owner's under
 * its claims, and the words themselves are read and written as {@link SharedWords} says. Whoever reads what the other
 * process writes validates it.
 */
final class Area {
    /** The owner's queue pair receives nothing yet. */
    static final int NOT_OPEN = 0;
    /** The owner's queue pair receives. */
    static final int OPEN = 1;
    /** The owner's queue pair is in error, or not connected any more. */
    static final int DOWN = 2;

    /** The initiator waits for a receive to be posted. */
    static final int WAITING_CREDIT = 1;
    /** The initiator waits for entries or bytes to be consumed. */
    static final int WAITING_SPACE = 1 << 1;
    /** The initiator waits for what it has sent to be consumed. */
    static final int WAITING_ACKNOWLEDGEMENT = 1 << 2;

    /** What the mirror says of a receive that the initiator must ask for. */
    static final int UNUSABLE = -1;

    // The initiator writes.
    private static final long WAITING = 0;
    // The owner writes: with messages.
    private static final long CONSUMED = PairHeader.LINE_BYTES;
    private static final long REFUSAL = CONSUMED + Integer.BYTES;
    // The owner writes: with posted receives.
    private static final long POSTED = 2 * PairHeader.LINE_BYTES;
    // The owner writes: hardly ever.
    private static final long STATE = 3 * PairHeader.LINE_BYTES;
    private static final long WATCHED = STATE + Integer.BYTES;
    private static final long STARVED = WATCHED + Integer.BYTES;
    private static final long ARM_SLOT = STARVED + Integer.BYTES;
    private static final long RING = 4 * PairHeader.LINE_BYTES;

    private static final int ACCESS_SHIFT = 8;
    private static final int ACCESS_MASK = 0xFF;
    private static final int TIMER_SHIFT = 16;
    private static final int TIMER_MASK = 0x1F;

    /** All of it. */
    final MemorySegment memory;
    /** The number of entries less one. */
    final int ringMask;
    /** The number of mirrored receives less one; -1 when receives are shared, so that there is no mirror. */
    final int mirrorMask;
    /** Where the staging bytes begin. */
    final long stagingOffset;
    /** How many there are. */
    final int stagingBytes;

    private final long mirrorOffset;

    /**
     * An area as it was laid out.
     *
     * @param memory {@link #bytes} long at least
     * @param ringEntries a power of two
     * @param mirrorEntries a power of two, or 0
     * @param stagingBytes a multiple of a line
     */
    Area(MemorySegment memory, int ringEntries, int mirrorEntries, int stagingBytes) {
        this.memory = memory.asSlice(0, bytes(ringEntries, mirrorEntries, stagingBytes));
        this.ringMask = ringEntries - 1;
        this.mirrorMask = mirrorEntries - 1;
        this.mirrorOffset = RING + (long) ringEntries * Entry.BYTES;
        this.stagingOffset = mirrorOffset + mirrorBytes(mirrorEntries);
        this.stagingBytes = stagingBytes;
    }

    private static long mirrorBytes(int mirrorEntries) {
        return ((long) mirrorEntries * Integer.BYTES + PairHeader.LINE_BYTES - 1) & -PairHeader.LINE_BYTES;
    }

    /** How much memory an area takes. */
    static long bytes(int ringEntries, int mirrorEntries, int stagingBytes) {
        return RING + (long) ringEntries * Entry.BYTES + mirrorBytes(mirrorEntries) + stagingBytes;
    }

    /** Empties control lines, ring and mirror. Called by the owner before it tells the peer of the area. */
    void clear() {
        memory.asSlice(0, stagingOffset).fill((byte) 0);
    }

    /** Where an entry lies. */
    long entryOffset(int index) {
        return RING + (long) (index & ringMask) * Entry.BYTES;
    }

    // What the initiator waits for.

    int waiting() {
        return SharedWords.get(memory, WAITING);
    }

    void setWaiting(int flags) {
        SharedWords.set(memory, WAITING, flags);
    }

    // How far the owner has come, and why it goes no further.

    int consumed() {
        return SharedWords.getAcquire(memory, CONSUMED);
    }

    void setConsumed(int entries) {
        SharedWords.setRelease(memory, CONSUMED, entries);
    }

    /** The status with which the entry after the consumed ones was refused; 0 when none was. */
    int refusal() {
        return SharedWords.getAcquire(memory, REFUSAL);
    }

    void setRefusal(int status) {
        SharedWords.setRelease(memory, REFUSAL, status);
    }

    // The receives that the owner has posted.

    int posted() {
        return SharedWords.getAcquire(memory, POSTED);
    }

    void setPosted(int receives) {
        SharedWords.setRelease(memory, POSTED, receives);
    }

    int mirroredLength(int receive) {
        return SharedWords.get(memory, mirrorOffset + (long) (receive & mirrorMask) * Integer.BYTES);
    }

    void setMirroredLength(int receive, int lengthBytes) {
        SharedWords.set(memory, mirrorOffset + (long) (receive & mirrorMask) * Integer.BYTES, lengthBytes);
    }

    // The owner's state.

    int state() {
        return SharedWords.getAcquire(memory, STATE);
    }

    /**
     * Tells the initiator how things are.
     *
     * @param state {@link #NOT_OPEN}, {@link #OPEN} or {@link #DOWN}
     * @param accessFlags what the initiator may do, bits of {@link io.rdmanio.verbs.AccessFlags}
     * @param minRnrTimer the code of the time after which it may try again when no receive was posted
     */
    void setState(int state, int accessFlags, int minRnrTimer) {
        SharedWords.setRelease(
                memory,
                STATE,
                state | (accessFlags & ACCESS_MASK) << ACCESS_SHIFT | (minRnrTimer & TIMER_MASK) << TIMER_SHIFT);
    }

    static boolean isOpen(int state) {
        return (state & ACCESS_MASK) == OPEN;
    }

    static int accessFlags(int state) {
        return state >>> ACCESS_SHIFT & ACCESS_MASK;
    }

    static int minRnrTimer(int state) {
        return state >>> TIMER_SHIFT & TIMER_MASK;
    }

    /** Whether somebody polls the ring, so that a new entry needs no further notice. */
    boolean isWatched() {
        return SharedWords.get(memory, WATCHED) != 0;
    }

    /** Called by the owner; after watching ends it looks at the ring once more. */
    void setWatched(boolean watched) {
        SharedWords.set(memory, WATCHED, watched ? 1 : 0);
        VarHandle.fullFence();
    }

    /** The slot in the owner's header where who wants to hear of new entries asks for it; negative when nobody ever does. */
    int armSlot() {
        return SharedWords.get(memory, ARM_SLOT) - 1;
    }

    /** Called by the owner, who executes a full fence afterwards and looks at the ring once more. */
    void setArmSlot(int slot) {
        SharedWords.set(memory, ARM_SLOT, slot + 1);
    }

    /** The sequence of the entry that waits for a receive to be posted to the owner's shared queue; 0 for none. */
    int starved() {
        return SharedWords.getAcquire(memory, STARVED);
    }

    void setStarved(int sequence) {
        SharedWords.setRelease(memory, STARVED, sequence);
    }
}
