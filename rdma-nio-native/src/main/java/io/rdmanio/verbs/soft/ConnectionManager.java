package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The connection manager of a host: its listeners, and the connections that its peers know of by a number. The events
 * are those of librdmacm over RoCE, and so is what the peers tell each other. ADDRESS_ERROR and ROUTE_ERROR don't arise,
 * since what the device can't reach is refused at once.
 *
 * <p>How long an answer of the peer's program may take is set by the system property
 * {@code io.rdmanio.soft.connectTimeoutMillis}, {@value #DEFAULT_ANSWER_MILLIS} by default; then UNREACHABLE follows.
 *
 * <p>Thread safety: all methods may be called by any thread. {@link #lock} guards everything here, the connections and
 * the queues of their events; nothing blocks under it, and the program's threads and the progress thread take it for
 * moments.
 */
final class ConnectionManager {
    /** How long Linux would not use the number of a queue pair again: 4.096 microseconds times two to the power of 19. */
    static final long TIME_WAIT_NANOS = 4_096L << 19;

    private static final String ANSWER_PROPERTY = "io.rdmanio.soft.connectTimeoutMillis";
    // As long as Linux lets TCP try.
    private static final int DEFAULT_ANSWER_MILLIS = 127_000;
    // IB_CM_REJ_INVALID_COMM_ID: there is no such connection.
    private static final int REASON_NO_CONNECTION = 6;
    // What Linux takes when a program asks for none or for more (net.rdma_ucm.max_backlog).
    private static final int MAX_BACKLOG = 1024;

    /** A connection that a peer asked for, by the peer's number of it. */
    private record Asked(ConnectionPeer peer, long number) {}

    final ReentrantLock lock = new ReentrantLock();
    private final ConnectionNetwork network;
    private final Ports ports;
    private final long answerNanos;
    private final Map<Long, SoftConnection> connections = new HashMap<>();
    private final Map<Integer, List<SoftConnection>> listeners = new HashMap<>();
    private final Map<Asked, SoftConnection> asked = new HashMap<>();
    private final Map<ConnectionPeer, Set<SoftConnection>> byPeer = new HashMap<>();
    private final KnownListeners knownListeners = new KnownListeners();
    private long lastNumber;

    /**
     * Begins with nothing.
     *
     * @param network the way to other processes
     * @param process a word that no other process has
     */
    ConnectionManager(ConnectionNetwork network, String process) {
        this(
                network,
                process,
                TimeUnit.MILLISECONDS.toNanos(Math.max(Integer.getInteger(ANSWER_PROPERTY, DEFAULT_ANSWER_MILLIS), 1)));
    }

    ConnectionManager(ConnectionNetwork network, String process, long answerNanos) {
        this.network = network;
        this.ports = new Ports(network, process);
        this.answerNanos = answerNanos;
    }

    Ports ports() {
        return ports;
    }

    /** How long an answer of the peer's program may take. */
    long answerNanos() {
        return answerNanos;
    }

    /** Has a task run under the lock, unless it is cancelled under the lock before. */
    Runnable schedule(long nanos, Runnable task) {
        boolean[] cancelled = new boolean[1];
        Runnable cancel = network.schedule(
                System.nanoTime() + nanos,
                () -> run(() -> {
                    if (!cancelled[0]) {
                        task.run();
                    }
                }));
        return () -> {
            cancelled[0] = true;
            cancel.run();
        };
    }

    /** Begins to look for a process; under the lock. */
    void find(String name, ConnectionAttempt attempt) {
        network.find(name, System.nanoTime() + answerNanos, new ConnectionNetwork.Search() {
            @Override
            public void found(ConnectionPeer peer) {
                run(() -> attempt.found(peer));
            }

            @Override
            public void failed(int errno) {
                run(() -> attempt.notFound(errno));
            }
        });
    }

    /**
     * Begins to look for the process that has a name.
     *
     * @param deadlineNanos when to give up, in terms of {@link System#nanoTime}
     * @param search hears of the outcome, without the lock
     */
    void find(String name, long deadlineNanos, ConnectionNetwork.Search search) {
        network.find(name, deadlineNanos, search);
    }

    /** Who listens at an address, if that is known without a look; else null. Under the lock. */
    ConnectionPeer knownListener(InetSocketAddress address) {
        return knownListeners.find(address, System.nanoTime());
    }

    /**
     * A process has accepted that was found by its name; under the lock.
     *
     * @param address where
     * @param peer the process
     * @param epoch its epoch before it was asked
     * @param foundNanos when it was found
     */
    void accepted(InetSocketAddress address, ConnectionPeer peer, int epoch, long foundNanos) {
        knownListeners.add(address, peer, epoch, foundNanos);
    }

    /** Who was asked does not listen there. Under the lock. */
    void refused(InetSocketAddress address) {
        knownListeners.remove(address);
    }

    /** Something that reads or changes what the lock guards. */
    interface Step {
        /**
         * Does it.
         *
         * @throws VerbsException when it is refused
         */
        void run() throws VerbsException;
    }

    /** Does something under the lock. */
    void run(Runnable task) {
        lock.lock();
        try {
            task.run();
        } finally {
            lock.unlock();
        }
    }

    /** Reads something under the lock. */
    <T> T get(Supplier<T> reader) {
        lock.lock();
        try {
            return reader.get();
        } finally {
            lock.unlock();
        }
    }

    /** Does something under the lock that may be refused. */
    void call(Step step) throws VerbsException {
        lock.lock();
        try {
            step.run();
        } finally {
            lock.unlock();
        }
    }

    /** A new connection, of an id of the program; under the lock. */
    SoftConnection create() {
        SoftConnection connection = new SoftConnection(this, ++lastNumber);
        connections.put(connection.number, connection);
        return connection;
    }

    /** From now on the connection is one with this peer; under the lock. */
    void meet(SoftConnection connection, ConnectionPeer peer) {
        connection.peerFound(peer);
        Set<SoftConnection> known = byPeer.get(peer);
        if (known != null) {
            known.add(connection);
            return;
        }
        byPeer.put(peer, new LinkedHashSet<>(Set.of(connection)));
        // Last, since it may be dead already.
        peer.onDeath(() -> run(() -> lost(peer)));
    }

    private void lost(ConnectionPeer peer) {
        knownListeners.remove(peer);
        List<SoftConnection> all = new ArrayList<>(byPeer.remove(peer));
        all.forEach(SoftConnection::peerLost);
    }

    /** Hears requests; under the lock. */
    void listen(SoftConnection connection, int backlog) {
        connection.listen(backlog <= 0 || backlog > MAX_BACKLOG ? MAX_BACKLOG : backlog);
        listeners
                .computeIfAbsent(connection.source().getPort(), port -> new ArrayList<>())
                .add(connection);
    }

    /**
     * Forgets a connection whose id is destroyed, after it has told its peer: its events vanish, and requests that
     * nobody has taken are rejected. Under the lock.
     *
     * @param connection the connection
     */
    void forget(SoftConnection connection) {
        connection.destroy();
        if (connection.owner() != null) {
            for (EventQueue.Event event : connection.owner().queue().remove(queued -> queued.target() == connection)) {
                if (event.request() != null) {
                    forget(event.request());
                }
            }
        }
        connections.remove(connection.number);
        if (connection.peer() != null) {
            asked.remove(new Asked(connection.peer(), connection.peerNumber()), connection);
            Set<SoftConnection> known = byPeer.get(connection.peer());
            if (known != null) {
                known.remove(connection);
            }
        }
        if (connection.source() != null) {
            List<SoftConnection> same = listeners.get(connection.source().getPort());
            if (same != null && same.remove(connection) && same.isEmpty()) {
                listeners.remove(connection.source().getPort());
            }
        }
    }

    /**
     * Handles a message; on the progress thread.
     *
     * @param peer who sent it
     * @param message the message
     * @throws ProtocolException when it breaks the protocol
     */
    void received(ConnectionPeer peer, ControlMessage.Connection message) throws ProtocolException {
        lock.lock();
        try {
            if (message instanceof ControlMessage.ConnectRequest request) {
                requested(peer, request);
                return;
            }
            SoftConnection connection = find(peer, message);
            if (connection != null) {
                connection.received(message);
            } else if (message instanceof ControlMessage.ConnectReply reply) {
                reject(peer, reply.fromConnection(), REASON_NO_CONNECTION);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Null when it is destroyed, or another peer's. */
    private SoftConnection find(ConnectionPeer peer, ControlMessage.Connection message) {
        SoftConnection connection = switch (message) {
            case ControlMessage.ConnectRequest request -> null;
            case ControlMessage.ConnectReply reply -> connections.get(reply.connection());
            // Whoever asked and has no answer knows its own number only.
            case ControlMessage.ConnectReject reject
            when reject.connection() == 0 -> asked.get(new Asked(peer, reject.fromConnection()));
            case ControlMessage.ConnectReject reject -> connections.get(reject.connection());
            case ControlMessage.ReadyToUse ready -> connections.get(ready.connection());
            case ControlMessage.DisconnectRequest request -> connections.get(request.connection());
            case ControlMessage.DisconnectReply reply -> connections.get(reply.connection());
        };
        return connection == null || !peer.equals(connection.peer()) ? null : connection;
    }

    private static void reject(ConnectionPeer peer, long number, int reason) {
        peer.send(new ControlMessage.ConnectReject(
                number, 0, reason, new byte[ControlMessage.REJECT_PRIVATE_DATA_BYTES]));
    }

    private void requested(ConnectionPeer peer, ControlMessage.ConnectRequest request) throws ProtocolException {
        Asked key = new Asked(peer, request.connection());
        if (request.connection() == 0 || asked.containsKey(key)) {
            throw new ProtocolException("a second request of connection " + request.connection());
        }
        if (isWildcard(request.source()) || isWildcard(request.destination())) {
            throw new ProtocolException("a request from everywhere, or to everywhere: " + request);
        }
        SoftConnection listener = listenerAt(request);
        EventQueue queue = listener == null ? null : listener.owner().queue();
        if (queue == null) {
            reject(peer, request.connection(), ConnectionAttempt.REASON_NO_LISTENER);
        } else if (listener.isBacklogFull()) {
            reject(peer, request.connection(), ConnectionAttempt.REASON_BACKLOG);
        } else {
            SoftConnection connection = create();
            asked.put(key, connection);
            connection.requested(peer, request);
            meet(connection, peer);
            listener.requestAdded();
            queue.add(new EventQueue.Event(
                    CommunicationEventType.CONNECT_REQUEST,
                    0,
                    listener,
                    connection,
                    Arrays.copyOf(request.privateData(), ControlMessage.REQUEST_PRIVATE_DATA_BYTES),
                    connection.terms.peers()));
        }
    }

    private static boolean isWildcard(InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress();
    }

    private SoftConnection listenerAt(ControlMessage.ConnectRequest request) {
        for (SoftConnection listener :
                listeners.getOrDefault(request.destination().getPort(), List.of())) {
            if (listener.binding().isReachedBy(request.destination().getAddress())) {
                return listener;
            }
        }
        return null;
    }
}
