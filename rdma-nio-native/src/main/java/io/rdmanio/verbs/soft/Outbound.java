package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.SendFlags;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The initiator's side of the peer's area: where the next entry goes, which staging bytes are free, how many receives
 * the peer has, and how the peer is told. What the peer writes is checked here; what it can't have written kills the
 * pair.
 *
 * <p>Thread safety: everything is guarded by the queue pair's send claim.
 */
final class Outbound {
    /** {@link #stage}: there is no room now. */
    static final int FULL = -1;

    private static final int STAGING_ALIGNMENT = 8;
    // A message larger than this goes in pieces, so that the owner takes one while the next is put in.
    private static final int PIECES_OF_STAGING = 4;

    /** The pair over which the peer told of its area. */
    final ProcessPair pair;
    /** The peer's area. */
    final Area area;
    /** What the peer told. */
    final ControlMessage.Attach attach;
    /** The largest piece of a message. */
    final int maxPieceBytes;

    private final PairHeader header;
    private final Imports imports;
    private int produced;
    private int consumedSeen;
    private int taken;
    private int postedSeen;
    private int waiting;
    // Counts up for ever; positions in the staging bytes are taken modulo their number, a power of two.
    private long stagingHead;
    private long stagingTail;
    private final long[] stagingEnds;

    Outbound(ProcessPair pair, ControlMessage.Attach attach, Area area) {
        this.pair = pair;
        this.attach = attach;
        this.area = area;
        this.header = pair.outbound();
        this.imports = pair.imports();
        this.stagingEnds = new long[area.ringMask + 1];
        this.maxPieceBytes = area.stagingBytes / PIECES_OF_STAGING;
    }

    /** Whether nothing has been sent there yet. */
    boolean isUnused() {
        return produced == 0;
    }

    Imports imports() {
        return imports;
    }

    /** The index that the next entry will have. */
    int produced() {
        return produced;
    }

    // Room.

    /** Whether an entry fits into the ring. */
    boolean hasEntryRoom() {
        if (produced - consumedSeen <= area.ringMask) {
            return true;
        }
        refreshConsumed();
        return produced - consumedSeen <= area.ringMask;
    }

    /** Whether the owner has consumed all before an index. */
    boolean isConsumed(int index) {
        if (index - consumedSeen <= 0) {
            return true;
        }
        refreshConsumed();
        return index - consumedSeen <= 0;
    }

    /** How many entries the owner had consumed when this side looked last. */
    int consumed() {
        return consumedSeen;
    }

    private void refreshConsumed() {
        int consumed = area.consumed();
        if (consumed - consumedSeen < 0 || produced - consumed < 0) {
            throw new ViolationException("consumed " + consumed + " of " + produced + " entries");
        }
        if (consumed != consumedSeen) {
            stagingTail = stagingEnds[(consumed - 1) & area.ringMask];
            consumedSeen = consumed;
        }
    }

    /**
     * Finds room in the staging bytes, which belongs to the next entry.
     *
     * @param bytes how many, {@link #maxPieceBytes} at most
     * @return where, from the beginning of the staging bytes; {@link #FULL} when there is none
     */
    int stage(int bytes) {
        int aligned = (bytes + STAGING_ALIGNMENT - 1) & -STAGING_ALIGNMENT;
        int at = findRoom(aligned);
        if (at == FULL && produced != consumedSeen) {
            refreshConsumed();
            at = findRoom(aligned);
        }
        return at;
    }

    private int findRoom(int bytes) {
        long head = stagingHead;
        int position = (int) head & (area.stagingBytes - 1);
        if (position + bytes > area.stagingBytes) {
            head += area.stagingBytes - position;
            position = 0;
        }
        if (head + bytes - stagingTail > area.stagingBytes) {
            return FULL;
        }
        stagingHead = head + bytes;
        return position;
    }

    /** The memory of the next entry. */
    long entryOffset() {
        return area.entryOffset(produced);
    }

    // Receives.

    /** Whether the peer has a receive that we have not taken; false when its receives are shared, too. */
    boolean hasCredit() {
        if (taken != postedSeen) {
            return true;
        }
        int posted = area.posted();
        int free = posted - taken;
        if (free < 0 || free > area.mirrorMask + 1) {
            throw new ViolationException("posted " + posted + " receives of which " + taken + " are taken");
        }
        postedSeen = posted;
        return free != 0;
    }

    /** Whether the peer's receives are shared with other queue pairs, so that nobody else knows how many there are. */
    boolean isShared() {
        return area.mirrorMask < 0;
    }

    /** The length of the receive that the next message takes; {@link Area#UNUSABLE} when the owner must decide. */
    int nextReceiveLength() {
        return area.mirroredLength(taken);
    }

    /** A message has taken a receive; it is not counted here whose receives are shared. */
    void takeReceive() {
        if (!isShared()) {
            taken++;
        }
    }

    // Entries.

    /**
     * Publishes the next entry, whose further fields are set.
     *
     * @param kind of {@link Entry}
     * @param flags of {@link Entry}
     * @param lengthBytes the length
     * @param immediate immediate data or a key
     */
    void publish(int kind, int flags, int lengthBytes, int immediate) {
        MemorySegment memory = area.memory;
        long entry = area.entryOffset(produced);
        memory.set(ValueLayout.JAVA_INT, entry + Entry.KIND, kind | flags << Entry.FLAGS_SHIFT);
        memory.set(ValueLayout.JAVA_INT, entry + Entry.LENGTH, lengthBytes);
        memory.set(ValueLayout.JAVA_INT, entry + Entry.IMMEDIATE, immediate);
        stagingEnds[produced & area.ringMask] = stagingHead;
        int sequence = ++produced;
        SharedWords.setRelease(memory, entry + Entry.SEQUENCE, sequence);
    }

    /** Publishes that a write with immediate data is done, which takes a receive of the peer's, and tells the owner. */
    void publishWrite(int lengthBytes, int immediate, int sendFlags) {
        boolean solicited = (sendFlags & SendFlags.SOLICITED) != 0;
        int flags = Entry.LAST | Entry.WITH_IMMEDIATE | (solicited ? Entry.SOLICITED : 0);
        publish(Entry.WRITE_DONE, flags, lengthBytes, immediate);
        takeReceive();
        announce(solicited);
    }

    /** Tells whoever polls for the owner of new entries. */
    void announce(boolean solicited) {
        VarHandle.fullFence();
        if (area.isWatched()) {
            return;
        }
        header.ready().offer(attach.slot());
        int slot = area.armSlot();
        if (slot >= 0) {
            int doorbell = header.disarm(slot, solicited);
            if (doorbell != PairHeader.NOBODY) {
                pair.ringPeer(doorbell);
            }
        }
    }

    /** Gives the owner's progress thread work. */
    void kick() {
        pair.kickPeerWork(attach.slot());
    }

    /** Whether we wait for the peer. */
    boolean isWaiting() {
        return waiting != 0;
    }

    /** Whether the peer has done something since we looked last that may end the waiting. */
    boolean hasMoved() {
        return area.consumed() != consumedSeen
                || ((waiting & Area.WAITING_CREDIT) != 0 && area.posted() != postedSeen)
                || area.refusal() != 0;
    }

    /**
     * Says what we wait for.
     *
     * @param flags of {@link Area}
     * @return whether that is new, so that the caller must look once more
     */
    boolean setWaiting(int flags) {
        if (flags == waiting) {
            return false;
        }
        waiting = flags;
        area.setWaiting(flags);
        if (flags == 0) {
            return false;
        }
        VarHandle.fullFence();
        return true;
    }
}
