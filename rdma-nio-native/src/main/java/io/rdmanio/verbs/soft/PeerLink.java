package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a queue pair knows of its peer: over which pair of processes it receives, and over which it sends (two processes
 * that connected to each other at the same time have two). Each side says where it receives when it is ready to, in any
 * order; what the other side said before this one was ready is kept.
 *
 * <p>Thread safety: everything is guarded by the queue pair's lock {@code changing}; {@code outbound} and {@code
 * inboundPair} are read by any thread.
 */
final class PeerLink {
    private static final System.Logger LOG = System.getLogger(PeerLink.class.getName());
    private static final long PAIRING_NANOS = TimeUnit.SECONDS.toNanos(5);
    // One for each process that believes to be the peer. More than a few have no reason to; who has is asked again.
    static final int MAX_ARRIVALS = 16;

    private final SoftQueuePair queuePair;
    private final SoftProtectionDomain domain;
    private final int mirrorEntries;

    // Where the peers say that they receive.
    private final Map<PeerId, Arrival> arrivals = new LinkedHashMap<>();
    // Whether any of them was ever dropped for want of room.
    private boolean arrivalsDropped;
    // The process: its token alone is what any process may say it has.
    private PeerId peerProcess;
    private int peerNumber;
    private long seeking;

    private volatile ProcessPair inboundPair;
    private volatile Outbound outbound;
    private Place place;
    private int slot;
    // What the peer was told.
    private ControlMessage.Attach told;

    /** What a peer said. */
    private record Arrival(ProcessPair pair, ControlMessage.Attach attach, Area area) {}

    PeerLink(SoftQueuePair queuePair, SoftProtectionDomain domain, int receiveCapacity) {
        this.queuePair = queuePair;
        this.domain = domain;
        this.mirrorEntries = queuePair.usesSharedReceiveQueue() ? 0 : ReceiveQueue.powerOfTwo(receiveCapacity);
    }

    // This side.

    /**
     * Looks for the peer's process; receives, and sends when the peer is ready, as soon as it is found.
     *
     * @param gid what the process is known by
     * @param number the peer's queue pair
     * @throws VerbsException when the GID is none that a software device can have
     */
    void seek(Gid gid, int number) throws VerbsException {
        SoftHost host = queuePair.host();
        long token = SoftContext.token(gid, host.token());
        if (token == 0) {
            throw new VerbsException(
                    "ibv_modify_qp",
                    "queuePair=" + queuePair.number() + ", destination=" + gid,
                    Errno.ENETUNREACH,
                    "No software device has this GID: it must be that of a process on this host, or an address of the"
                            + " host for this very process.");
        }
        long search = ++seeking;
        host.connectPair(
                Rendezvous.processName(ProcessCredentials.own().userId(), token),
                System.nanoTime() + PAIRING_NANOS,
                new PairListener() {
                    @Override
                    public void paired(ProcessPair pair) {
                        found(search, pair, number);
                    }

                    @Override
                    public void failed(int errno) {
                        // Requests end by their timeout, as when a peer does not answer.
                        LOG.log(System.Logger.Level.DEBUG, "no process has the GID {0}: {1}", gid, Errno.name(errno));
                    }
                });
    }

    private void found(long search, ProcessPair pair, int number) {
        boolean failed = false;
        queuePair.changing().lock();
        try {
            if (search == seeking && inboundPair == null) {
                open(pair, number);
                failed = isOverDeadPair();
            }
        } catch (VerbsException e) {
            LOG.log(System.Logger.Level.WARNING, "a queue pair can't be connected", e);
            failed = true;
        } finally {
            queuePair.changing().unlock();
        }
        if (failed) {
            queuePair.enterError();
        }
    }

