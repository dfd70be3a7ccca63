package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A listening address and the connections that peers have made to it.
 *
 * <p>Accepts eagerly, as a kernel does: a peer is connected before the application calls accept, as many as the backlog
 * holds and there is memory for; further requests wait, unanswered, for a place, and beyond that are rejected. Ready for
 * OP_ACCEPT while an established connection waits. A wildcard address is listened on for both families, with one id each,
 * since rdma_cm keeps them apart. Thread-safe.
 */
public final class StreamListener extends ReadinessSource {
    private static final System.Logger LOG = System.getLogger(StreamListener.class.getName());

    private static final int PORT_ATTEMPTS = 16;
    private static final int MAX_WAITING_REQUESTS = 1024;

    private final StreamRuntime runtime;
    private final Runnable admitAgain = this::admitAgain;

    // begin: guarded by lock
    private final List<CommunicationId> ids = new ArrayList<>(2);
    private final Set<StreamConnection> accepting = new HashSet<>();
    private final ArrayDeque<StreamConnection> established = new ArrayDeque<>();
    private final ArrayDeque<CommunicationEvent> waiting = new ArrayDeque<>();
    private SocketException failure;
    private InetSocketAddress localAddress;
    private StreamConfiguration configuration = StreamConfiguration.DEFAULT;
    private int backlog;
    private boolean closed;
    private boolean shortageTold;
    // end

    /** A listener that is not bound. */
    public StreamListener(StreamRuntime runtime) {
        this.runtime = runtime;
    }

    StreamRuntime runtime() {
        return runtime;
    }

