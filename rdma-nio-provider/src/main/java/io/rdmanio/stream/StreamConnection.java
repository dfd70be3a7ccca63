package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One connection of rsocket streams, from the first address lookup to the last resource destroyed.
 *
 * <p>Ready for OP_CONNECT when connecting has come to its end, for OP_READ and OP_WRITE when the operation would not block.
 * Reading and writing is done by {@link StreamReader} and {@link StreamWriter}. Nothing here blocks a caller but
 * {@link #await} and {@link #awaitDrained}. A closed connection lives on until its tail is delivered and its channel has
 * {@linkplain #release() let go} of it. Thread-safe.
 */
public final class StreamConnection extends ReadinessSource {
    private static final System.Logger LOG = System.getLogger(StreamConnection.class.getName());

    private static final int ADDRESS_TIMEOUT_MILLIS = 1000;
    private static final int ADDRESS_ATTEMPTS = 3;
    private static final int ROUTE_TIMEOUT_MILLIS = 2000;
    private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** How long a closed connection may go on delivering its tail. */
    private static final long DRAIN_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Means infinite in rnr_retry_count: a receiver that is slow to post is waited for. */
    private static final int RNR_RETRY_INFINITE = 7;

    private static final int RETRY_COUNT = 7;

    /** Code of min_rnr_timer for 0.64 ms; it is 655 ms unless set. */
    private static final int RNR_TIMER_CODE = 12;

    private final StreamRuntime runtime;
    private final StreamListener listener;
    private final StreamReader reader = new StreamReader(this);
    private final StreamWriter writer = new StreamWriter(this);
    private final CountDownLatch drained = new CountDownLatch(1);

    // begin: guarded by lock
    private ConnectionState state = ConnectionState.NEW;
    private StreamConfiguration configuration = StreamConfiguration.DEFAULT;
    private CommunicationId id;
    private InetSocketAddress remote;
    private PeerParameters peer;
    private StreamResources resources;
    private StreamProtocol protocol;
    private IOException connectFailure;
    private int addressAttempts;
    private Future<?> timeout;
    private EventLoop.Registration loopRegistration;
    private boolean armed;
    /** Tasks of workers that use the id or the resources. */
    private int working;

    private boolean disconnecting;
    private boolean aborted;
    private boolean released;
    private boolean destroying;
    // end

    private volatile int descriptor = -1;

    /** A connection to be made. */
    public StreamConnection(StreamRuntime runtime) {
        this(runtime, null);
    }

    private StreamConnection(StreamRuntime runtime, StreamListener listener) {
        this.runtime = runtime;
        this.listener = listener;
        runtime.opened(this);
    }

    private void transition(ConnectionState next) {
        assert lock.isHeldByCurrentThread();
        assert next.compareTo(state) > 0 : state + " to " + next;
        ConnectionStateEvent.emit(this, state, next);
        state = next;
    }

    // -- connecting --

    /**
     * Binds the local end.
     *
     * @throws java.net.BindException if the address is in use or not ours
     */
    public void bind(InetSocketAddress local, boolean reuseAddress) throws IOException {
        lock.lock();
        try {
            CommunicationId bound = ensureId();
            if (reuseAddress) {
                bound.setReuseAddress(true);
            }
            bound.bind(local);
        } catch (VerbsException e) {
            throw ConnectFailures.ofBind(e, local);
        } finally {
            lock.unlock();
        }
    }

    private CommunicationId ensureId() throws VerbsException {
        if (id == null) {
            id = runtime.createId(this);
        }
        return id;
    }

    /**
     * Starts connecting; does not block. OP_CONNECT becomes ready when it has come to its end, and
     * {@link #finishConnect()} tells which.
     *
     * @param typeOfService -1 for the default
     * @throws IOException if it fails at once
     */
    public void connect(InetSocketAddress peerAddress, StreamConfiguration sizes, int typeOfService)
            throws IOException {
        lock.lock();
        try {
            CommunicationId connecting = ensureId();
            remote = peerAddress;
            configuration = sizes;
            if (typeOfService >= 0) {
                connecting.setTypeOfService(typeOfService);
            }
            transition(ConnectionState.RESOLVING_ADDRESS);
            resolveAddress();
            timeout = runtime.after(CONNECT_TIMEOUT_NANOS, () -> timedOut(peerAddress));
        } catch (VerbsException e) {
            IOException failure = ConnectFailures.of(e, peerAddress);
            failConnect(failure);
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    private void resolveAddress() throws VerbsException {
        id.resolveAddress(null, remote, ADDRESS_TIMEOUT_MILLIS << addressAttempts);
        addressAttempts++;
    }

    private void timedOut(InetSocketAddress peerAddress) {
        lock.lock();
        try {
            if (state.compareTo(ConnectionState.CONNECTED) < 0) {
                failConnect(ConnectFailures.timedOut(state.toString(), peerAddress));
            }
        } finally {
            lock.unlock();
        }
    }

    private void failConnect(IOException failure) {
        connectFailure = failure;
        transition(ConnectionState.FAILED);
        cancelTimeout();
        publish();
        proceedToEnd();
    }

    private void cancelTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }

    /**
     * Whether the connection is established.
     *
     * @throws IOException why it could not be
     */
    public boolean finishConnect() throws IOException {
        lock.lock();
        try {
            if (connectFailure != null) {
                throw connectFailure;
            }
            return state.compareTo(ConnectionState.CONNECTED) >= 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether connecting has failed. */
    public boolean connectFailed() {
        lock.lock();
        try {
            return connectFailure != null;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the request of a peer; a worker makes what is needed and accepts. */
    static StreamConnection accepting(
            StreamListener listener, CommunicationEvent request, StreamConfiguration sizes) throws ProtocolException {
        PeerParameters peer = PeerParameters.decode(request.privateData());
        StreamConnection connection = new StreamConnection(listener.runtime(), listener);
        CommunicationId id = request.id();
        ConnectionParameters parameters = request.connectionParameters();
        connection.lock.lock();
        try {
            connection.id = id;
            connection.peer = peer;
            connection.remote = id.remoteAddress();
            connection.configuration = sizes;
            id.attach(connection);
            connection.transition(ConnectionState.ACCEPTING);
            connection.timeout =
                    connection.runtime.after(CONNECT_TIMEOUT_NANOS, () -> connection.timedOut(connection.remote));
            connection.work(false, made -> id.accept(parameters, parametersOf(made)));
        } finally {
            connection.lock.unlock();
        }
        return connection;
    }

    private static byte[] parametersOf(StreamResources made) {
        return StreamProtocol.parametersOf(made).encode();
    }

    private void sendRequest() {
        int initiatorDepth = id.device().transport() == TransportType.IWARP ? 1 : 0;
        ConnectionParameters parameters =
                new ConnectionParameters(0, initiatorDepth, 1, RETRY_COUNT, RNR_RETRY_INFINITE, false, 0);
        transition(ConnectionState.CONNECTING);
        work(true, made -> id.connect(parameters, parametersOf(made)));
    }

    /** The step that follows when memory and queues exist. */
    private interface Step {
        void with(StreamResources made) throws IOException;
    }

    private void work(boolean mayTakeSeconds, Step step) {
        working++;
        Runnable task = () -> makeThen(step);
        if (mayTakeSeconds) {
            runtime.executeConnect(task);
        } else {
            runtime.execute(task);
        }
    }

    private void makeThen(Step step) {
        IOException failure = null;
        try {
            StreamResources made = StreamResources.create(id, runtime.domainOf(id.device()), configuration);
            boolean wanted;
            lock.lock();
            try {
                resources = made;
                wanted = state.compareTo(ConnectionState.CONNECTED) < 0;
            } finally {
                lock.unlock();
            }
            if (wanted) {
                step.with(made);
            }
        } catch (VerbsException e) {
            failure = ConnectFailures.of(e, remote);
        } catch (IOException e) {
            failure = e;
        }
        lock.lock();
        try {
            working--;
            if (failure != null && state.compareTo(ConnectionState.CONNECTED) < 0) {
                failConnect(failure);
            } else {
                proceedToEnd();
            }
        } finally {
            lock.unlock();
        }
        tellListener();
    }

    // -- communication events --

    void onEvent(CommunicationEvent event) {
        lock.lock();
        try {
            react(event);
        } catch (VerbsException e) {
            failConnect(ConnectFailures.of(e, remote));
        } finally {
            lock.unlock();
        }
        tellListener();
    }

    private void tellListener() {
        if (listener != null) {
            listener.changed(this);
        }
    }

    private void react(CommunicationEvent event) throws VerbsException {
        switch (EventReaction.of(state, event.type())) {
            case RESOLVE_ROUTE -> {
                transition(ConnectionState.RESOLVING_ROUTE);
                id.resolveRoute(ROUTE_TIMEOUT_MILLIS);
            }
            case SEND_REQUEST -> sendRequest();
            case ESTABLISH -> establish(event);
            case RETRY_OR_FAIL -> retryOrFail(event);
            case FAIL -> failConnect(ConnectFailures.of(event.type(), event.status(), remote));
            case END -> end();
            case BREAK -> {
                if (protocol != null) {
                    protocol.fail(new SocketException("The RDMA device on the way to " + remote + " was removed"));
                    afterProgress();
                }
            }
            case IGNORE -> LOG.log(Level.DEBUG, "{0} has no consequence for {1}", event, this);
        }
    }

    private void retryOrFail(CommunicationEvent event) throws VerbsException {
        boolean again = event.status() == -Errno.ETIMEDOUT && addressAttempts < ADDRESS_ATTEMPTS;
        if (again) {
            resolveAddress();
        } else {
            failConnect(ConnectFailures.of(event.type(), event.status(), remote));
        }
    }

    private void establish(CommunicationEvent event) {
        try {
            if (peer == null) {
                peer = PeerParameters.decode(event.privateData());
            }
            if (!resources.messagesAsSend) {
                resources.queuePair.setMinRnrTimer(RNR_TIMER_CODE);
            }
        } catch (IOException e) {
            failConnect(e);
            return;
        }
        cancelTimeout();
        protocol = new StreamProtocol(resources, peer);
        transition(ConnectionState.CONNECTED);
        descriptor = resources.completionChannel.fileDescriptor();
        update();
        publish();
    }

    private void end() {
        if (protocol != null) {
            protocol.process();
            protocol.ended();
            afterProgress();
        }
        disconnect();
    }

    /** Answers the peer's request to end the connection, or tells it that we must; flushes what is still posted. */
    private void disconnect() {
        if (disconnecting) {
            return;
        }
        disconnecting = true;
        working++;
        CommunicationId ended = id;
        runtime.execute(() -> {
            try {
                ended.disconnect();
            } catch (VerbsException e) {
                LOG.log(Level.DEBUG, "The connection had ended by itself", e);
            }
            lock.lock();
            try {
                working--;
                proceedToEnd();
            } finally {
                lock.unlock();
            }
        });
    }

    // -- readiness --

    @Override
    int readiness() {
        return switch (state) {
            case NEW, RESOLVING_ADDRESS, RESOLVING_ROUTE, CONNECTING, ACCEPTING -> 0;
            case FAILED -> SelectionKey.OP_CONNECT;
            case CONNECTED, CLOSING, CLOSED -> SelectionKey.OP_CONNECT | (protocol == null ? 0 : ioReadiness());
        };
    }

    private int ioReadiness() {
        int ready = 0;
        boolean failed = protocol.failure() != null;
        if (failed || protocol.readable() > 0 || protocol.inputEnded() || protocol.peerGone() || reader.isShut()) {
            ready |= SelectionKey.OP_READ;
        }
        if (failed || protocol.canSend() || protocol.outputShut() || protocol.peerGone()) {
            ready |= SelectionKey.OP_WRITE;
        }
        return ready;
    }

    @Override
    void update() {
        if (protocol == null || destroying) {
            return;
        }
        if (protocol.process()) {
            afterProgress();
        }
        while (!armed && !destroying && needsNotification()) {
            if (!arm()) {
                return;
            }
            // what completed before the queue was armed is not notified
            if (protocol.process()) {
                afterProgress();
            }
        }
    }

    private boolean needsNotification() {
        return protocol.failure() == null
                && (anyoneSleeps() || state == ConnectionState.CLOSING && !protocol.drained());
    }

    private boolean arm() {
        try {
            resources.completionQueue.requestNotification(false);
            armed = true;
            return true;
        } catch (VerbsException e) {
            protocol.fail(e);
            afterProgress();
            return false;
        }
    }

    private void afterProgress() {
        if (protocol.failure() != null) {
            disconnect();
        }
        publish();
        proceedToEnd();
    }

    @Override
    void notified() {
        if (resources == null || destroying) {
            return;
        }
        try {
            CompletionQueue queue = resources.completionChannel.takeEvent();
            if (queue != null) {
                armed = false;
            }
        } catch (VerbsException e) {
            protocol.fail(e);
            afterProgress();
        }
    }

    @Override
    public int descriptor() {
        return descriptor;
    }

    @Override
    void watchByEventLoop() throws IOException {
        if (loopRegistration == null && !destroying) {
            loopRegistration = EventLoop.get().register(descriptor, false, this::descriptorReady);
        }
    }

    // -- reading and writing --

    /** Reads; to be called by one thread at a time. */
    public StreamReader reader() {
        return reader;
    }

    /** Writes; to be called by one thread at a time. */
    public StreamWriter writer() {
        return writer;
    }

    /** The protocol, for the reader and the writer. Lock held. */
    StreamProtocol protocol() {
        return protocol;
    }

    /** What a reader or writer is told of a connection that has broken: a fresh exception with the reason as its cause. */
    static SocketException broken(IOException reason) {
        SocketException broken = new SocketException(reason.getMessage());
        broken.initCause(reason);
        return broken;
    }

    /** Ends our output; what was written before is delivered. */
    public void shutdownOutput() {
        lock.lock();
        try {
            protocol.shutdownOutput();
            update();
            publish();
        } finally {
            lock.unlock();
        }
    }

    // -- addresses --

    /** The local address, or null if there is none yet. */
    public InetSocketAddress localAddress() {
        lock.lock();
        try {
            return id == null || destroying ? null : id.localAddress();
        } finally {
            lock.unlock();
        }
    }

    /** The address of the peer, or null if it never had one. */
    public InetSocketAddress remoteAddress() {
        lock.lock();
        try {
            return remote;
        } finally {
            lock.unlock();
        }
    }

    // -- the end --

    /**
     * Ends the connection; does not block. What was written is delivered in the background, then the peer sees the end.
     *
     * @param abort whether to break it instead: nothing more is delivered, the peer sees a reset
     */
    public void close(boolean abort) {
        lock.lock();
        try {
            aborted |= abort;
            if (state == ConnectionState.FAILED || state.compareTo(ConnectionState.CLOSING) >= 0) {
                proceedToEnd();
                return;
            }
            cancelTimeout();
            transition(ConnectionState.CLOSING);
            if (protocol != null && !aborted) {
                protocol.disconnect();
                if (!protocol.drained()) {
                    watchByEventLoop();
                    timeout = runtime.after(DRAIN_TIMEOUT_NANOS, () -> close(true));
                    update();
                }
            }
            publish();
            proceedToEnd();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "The tail of " + this + " can''t be watched; it is broken off", e);
            aborted = true;
            proceedToEnd();
        } finally {
            lock.unlock();
        }
    }

    /** The channel uses neither the connection nor its descriptor any more; it may be destroyed once it is closed. */
    public void release() {
        lock.lock();
        try {
            released = true;
            proceedToEnd();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until everything written has been delivered after {@link #close}.
     *
     * @return whether it has, or never can be
     */
    public boolean awaitDrained(long nanos) {
        return StreamRuntime.awaitUninterruptibly(drained, nanos);
    }

    private void proceedToEnd() {
        boolean ending = state == ConnectionState.CLOSING || state == ConnectionState.FAILED;
        if (!ending || destroying || protocol != null && !aborted && !protocol.drained()) {
            return;
        }
        drained.countDown();
        if (released && working == 0) {
            destroying = true;
            cancelTimeout();
            runtime.execute(this::destroy);
        }
    }

    private void destroy() {
        lock.lock(); // whoever decided this may still be on its way out
        lock.unlock();
        if (loopRegistration != null) {
            loopRegistration.close();
        }
        try (ResourceStack last = new ResourceStack()) {
            last.add(id);
            last.add(resources);
            last.add(protocol);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "Resources of " + this + " could not be destroyed", e);
        }
        lock.lock();
        try {
            transition(ConnectionState.CLOSED);
        } finally {
            lock.unlock();
        }
        runtime.closed(this);
    }

    // -- for the listener --

    /** Whether it may be handed to the application. */
    boolean established() {
        lock.lock();
        try {
            return state == ConnectionState.CONNECTED;
        } finally {
            lock.unlock();
        }
    }

    /** Whether nobody will miss it: it failed, or its peer is gone without having sent anything. */
    boolean worthless() {
        lock.lock();
        try {
            return state.compareTo(ConnectionState.CONNECTED) > 0
                    || protocol != null
                            && protocol.readable() == 0
                            && (protocol.failure() != null || protocol.peerGone());
        } finally {
            lock.unlock();
        }
    }

    /** Tells the log why a connection of a listener never reached the application. */
    void logFailure() {
        lock.lock();
        try {
            if (connectFailure != null) {
                LOG.log(Level.WARNING, "A connection from " + remote + " could not be accepted", connectFailure);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "StreamConnection[" + state + ", peer=" + remote + "]";
    }
}
