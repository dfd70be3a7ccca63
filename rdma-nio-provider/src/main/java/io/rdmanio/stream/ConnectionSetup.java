package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.util.function.Consumer;

/**
 * How a connection comes about: binding, resolving, making memory and queues, and the request or its acceptance.
 *
 * <p>What may block runs on a worker, outside the lock. Not thread-safe: guarded by the connection's lock, except for what
 * a worker does with the id, which lives as long as the worker is counted.
 */
final class ConnectionSetup {
    private static final System.Logger LOG = System.getLogger(ConnectionSetup.class.getName());

    private static final int ADDRESS_TIMEOUT_MILLIS = 1000;
    private static final int ROUTE_TIMEOUT_MILLIS = 2000;
    private static final int RESOLVE_ATTEMPTS = 3;

    /** Means infinite in rnr_retry_count: a receiver that is slow to post is waited for. */
    private static final int RNR_RETRY_INFINITE = 7;

    private static final int RETRY_COUNT = 7;

    /** Code of min_rnr_timer for 0.64 ms; it is 655 ms unless set. */
    private static final int RNR_TIMER_CODE = 12;

    private final StreamConnection connection;
    private final StreamRuntime runtime;

    private StreamConfiguration configuration = StreamConfiguration.DEFAULT;
    private CommunicationId id;
    private InetSocketAddress remote;
    private PeerParameters peer;
    private StreamResources resources;
    private boolean reuseAddress;
    private int addressAttempts;
    private int routeAttempts;

    ConnectionSetup(StreamConnection connection, StreamRuntime runtime) {
        this.connection = connection;
        this.runtime = runtime;
    }

    /** How long the process is looked for that will be asked; the request itself waits longer. */
    private static final int PEER_TIMEOUT_MILLIS = 2000;

    /** The step that follows when memory and queues exist. */
    private interface Step {
        void with(StreamResources made) throws IOException;
    }

    private CommunicationId ensureId() throws VerbsException {
        if (id == null) {
            id = runtime.createId(connection);
        }
        return id;
    }

    CommunicationId id() {
        return id;
    }

    InetSocketAddress remote() {
        return remote;
    }

    /** Memory and queues; null before they are made. */
    StreamResources resources() {
        return resources;
    }

    /** The sizes the stream has or is getting. */
    StreamConfiguration sizes() {
        return resources == null ? configuration : resources.configuration;
    }

    void bind(InetSocketAddress local, boolean reuse) throws VerbsException {
        reuseAddress = reuse;
        bindId(local.getAddress().isAnyLocalAddress() ? new InetSocketAddress("0.0.0.0", local.getPort()) : local);
    }

    private void bindId(InetSocketAddress local) throws VerbsException {
        CommunicationId bound = ensureId();
        if (reuseAddress) {
            bound.options().setReuseAddress(true);
        }
        bound.bind(local);
    }

    /** An id bound to the wildcard is of one family; if the peer is of the other, another id takes over its port. */
    private void followFamily() throws VerbsException {
        InetSocketAddress bound = id == null ? null : id.localAddress();
        boolean wildcard = bound != null && bound.getAddress().isAnyLocalAddress();
        if (wildcard && remote.getAddress() instanceof Inet6Address && bound.getAddress() instanceof Inet4Address) {
            id.close();
            id = null;
            bindId(new InetSocketAddress("::", bound.getPort()));
        }
    }

    // -- the active side --

    /**
     * Begins to resolve the peer's address.
     *
     * @return whether it is resolved, and the route; else an event tells of the one and then of the other
     */
    boolean resolve(InetSocketAddress peerAddress, StreamConfiguration sizes, int typeOfService) throws VerbsException {
        remote = peerAddress;
        followFamily();
        CommunicationId connecting = ensureId();
        configuration = sizes;
        if (typeOfService >= 0) {
            connecting.options().setTypeOfService(typeOfService);
        }
        if (connecting.resolveAtOnce(remote)) {
            return true;
        }
        resolveAddress();
        return false;
    }

    private void resolveAddress() throws VerbsException {
        id.resolveAddress(null, remote, ADDRESS_TIMEOUT_MILLIS << addressAttempts);
        addressAttempts++;
    }

