package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.linux.SystemCallException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What this process shares with one other: a control socket, memory that nobody else maps, and the queue pairs that are
 * connected over both. Two processes have one pair. A process that is connected with itself has two objects, one for
 * each end: what is sent at one arrives at the other.
 *
 * <p>A pair dies when the peer's process does, when the peer breaks the protocol, or when {@link #kill} is called; it is
 * marked as dead first, then those who use it are told, on the progress thread, and then its memory is revoked: whoever
 * still reaches for it, without a claim or since he came too late to be told, finds zeros and writes to nobody. Zeros are
 * no word of the peer's: whoever holds them against it asks {@link #isDead} first.
 *
 * <p>Thread safety: all methods may be called by any thread, unless they say otherwise.
 */
final class ProcessPair implements ConnectionPeer {
    private static final Logger LOG = System.getLogger(ProcessPair.class.getName());
    /** How often the work set is emptied before others have their turn. */
    private static final int WORK_ROUNDS = 16;

    private static final int CATCH_UP_MESSAGES = 1024;

    private final SoftHost host;
    private final PeerId peer;
    private final ControlSocket socket;
    private final RevocableMappings mappings = new RevocableMappings();
    private final OwnSlabs own;
    private final PeerSlabs peers = new PeerSlabs(mappings);
    private final PairHeader inbound;
    private final Exports exports;
    private final Doorbells doorbells;
    private final SlotTable<SoftQueuePair> queuePairs = new SlotTable<>(ReadySet.SLOTS);
    private final SlotTable<Object> sleepers = new SlotTable<>(PairHeader.COMPLETION_QUEUES);
    /** Those that send over this pair, and the domains of the peer's by whose keys they do. Guarded by itself. */
    private final Map<SoftQueuePair, Integer> senders = new HashMap<>();
    // Set once, before the pair is known to others.
    private PairHeader outbound;
    private MemorySegment peerEpochs;
    private Imports imports;

    /** Why it is dead; null while it is alive. */
    private final AtomicReference<String> death = new AtomicReference<>();
    // Of the progress thread.
    private final List<Runnable> mourners = new ArrayList<>();
    private boolean buried;

    /**
     * Makes this process's half of a pair.
     *
     * @param host the host
     * @param peer who is at the other end
     * @param socket the connection, which stays the caller's until {@link #join}
     * @throws IOException when no memory or descriptor is left
     */
    ProcessPair(SoftHost host, PeerId peer, ControlSocket socket) throws IOException {
        this.host = host;
        this.peer = peer;
        this.socket = socket;
        doorbells = new Doorbells(this::send, host.doorbellShares(), peer.processId());
        try {
            own = new OwnSlabs(mappings);
        } catch (IOException | RuntimeException e) {
            mappings.revoke();
            throw e;
        }
        inbound = new PairHeader(own.header());
        exports = new Exports(host.keys(), this::domainOfQueuePair, this::send);
    }

    private SoftProtectionDomain domainOfQueuePair(int number) {
        SoftQueuePair queuePair = host.queuePairs().find(number);
        return queuePair == null ? null : queuePair.domainFor(this);
    }

    /**
     * What the peer must know to join.
     *
     * @return the message; its descriptors are the pair's
     */
    ControlMessage.Join invitation() {
        MemoryFile slab = own.first();
        try {
            return new ControlMessage.Join(
                    slab.sizeBytes(),
                    slab.fileDescriptor(),
                    host.keys().epochs().fileDescriptor());
        } catch (SystemCallException e) {
            throw new IllegalStateException("a slab that was made here has a size", e);
        }
    }

    /**
     * Takes in the peer's half; on the progress thread. From now on the pair has the socket.
     *
     * @param message what the peer has sent; its descriptors are closed by this in any case
     * @throws ProtocolException when it is not what it should be; the pair is to be abandoned then
     */
    void join(ControlMessage.Join message) throws ProtocolException {
        try {
            outbound = new PairHeader(peers.add(0, message.slabBytes(), PairHeader.BYTES, message.slab()));
        } catch (ProtocolException e) {
            FileDescriptors.close(message.epochs());
            throw e;
        }
        try (MemoryFile file = MemoryFile.fromDescriptor(message.epochs())) {
            peerEpochs = EpochPage.map(file, mappings);
        } catch (SystemCallException e) {
            throw new ProtocolException("a page of epochs that can't be mapped: " + e.getMessage());
        }
        imports = new Imports(peerEpochs, this::send, this::quiesceSenders);
        inbound.beginSleep();
        socket.receiver(new PairReceiver(this, own, peers, doorbells));
    }

    /** Gives up a half that the peer never joined; on the progress thread. */
    void abandon() {
        own.close();
        mappings.revoke();
    }

    /**
     * The peer's token.
     *
     * @return the token of the host at the other end
     */
    @Override
    public long peerToken() {
        return peer.token();
    }

    @Override
    public int listenerEpoch() {
        return EpochPage.get(peerEpochs, KeyTable.LISTENERS_SLOT);
    }

