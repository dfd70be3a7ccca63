package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;

/**
 * How a connection comes about: binding, resolving, making memory and queues, and the request or its acceptance.
 *
 * <p>What may block runs on a worker, outside the lock. Not thread-safe: guarded by the connection's lock, except for what
 * a worker does with the id, which lives as long as the worker is counted.
 */
final class ConnectionSetup {
    private static final int ADDRESS_TIMEOUT_MILLIS = 1000;
    private static final int ADDRESS_ATTEMPTS = 3;
    private static final int ROUTE_TIMEOUT_MILLIS = 2000;

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
    private int addressAttempts;

    ConnectionSetup(StreamConnection connection, StreamRuntime runtime) {
        this.connection = connection;
        this.runtime = runtime;
    }

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

    void bind(InetSocketAddress local, boolean reuseAddress) throws VerbsException {
        CommunicationId bound = ensureId();
        if (reuseAddress) {
            bound.setReuseAddress(true);
        }
        bound.bind(local);
    }

    // -- the active side --

    void resolve(InetSocketAddress peerAddress, StreamConfiguration sizes, int typeOfService) throws VerbsException {
        CommunicationId connecting = ensureId();
        remote = peerAddress;
        configuration = sizes;
        if (typeOfService >= 0) {
            connecting.setTypeOfService(typeOfService);
        }
        resolveAddress();
    }

    private void resolveAddress() throws VerbsException {
        id.resolveAddress(null, remote, ADDRESS_TIMEOUT_MILLIS << addressAttempts);
        addressAttempts++;
    }

    /** Tries once more to resolve an address that did not answer; false if that was often enough or will not help. */
    boolean resolveAgain(int status) throws VerbsException {
        if (status != -Errno.ETIMEDOUT || addressAttempts == ADDRESS_ATTEMPTS) {
            return false;
        }
        resolveAddress();
        return true;
    }

    void resolveRoute() throws VerbsException {
        id.resolveRoute(ROUTE_TIMEOUT_MILLIS);
    }

    /** Has a worker make memory and queues and send the request, which over iWARP may take seconds. */
    void sendRequest() {
        int initiatorDepth = id.device().transport() == TransportType.IWARP ? 1 : 0;
        ConnectionParameters parameters =
                new ConnectionParameters(0, initiatorDepth, 1, RETRY_COUNT, RNR_RETRY_INFINITE, false, 0);
        connection.workBegins();
        runtime.executeConnect(() -> makeThen(made -> id.connect(parameters, parametersOf(made))));
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

    /** Has a worker make memory and queues and accept. */
    void accept(ConnectionParameters parameters) {
        connection.workBegins();
        runtime.execute(() -> makeThen(made -> id.accept(parameters, parametersOf(made))));
    }

    // -- both sides --

    private static byte[] parametersOf(StreamResources made) {
        return StreamProtocol.parametersOf(made).encode();
    }

    private void makeThen(Step step) {
        IOException failure = null;
        try {
            StreamResources made = StreamResources.create(id, runtime.domainOf(id.device()), configuration);
            boolean wanted;
            connection.lock.lock();
            try {
                resources = made;
                wanted = connection.connecting();
            } finally {
                connection.lock.unlock();
            }
            if (wanted) {
                step.with(made);
            }
        } catch (VerbsException e) {
            failure = ConnectFailures.of(e, remote);
        } catch (IOException e) {
            failure = e;
        }
        connection.workEnds(failure);
    }

    /**
     * Makes the protocol of an established connection.
     *
     * @throws IOException if the peer's parameters are impossible or the queue pair can't be tuned
     */
    StreamProtocol establish(CommunicationEvent event) throws IOException {
        if (peer == null) {
            peer = PeerParameters.decode(event.privateData());
        }
        if (!resources.messagesAsSend) {
            resources.queuePair.setMinRnrTimer(RNR_TIMER_CODE);
        }
        return new StreamProtocol(resources, peer);
    }
}