    void resolveRoute() throws VerbsException {
        id.resolveRoute(ROUTE_TIMEOUT_MILLIS << routeAttempts);
        routeAttempts++;
    }

    /** Tries once more to resolve what did not answer; false if that was often enough or will not help. */
    boolean resolveAgain(CommunicationEvent failed) throws VerbsException {
        boolean route = failed.type() == CommunicationEventType.ROUTE_ERROR;
        int attempts = route ? routeAttempts : addressAttempts;
        if (failed.status() != -Errno.ETIMEDOUT || attempts == RESOLVE_ATTEMPTS) {
            return false;
        }
        if (route) {
            resolveRoute();
        } else {
            resolveAddress();
        }
        return true;
    }

    /**
     * Makes memory and queues and sends the request. A worker does so where it may block, which over iWARP may take as long as
     * TCP's connect; else whoever learns who the peer is.
     */
    void sendRequest() throws VerbsException {
        boolean iwarp = id.device().transport() == TransportType.IWARP;
        ConnectionParameters parameters =
                new ConnectionParameters(0, iwarp ? 1 : 0, 1, RETRY_COUNT, RNR_RETRY_INFINITE, false, 0);
        Consumer<Runnable> worker = iwarp ? runtime::executeSlowConnect : runtime::executeConnect;
        connection.workBegins();
        try {
            id.findPeer(
                    PEER_TIMEOUT_MILLIS,
                    gid -> worker.accept(() -> makeThen(gid, made -> id.connect(parameters, parametersOf(made)))));
        } catch (VerbsException e) {
            connection.workNeverBegan();
            throw e;
        }
    }

    // -- the passive side --

    /** Takes over a request's id; the request's own parameters are used to accept it. */
    void take(CommunicationEvent request, StreamConfiguration sizes) throws ProtocolException {
        peer = PeerParameters.decode(request.privateData());
        id = request.id();
        id.attach(connection);
        remote = id.remoteAddress();
        configuration = sizes;
    }

    /** Makes memory and queues and accepts, later. The memory it needs at first has been promised. */
    void accept(ConnectionParameters parameters) {
        long promised = StreamResources.bytesToBegin(id.device(), configuration);
        connection.workBegins();
        runtime.execute(() -> {
            try {
                // who asked is known, so this is told at once
                id.findPeer(0, gid -> makeThen(gid, made -> id.accept(parameters, parametersOf(made))));
            } catch (VerbsException e) {
                connection.workEnds(runtime.failures().of(e, remote));
            } finally {
                runtime.memory().fulfilled(promised);
            }
        });
    }

    // -- both sides --

    private static byte[] parametersOf(StreamResources made) {
        return StreamProtocol.parametersOf(made).encode();
    }

    private void makeThen(Gid gid, Step step) {
        IOException failure = null;
        try {
            if (stillWanted(null)) {
                StreamResources made = StreamResources.create(
                        id, configuration, !runtime.hasGroups(), runtime.memory(), runtime.identity(gid, remote));
                if (stillWanted(made)) {
                    step.with(made);
                }
            }
        } catch (VerbsException e) {
            failure = runtime.failures().of(e, remote);
        } catch (IOException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            failure = new SocketException("Connecting to " + remote + " failed: " + e);
            failure.initCause(e);
        }
        connection.workEnds(failure);
    }

    private boolean stillWanted(StreamResources made) {
        connection.lock.lock();
        try {
            resources = made;
            return connection.connecting();
        } finally {
            connection.lock.unlock();
        }
    }

    /**
     * Makes the protocol of an established connection.
     *
     * @throws ProtocolException if the peer's parameters are impossible
     */
    StreamProtocol establish(CommunicationEvent event) throws ProtocolException {
        boolean passive = peer != null;
        if (!passive) {
            peer = PeerParameters.decode(event.privateData());
        }
        if (!resources.messagesAsSend) {
            try {
                resources.queuePair.setMinRnrTimer(RNR_TIMER_CODE);
            } catch (VerbsException e) {
                LOG.log(Level.DEBUG, "The device does not let the RNR timer be shortened", e);
            }
        }
        return new StreamProtocol(resources, peer, passive);
    }
}