    /**
     * Who is at the other end.
     *
     * @return the token and the process
     */
    PeerId peer() {
        return peer;
    }

    /**
     * The host that this is a pair of.
     *
     * @return the host
     */
    SoftHost host() {
        return host;
    }

    /**
     * Whether the pair is dead.
     *
     * @return true for ever once it is
     */
    @Override
    public boolean isDead() {
        return death.get() != null;
    }

    /**
     * Sends a message, after those sent before. Does not block: what the socket can't take now waits, and if too much
     * waits, the pair dies. A pair that is dead drops it.
     *
     * @param message the message; its descriptors stay the caller's, who may close them when this returns
     */
    @Override
    public void send(ControlMessage message) {
        socket.send(message);
    }

    /**
     * Ends the pair. Those who use it are told on the progress thread, later.
     *
     * @param reason why, for the log
     */
    void kill(String reason) {
        if (!death.compareAndSet(null, reason)) {
            return;
        }
        LOG.log(Level.DEBUG, "the pair with {0} ends: {1}", peer, reason);
        try {
            host.progress().execute(this::bury);
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("a host closes its pairs before its thread ends", e);
        }
    }

    /** Kills the pair, tells everybody and frees everything before it returns; on the progress thread. */
    void killNow(String reason) {
        death.compareAndSet(null, reason);
        bury();
    }

    private void bury() {
        if (buried) {
            return;
        }
        buried = true;
        socket.close();
        host.pairs().remove(this);
        for (int slot = 0; slot < queuePairs.limit(); slot++) {
            SoftQueuePair queuePair = queuePairs.get(slot);
            if (queuePair != null) {
                mourn(() -> queuePair.peerDied(this));
            }
        }
        // Those that receive over another pair; the others have left.
        for (SoftQueuePair sender : senders()) {
            mourn(() -> sender.peerDied(this));
        }
        mourners.forEach(ProcessPair::mourn);
        mourn(imports::peerDied);
        mourn(exports::peerDied);
        mourners.clear();
        doorbells.close();
        own.close();
        mappings.revoke();
    }

    private static void mourn(Runnable mourner) {
        try {
            mourner.run();
        } catch (RuntimeException | Error e) {
            // The others must hear of it all the same.
            LOG.log(Level.ERROR, "the death of a pair was not taken well", e);
        }
    }

    /**
     * Has a task run when the pair dies, on the progress thread, before its memory is revoked; soon if it is dead
     * already.
     *
     * @param task the task; must not block
     */
    @Override
    public void onDeath(Runnable task) {
        if (!host.progress().isCurrent()) {
            host.progress().execute(() -> onDeath(task));
        } else if (buried) {
            mourn(task);
        } else {
            mourners.add(task);
        }
    }

    /**
     * Our header, which the peer writes to.
     *
     * @return the header
     */
    PairHeader inbound() {
        return inbound;
    }

    /**
     * The peer's header, which we write to.
     *
     * @return the header
     */
    PairHeader outbound() {
        return outbound;
    }

    /**
     * Allocates an area of our memory, zeroed; a new slab if need be, of which the peer hears before this returns.
     *
     * @param bytes how long
     * @return the area, to be freed or retired
     * @throws IOException when no memory or descriptor is left, or the pair is dead
     */
    Place allocateArea(long bytes) throws IOException {
        try {
            return own.allocate(bytes, this::send);
        } catch (IllegalStateException e) {
            if (isDead()) {
                throw Errno.exception("an area for " + peer, Errno.ECONNRESET);
            }
            throw e;
        }
    }

    /**
     * Frees an area of which the peer never heard.
     *
     * @param place the area
     */
    void freeArea(Place place) {
        own.free(place);
    }

    /**
     * Gives up an area of which the peer was told: it is free when the peer has said {@link ControlMessage.Detached} of
     * it. The caller sends {@link ControlMessage.Detach} afterwards.
     *
     * @param place the area
     * @param whenFree run when it is free, or the pair is dead, by any thread; does not block
     */
    void retireArea(Place place, Runnable whenFree) {
        own.retire(place, whenFree);
    }

    /**
     * An area of the peer's memory.
     *
     * @param slab the number of its slab
     * @param offset where it begins
     * @param bytes how long it is
     * @return the area, the peer's as long as the pair lives
     * @throws ProtocolException when there is no such area, or it begins elsewhere than at a multiple of 64
     */
    MemorySegment peerArea(int slab, long offset, long bytes) throws ProtocolException {
        return peers.area(slab, offset, bytes);
    }

    /**
     * Gives a queue pair a slot, by which the peer marks it as ready or as work to do. If the pair is dead by then, the
     * queue pair may not hear of it any more: ask {@link #isDead} afterwards.
     *
     * @param queuePair the queue pair
     * @return its slot, less than {@link ReadySet#SLOTS}; or -1 when there is none
     */
    int addQueuePair(SoftQueuePair queuePair) {
        return queuePairs.add(queuePair);
    }