    /** Sets the sizes of the streams accepted from now on. */
    public void configure(StreamConfiguration sizes) {
        lock.lock();
        try {
            configuration = sizes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Binds and listens.
     *
     * @param local where; port 0 picks one
     * @param bothFamilies whether a wildcard address means IPv6 too, and is told as IPv6's
     * @param maxWaiting established connections that may wait for accept
     * @throws java.net.BindException if the address is in use or no device has it
     */
    public void bind(InetSocketAddress local, boolean bothFamilies, int maxWaiting, boolean reuseAddress)
            throws IOException {
        lock.lock();
        try {
            backlog = maxWaiting;
            InetAddress address = local.getAddress();
            if (bothFamilies && address.isAnyLocalAddress()) {
                listenOnBoth(local.getPort(), reuseAddress);
            } else {
                ids.add(listenOn(local, false, reuseAddress));
                localAddress = ids.getFirst().localAddress();
            }
        } catch (VerbsException e) {
            closeIds(List.copyOf(ids));
            ids.clear();
            throw runtime.failures().ofBind(e, local);
        } finally {
            lock.unlock();
        }
    }

    private void listenOnBoth(int port, boolean reuseAddress) throws IOException {
        for (int attempt = 1; ; attempt++) {
            CommunicationId inet = listenOn(new InetSocketAddress("0.0.0.0", port), false, reuseAddress);
            InetSocketAddress bound = inet.localAddress();
            try {
                ids.add(inet);
                ids.add(listenOn(new InetSocketAddress("::", bound.getPort()), true, reuseAddress));
                localAddress = new InetSocketAddress(Inet6Address.getByName("::"), bound.getPort());
                return;
            } catch (VerbsException e) {
                boolean taken = e.errno() == Errno.EADDRINUSE;
                if (taken && port == 0 && attempt < PORT_ATTEMPTS) {
                    ids.clear();
                    inet.close();
                } else if (taken) {
                    throw e;
                } else {
                    LOG.log(Level.DEBUG, "No IPv6 listener on port " + bound.getPort(), e);
                    localAddress = bound;
                    return;
                }
            }
        }
    }

    private CommunicationId listenOn(InetSocketAddress address, boolean familyOnly, boolean reuseAddress)
            throws VerbsException {
        CommunicationId id = runtime.createId(this);
        try {
            if (familyOnly) {
                id.options().setAddressFamilyOnly(true);
            }
            if (reuseAddress) {
                id.options().setReuseAddress(true);
            }
            id.bind(address);
            id.listen(Math.min(backlog, Integer.MAX_VALUE - MAX_WAITING_REQUESTS) + MAX_WAITING_REQUESTS);
            return id;
        } catch (VerbsException e) {
            closeIds(List.of(id));
            throw e;
        }
    }

    /** The address bound to, or null. */
    public InetSocketAddress localAddress() {
        lock.lock();
        try {
            return localAddress;
        } finally {
            lock.unlock();
        }
    }

    // -- requests, in the event loop's thread --

    void requested(CommunicationEvent request) {
        lock.lock();
        try {
            if (closed || waiting.size() >= MAX_WAITING_REQUESTS) {
                refuse(request.id());
            } else {
                request.id().attach(this);
                waiting.add(request);
                admit();
            }
        } finally {
            lock.unlock();
        }
    }

    private void admit() {
        while (!closed && !waiting.isEmpty() && accepting.size() + established.size() < backlog) {
            long bytes = StreamResources.bytesToBegin(waiting.peek().id().device(), configuration);
            if (!runtime.memory().tryPromise(bytes, admitAgain)) {
                tellOfShortage(bytes);
                return;
            }
            CommunicationEvent request = waiting.poll();
            try {
                accepting.add(StreamConnection.accepting(this, request, configuration));
            } catch (ProtocolException | RuntimeException e) {
                runtime.memory().fulfilled(bytes);
                LOG.log(Level.WARNING, "Refused a peer", e);
                refuse(request.id());
            }
        }
    }

    private void tellOfShortage(long bytes) {
        if (!shortageTold) {
            shortageTold = true;
            LOG.log(
                    Level.WARNING,
                    "Peers of {0} wait until others have ended: {1}",
                    localAddress,
                    runtime.memory().budget().exhausted(bytes).getMessage());
        }
    }

    private void admitAgain() {
        lock.lock();
        try {
            admit();
        } finally {
            lock.unlock();
        }
    }

    /** Destroying the id of a request that was not answered rejects it. Blocks until its event is acknowledged. */
    private void refuse(CommunicationId id) {
        runtime.execute(() -> closeIds(List.of(id)));
    }

    private static void closeIds(List<CommunicationId> closing) {
        for (CommunicationId id : closing) {
            try {
                id.close();
            } catch (VerbsException e) {
                LOG.log(Level.WARNING, "A communication id could not be destroyed", e);
            }
        }
    }

    /** An event for the id of a listener, or of a request that waits. */
    void onEvent(CommunicationEvent event) {
        lock.lock();
        try {
            if (waiting.removeIf(request -> request.id().equals(event.id()))) {
                refuse(event.id()); // the peer has given up
            } else if (event.type() == CommunicationEventType.DEVICE_REMOVAL && ids.remove(event.id())) {
                SocketException removed = runtime.failures().deviceRemoved("of " + localAddress);
                LOG.log(Level.WARNING, removed.getMessage());
                refuse(event.id());
                if (ids.isEmpty()) {
                    failure = removed;
                    publish();
                }
            } else {
                LOG.log(Level.DEBUG, "{0} has no consequence for the listener on {1}", event, localAddress);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A connection of ours has changed: it may be ready to be taken, or not worth keeping. */
    void changed(StreamConnection connection) {
        lock.lock();
        try {
            if (accepting.contains(connection)) {
                if (connection.worthless()) {
                    accepting.remove(connection);
                    discard(connection);
                } else if (connection.established()) {
                    accepting.remove(connection);
                    established.add(connection);
                    publish();
                }
            } else if (connection.worthless() && established.remove(connection)) {
                discard(connection);
            }
            admit();
        } finally {
            lock.unlock();
        }
    }

    private static void discard(StreamConnection connection) {
        connection.logFailure();
        connection.close(true);
        connection.release();
    }

    /**
     * Takes an established connection.
     *
     * @return null if none waits
     * @throws SocketException if none can come any more
     */
    public StreamConnection accept() throws SocketException {
        lock.lock();
        try {
            StreamConnection connection = established.poll();
            if (connection != null) {
                admit();
            } else if (failure != null) {
                throw new SocketException(failure.getMessage());
            }
            return connection;
        } finally {
            lock.unlock();
        }
    }

    // -- readiness --

    @Override
    int readiness() {
        return established.isEmpty() && failure == null ? 0 : SelectionKey.OP_ACCEPT;
    }

    @Override
    void update() {
        // what happens here is told by the event loop; there is nothing to poll
    }

    @Override
    void notified() {
        // no descriptor
    }

    @Override
    void watchByEventLoop() {
        // no descriptor
    }

    @Override
    public int descriptor() {
        return -1;
    }

    /**
     * Stops listening and breaks the connections nobody took. Returns when the port is free, or after a bounded time if a
     * worker can't free it sooner.
     */
    public void close() {
        List<CommunicationId> closing;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            closing = new ArrayList<>(ids);
            ids.clear();
            waiting.forEach(request -> refuse(request.id()));
            waiting.clear();
            accepting.forEach(StreamListener::discard);
            accepting.clear();
            established.forEach(StreamListener::discard);
            established.clear();
        } finally {
            lock.unlock();
        }
        CountDownLatch freed = new CountDownLatch(1);
        runtime.execute(() -> {
            closeIds(closing);
            freed.countDown();
        });
        runtime.awaitBriefly(freed);
    }
}