    /**
     * Receives over a pair from now on, and tells the peer where.
     *
     * @param pair the pair
     * @param number the peer's queue pair
     * @throws VerbsException when memory or slots are missing
     */
    void open(ProcessPair pair, int number) throws VerbsException {
        peerProcess = pair.peer();
        peerNumber = number;
        Place fresh = allocate(pair);
        Area area = new Area(fresh.memory(), AreaSizes.RING_ENTRIES, mirrorEntries, AreaSizes.STAGING_BYTES);
        int freshSlot = pair.addQueuePair(queuePair);
        if (freshSlot < 0) {
            pair.freeArea(fresh);
            throw new VerbsException(
                    "ibv_modify_qp",
                    "queuePair=" + queuePair.number(),
                    Errno.ENOMEM,
                    "Two processes can share " + ReadySet.SLOTS + " queue pairs at most.");
        }
        try {
            queuePair.receiveQueue().link(queuePair.inbound(), pair, area);
        } catch (IOException e) {
            pair.removeQueuePair(freshSlot);
            pair.freeArea(fresh);
            throw e instanceof VerbsException failure
                    ? failure
                    : SoftContext.failure("ibv_modify_qp", "queuePair=" + queuePair.number(), Errno.EMFILE, e);
        }
        place = fresh;
        slot = freshSlot;
        inboundPair = pair;
        attachInbound(area);
        publishState();
        told = new ControlMessage.Attach(
                number,
                queuePair.number(),
                freshSlot,
                fresh.slab(),
                fresh.offset(),
                AreaSizes.RING_ENTRIES,
                mirrorEntries,
                AreaSizes.STAGING_BYTES,
                queuePair.accessFlags(),
                queuePair.minRnrTimer(),
                domain.number());
        pair.send(told);
        link();
        if (outbound == null && arrivalsDropped) {
            // Perhaps what the peer said was among them.
            pair.send(new ControlMessage.AttachWanted(number, queuePair.number()));
        }
    }

    private Place allocate(ProcessPair pair) throws VerbsException {
        try {
            return pair.allocateArea(Area.bytes(AreaSizes.RING_ENTRIES, mirrorEntries, AreaSizes.STAGING_BYTES));
        } catch (IOException e) {
            throw SoftContext.failure("ibv_modify_qp", "queuePair=" + queuePair.number(), Errno.ENOMEM, e);
        }
    }

    private void attachInbound(Area area) {
        Inbound inbound = queuePair.inbound();
        inbound.claim().acquire();
        try {
            inbound.attach(area);
            if (!queuePair.usesSharedReceiveQueue()) {
                queuePair.receiver().attach(area);
            }
        } finally {
            inbound.claim().release();
        }
    }

    /** Tells the peer of the state, and what else it looks at. */
    void publishState() {
        Area area = queuePair.inbound().area();
        if (area != null) {
            int state;
            do {
                state = queuePair.peerVisibleState();
                area.setState(state, queuePair.accessFlags(), queuePair.minRnrTimer());
                // An error that came meanwhile may have been told before this, which must not be the last word.
                VarHandle.fullFence();
            } while (state != queuePair.peerVisibleState());
        }
    }

    /** Ends the connection on this side. */
    void close() {
        seeking++;
        endOutbound();
        ProcessPair pair = inboundPair;
        if (pair != null) {
            Place former = place;
            endInbound(pair);
            queuePair.quiet().hold();
            pair.retireArea(former, queuePair.quiet()::release);
            pair.send(new ControlMessage.Detach(peerNumber, queuePair.number(), former.slab(), former.offset()));
        }
        peerNumber = 0;
        // What comes for the next connection, comes from now on.
        arrivalsDropped = false;
    }

    private void endOutbound() {
        Outbound former = outbound;
        outbound = null;
        queuePair.sender().attach(null);
        if (former == null) {
            return;
        }
        former.pair.removeSender(queuePair);
        if (former.isUnused() && !former.pair.isDead()) {
            // The peer has connected anew already, before we do.
            arrivals.put(former.pair.peer(), new Arrival(former.pair, former.attach, former.area));
        }
    }

    private void endInbound(ProcessPair pair) {
        Inbound inbound = queuePair.inbound();
        inbound.claim().acquire();
        try {
            Area area = inbound.area();
            if (area != null) {
                area.setState(Area.DOWN, 0, 0);
            }
            inbound.detach();
            queuePair.receiver().detach();
        } finally {
            inbound.claim().release();
        }
        // When this returns no poller is about to write to the area, which others will have.
        queuePair.receiveQueue().unlink(inbound);
        pair.removeQueuePair(slot);
        inboundPair = null;
        place = null;
    }

    // The other side.

    /** Sends where the peer said, if it has said so and we are ready. */
    private void link() {
        Arrival arrival = arrivals.get(peerProcess);
        if (inboundPair == null
                || outbound != null
                || arrival == null
                || arrival.attach.fromQueuePair() != peerNumber) {
            return;
        }
        arrivals.remove(peerProcess);
        Outbound peer = new Outbound(arrival.pair, arrival.attach, arrival.area);
        // First: whoever unmaps memory of the peer's must know who may be using it.
        peer.pair.addSender(queuePair, peer.attach.domain());
        queuePair.sender().attach(peer);
        outbound = peer;
        queuePair.progressSoon();
    }