    /**
     * Frees a slot of a queue pair.
     *
     * @param slot the slot
     */
    void removeQueuePair(int slot) {
        SoftQueuePair ignored = queuePairs.remove(slot);
    }

    /**
     * Finds a queue pair.
     *
     * @param slot its slot, whatever the peer says it is
     * @return the queue pair, or null
     */
    SoftQueuePair queuePair(int slot) {
        return queuePairs.get(slot);
    }

    /**
     * A queue pair is about to send over this pair, and to use keys of the peer's. If the pair is dead by then, it may
     * not hear of it any more: ask {@link #isDead} afterwards.
     *
     * @param queuePair the queue pair
     * @param peerDomain the domain of the peer's queue pair
     */
    void addSender(SoftQueuePair queuePair, int peerDomain) {
        synchronized (senders) {
            senders.put(queuePair, peerDomain);
        }
    }

    /**
     * A queue pair does not send over this pair any more, and is in the middle of no access by a key of the peer's.
     *
     * @param queuePair the queue pair
     */
    void removeSender(SoftQueuePair queuePair) {
        synchronized (senders) {
            senders.remove(queuePair);
        }
    }

    private List<SoftQueuePair> senders() {
        synchronized (senders) {
            return List.copyOf(senders.keySet());
        }
    }

    /** Waits until every access by a key of a domain of the peer's that had begun is over; on the progress thread. */
    private void quiesceSenders(int peerDomain) {
        List<SoftQueuePair> users = new ArrayList<>();
        synchronized (senders) {
            senders.forEach((queuePair, domain) -> {
                if (domain == peerDomain) {
                    users.add(queuePair);
                }
            });
        }
        // Without the lock: whoever has a claim may be asking for a key.
        users.forEach(queuePair -> queuePair.sender().quiesce());
    }

    /**
     * Has the peer's progress thread call {@link SoftQueuePair#progress}.
     *
     * @param peerSlot the peer's slot of its queue pair
     */
    void kickPeerWork(int peerSlot) {
        if (outbound.offerWork(peerSlot)) {
            socket.kick();
        }
    }

    /**
     * The number by which the peer knows a doorbell of ours; it is told when this is first called.
     *
     * @param doorbell the doorbell, open; {@link #forgetDoorbell} before it is closed
     * @return the number
     * @throws IOException when there are too many, or no descriptor is left
     */
    int doorbellIndexOf(OwnDoorbell doorbell) throws IOException {
        return doorbells.indexOf(doorbell);
    }

    /** Takes back what the peer was told of a doorbell, if it was. */
    void forgetDoorbell(OwnDoorbell doorbell) {
        doorbells.forget(doorbell);
    }

    /**
     * Rings a doorbell of the peer.
     *
     * @param doorbellIndex its number, as the peer told it; one that leads nowhere is ignored
     */
    void ringPeer(int doorbellIndex) {
        doorbells.ring(doorbellIndex);
    }

    /**
     * Gives somebody who may wait for completions a slot among the arm words of this pair.
     *
     * @param sleeper a completion queue or a group of them
     * @return its slot, less than {@link PairHeader#COMPLETION_QUEUES}; or -1 when there is none
     */
    int addSleeper(Object sleeper) {
        return sleepers.add(sleeper);
    }

    /**
     * Frees a slot of an arm word.
     *
     * @param slot the slot
     */
    void removeSleeper(int slot) {
        Object ignored = sleepers.remove(slot);
    }

    /**
     * The peer's page of epochs, read-only.
     *
     * @return an int per slot of its key table
     */
    MemorySegment peerEpochs() {
        return peerEpochs;
    }

    /**
     * What we know of the peer's keys.
     *
     * @return the imports
     */
    Imports imports() {
        return imports;
    }

    /**
     * What the peer knows of our keys.
     *
     * @return the exports
     */
    Exports exports() {
        return exports;
    }

    /** Handles what has arrived up to now, so that a peer that is gone is known to be; on the progress thread. */
    void catchUp() {
        if (!isDead()) {
            socket.receive(CATCH_UP_MESSAGES);
        }
    }

    /** Does what the peer has left in the work set; on the progress thread. */
    void work() {
        for (int round = 0; round < WORK_ROUNDS && !isDead(); round++) {
            if (workOnce()) {
                return;
            }
        }
        if (!isDead()) {
            host.progress().execute(this::workLater);
        }
    }

    private void workLater() {
        try {
            work();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "work for " + peer + " failed", e);
            killNow("work for it failed: " + e);
        }
    }

    /** Empties the work set; returns whether it has stayed empty, so that a kick will come when it isn't any more. */
    private boolean workOnce() {
        inbound.endSleep();
        inbound.work().takeAll(slot -> {
            SoftQueuePair queuePair = queuePairs.get(slot);
            if (queuePair != null) {
                queuePair.progress();
            }
        });
        inbound.beginSleep();
        return !inbound.work().mayHaveAny();
    }
}
