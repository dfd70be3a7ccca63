package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.WakePipe.Bell;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The doorbells of a pair: those of this process that the peer was told of, by number, and those of the peer, which are
 * rung from here. A peer whose share of this process's descriptors is used up gets messages for those that it tells
 * of then, and its progress thread rings them: slower, and at no cost to others.
 *
 * <p>Thread safety: all methods may be called by any thread; ringing takes no lock when there is something to ring. The rest
 * is guarded by this, and the peer is told under the same lock, so that it hears things in the order they happen.
 */
final class Doorbells {
    /** Numbers are less than this. */
    static final int MAX_DOORBELLS = 16_384;

    private final Consumer<ControlMessage> peer;
    private final DescriptorShares shares;
    private final int peerProcessId;
    private final SlotTable<OwnDoorbell> told = new SlotTable<>(MAX_DOORBELLS);
    /** The peer's; changed by copying, so that what is read through the field is complete. */
    private volatile PeerBell[] ours = {};
    // Guarded by this.
    private final Map<OwnDoorbell, Integer> indexes = new HashMap<>();
    /** Those of the peer that were to be rung before it told of them. */
    private final BitSet missed = new BitSet();

    private boolean closed;
    // End of what this guards.

    /**
     * Begins without any.
     *
     * @param peer tells the peer, without blocking
     * @param shares what the peer's may take of this process's descriptors
     * @param peerProcessId whose share it is
     */
    Doorbells(Consumer<ControlMessage> peer, DescriptorShares shares, int peerProcessId) {
        this.peer = peer;
        this.shares = shares;
        this.peerProcessId = peerProcessId;
    }

    /**
     * A doorbell of the peer.
     *
     * @param bell its pipe; null when it is rung by a message
     */
    private record PeerBell(Bell bell) {}

    /**
     * The number of a doorbell of this process; the peer is told of it when it has none yet.
     *
     * @param doorbell the doorbell, open
     * @return its number
     * @throws IOException when there are too many (ENOSPC), or no descriptor is left
     */
    synchronized int indexOf(OwnDoorbell doorbell) throws IOException {
        Integer known = indexes.get(doorbell);
        if (known != null) {
            return known;
        }
        int descriptor = doorbell.openOtherEnd();
        try {
            int index = told.add(doorbell);
            if (index < 0) {
                throw Errno.exception("doorbells of a process pair", Errno.ENOSPC);
            }
            indexes.put(doorbell, index);
            peer.accept(new ControlMessage.Doorbell(index, descriptor));
            return index;
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    /**
     * Tells the peer that a doorbell of this process is gone, if it knew of it.
     *
     * @param doorbell the doorbell, still open
     */
    synchronized void forget(OwnDoorbell doorbell) {
        Integer index = indexes.remove(doorbell);
        if (index != null) {
            told.remove(index);
            peer.accept(new ControlMessage.DoorbellGone(index));
        }
    }

    /**
     * The peer tells of a doorbell.
     *
     * @param index its number, as the peer says
     * @param descriptor its descriptor, closed by this sooner or later
     * @throws ProtocolException when it is not what it should be
     */
    synchronized void add(int index, int descriptor) throws ProtocolException {
        if (closed || index < 0 || index >= MAX_DOORBELLS || get(index) != null) {
            FileDescriptors.close(descriptor);
            throw new ProtocolException("doorbell " + index + ", which there is already or can't be");
        }
        if (shares.take(peerProcessId)) {
            try {
                set(index, new PeerBell(Bell.ofReceived(descriptor)));
            } catch (IOException e) {
                shares.giveBack(peerProcessId);
                throw new ProtocolException("a doorbell that is none: " + e.getMessage());
            }
        } else {
            FileDescriptors.close(descriptor);
            set(index, new PeerBell(null));
        }
        if (missed.get(index)) {
            missed.clear(index);
            ring(index);
        }
    }

    /**
     * The peer's doorbell is gone.
     *
     * @param index its number, as the peer says
     * @throws ProtocolException when there was none
     */
    synchronized void remove(int index) throws ProtocolException {
        PeerBell doorbell = get(index);
        if (doorbell == null) {
            throw new ProtocolException("no doorbell " + index);
        }
        set(index, null);
        close(doorbell);
    }

    private void close(PeerBell doorbell) {
        if (doorbell.bell != null) {
            doorbell.bell.close();
            shares.giveBack(peerProcessId);
        }
    }

    private PeerBell get(int index) {
        PeerBell[] present = ours;
        return index >= 0 && index < present.length ? present[index] : null;
    }

    private void set(int index, PeerBell doorbell) {
        PeerBell[] present = ours;
        PeerBell[] changed = Arrays.copyOf(present, Math.max(present.length, index + 1));
        changed[index] = doorbell;
        ours = changed;
    }

    /**
     * Rings a doorbell of the peer.
     *
     * @param index its number, as the peer's memory says; when there is none, it is rung as soon as the peer tells of it, as its
     *     memory may be quicker than its messages
     */
    void ring(int index) {
        PeerBell doorbell = get(index);
        if (doorbell == null) {
            doorbell = getOrMiss(index);
        }
        if (doorbell == null) {
            return;
        }
        if (doorbell.bell != null) {
            doorbell.bell.signal();
        } else {
            peer.accept(new ControlMessage.Ring(index));
        }
    }

    private synchronized PeerBell getOrMiss(int index) {
        PeerBell doorbell = get(index);
        if (doorbell == null && index >= 0 && index < MAX_DOORBELLS) {
            missed.set(index);
        }
        return doorbell;
    }

    /**
     * The peer rings a doorbell of this process by a message.
     *
     * @param index its number, as the peer says; nothing happens when it is gone
     */
    void rung(int index) {
        OwnDoorbell doorbell = told.get(index);
        if (doorbell != null) {
            doorbell.ring();
        }
    }

    /** Closes the peer's. */
    synchronized void close() {
        closed = true;
        for (PeerBell doorbell : ours) {
            if (doorbell != null) {
                close(doorbell);
            }
        }
        ours = new PeerBell[0];
        indexes.clear();
    }
}