    /** See {@link SoftQueuePair#attached}. */
    void attached(ProcessPair pair, ControlMessage.Attach attach) throws ProtocolException {
        AreaSizes.check(attach);
        long bytes = Area.bytes(attach.ringEntries(), attach.receiveEntries(), attach.stagingBytes());
        Area area = new Area(
                pair.peerArea(attach.slab(), attach.offset(), bytes),
                attach.ringEntries(),
                attach.receiveEntries(),
                attach.stagingBytes());
        queuePair.changing().lock();
        try {
            Outbound current = outbound;
            if (current != null && current.attach.fromQueuePair() == attach.fromQueuePair() && current.pair == pair) {
                if (!current.attach.equals(attach)) {
                    throw new ProtocolException("attached twice: " + attach);
                }
                // Said again because we asked, when the first one was under way.
                return;
            }
            arrivals.values().removeIf(arrival -> arrival.pair.isDead());
            if (isWith(pair) || arrivals.size() < MAX_ARRIVALS || arrivals.containsKey(pair.peer())) {
                arrivals.put(pair.peer(), new Arrival(pair, attach, area));
                link();
            } else {
                arrivalsDropped = true;
            }
        } finally {
            queuePair.changing().unlock();
        }
    }

    /** See {@link SoftQueuePair#attachWanted}. */
    void attachWanted(ProcessPair pair, ControlMessage.AttachWanted wanted) {
        queuePair.changing().lock();
        try {
            if (isWith(pair) && told.queuePair() == wanted.fromQueuePair()) {
                inboundPair.send(told);
            }
        } finally {
            queuePair.changing().unlock();
        }
    }

    /** See {@link SoftQueuePair#detached}. */
    void detached(ProcessPair pair, ControlMessage.Detach detach) {
        queuePair.changing().lock();
        try {
            Outbound current = outbound;
            if (current != null && isMeant(current.pair, current.attach, pair, detach)) {
                queuePair.sender().detach();
                outbound = null;
                pair.removeSender(queuePair);
            }
            arrivals.values().removeIf(arrival -> isMeant(arrival.pair, arrival.attach, pair, detach));
        } finally {
            queuePair.changing().unlock();
        }
        pair.send(new ControlMessage.Detached(detach.slab(), detach.offset()));
    }

    private static boolean isMeant(
            ProcessPair attachedOver, ControlMessage.Attach attach, ProcessPair pair, ControlMessage.Detach detach) {
        return attachedOver == pair && attach.slab() == detach.slab() && attach.offset() == detach.offset();
    }

    /** Has the peer's progress thread look after its end. */
    void kickPeer() {
        Outbound peer = outbound;
        if (peer != null) {
            peer.kick();
        }
    }

    // The end.

    /** Whether the process at the other end of a pair is the peer's. */
    boolean isWith(ProcessPair pair) {
        ProcessPair own = inboundPair;
        return own != null && own.peer().equals(pair.peer());
    }

    boolean uses(ProcessPair pair) {
        Outbound peer = outbound;
        return inboundPair == pair || (peer != null && peer.pair == pair);
    }

    /** Whether a pair is dead that this receives or sends over, and may have died before the queue pair could hear of it. */
    boolean isOverDeadPair() {
        ProcessPair pair = inboundPair;
        Outbound peer = outbound;
        return (pair != null && pair.isDead()) || (peer != null && peer.pair.isDead());
    }

    /** The peer broke the rules: ends what we share with it; unless a pair is dead, whose zeros are not the peer's. */
    void kill(String reason) {
        if (isOverDeadPair()) {
            return;
        }
        ProcessPair pair = inboundPair;
        Outbound peer = outbound;
        if (pair != null) {
            pair.kill(reason);
        }
        if (peer != null && peer.pair != pair) {
            peer.pair.kill(reason);
        }
    }

    /** Leaves a dead pair, whose memory is about to be revoked. */
    void peerDied(ProcessPair pair) {
        queuePair.changing().lock();
        try {
            Outbound peer = outbound;
            if (peer != null && peer.pair == pair) {
                queuePair.sender().attach(null);
                outbound = null;
                pair.removeSender(queuePair);
            }
            if (inboundPair == pair) {
                endInbound(pair);
            }
        } finally {
            queuePair.changing().unlock();
        }
    }
}
