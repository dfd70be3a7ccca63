package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import jdk.jfr.FlightRecorder;

/**
 * One connection of rsocket streams, from the first address lookup to the last resource destroyed.
 *
 * <p>Ready for OP_CONNECT when connecting has come to its end, for OP_READ and OP_WRITE when the operation would not block.
 * It comes about by {@link ConnectionSetup}; reading and writing is done by {@link StreamReader} and {@link StreamWriter}.
 * Nothing here blocks a caller but {@link #await} and {@link #awaitDrained}. A closed connection lives on until its tail is
 * delivered and its channel has {@linkplain #release() let go} of it. Thread-safe.
 */
public final class StreamConnection extends ReadinessSource {
    private static final System.Logger LOG = System.getLogger(StreamConnection.class.getName());

    private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** How long a closed connection may go on delivering its tail. */
    private static final long DRAIN_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Ready when the stream has failed or both its directions have ended, besides the operations of keys. */
    public static final int HUNG_UP = 1 << 8;

    private final StreamRuntime runtime;
    private final StreamListener listener;
    private final StreamReader reader = new StreamReader(this);
    private final StreamWriter writer = new StreamWriter(this);

    // begin: guarded by lock
    private final ConnectionSetup setup;
    private final ConnectionEnd end;
    private final KeepAliveTimer keepAlive;
    private final CompletionWatch completions;
    private ConnectionState state = ConnectionState.NEW;
    private IOException connectFailure;
    private StreamProtocol protocol;
    private Future<?> timeout;
    // end

    /** A connection to be made. */
    public StreamConnection(StreamRuntime runtime) {
        this(runtime, null);
    }

    private StreamConnection(StreamRuntime runtime, StreamListener listener) {
        this.runtime = runtime;
        this.listener = listener;
        this.setup = new ConnectionSetup(this, runtime);
        this.end = new ConnectionEnd(this, setup, runtime);
        this.keepAlive = new KeepAliveTimer(this, runtime);
        this.completions = new CompletionWatch(this, runtime);
        runtime.opened(this);
    }

    private void transition(ConnectionState next) {
        assert lock.isHeldByCurrentThread();
        if (next.compareTo(state) <= 0) {
            throw new IllegalStateException("a connection can't go from " + state + " to " + next);
        }
        // Loading the event's class prepares it for recording, which took a third of a process's first connect.
        if (FlightRecorder.isInitialized()) {
            ConnectionStateEvent.emit(this, state, next);
        }
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
            requireNew();
            setup.bind(local, reuseAddress);
        } catch (VerbsException e) {
            throw runtime.failures().ofBind(e, local);
        } finally {
            lock.unlock();
        }
    }

    private void requireNew() throws AsynchronousCloseException {
        if (state != ConnectionState.NEW) {
            throw new AsynchronousCloseException();
        }
    }

    /**
     * Starts connecting; does not block. OP_CONNECT becomes ready when it has come to its end, and
     * {@link #finishConnect()} tells which.
     *
     * @param typeOfService -1 for the default
     * @throws IOException if it fails at once
     */
    public void connect(InetSocketAddress remote, StreamConfiguration sizes, int typeOfService) throws IOException {
        lock.lock();
        try {
            requireNew();
            transition(ConnectionState.RESOLVING_ADDRESS);
            timeout = runtime.after(CONNECT_TIMEOUT_NANOS, this::connectTimedOut);
            if (setup.resolve(remote, sizes, typeOfService)) {
                transition(ConnectionState.CONNECTING);
                setup.sendRequest();
            }
        } catch (VerbsException e) {
            IOException failure = runtime.failures().of(e, remote);
            failConnect(failure);
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the request of a peer; what is needed is made, and the request accepted, later. */
    static StreamConnection accepting(StreamListener listener, CommunicationEvent request, StreamConfiguration sizes)
            throws ProtocolException {
        StreamConnection connection = new StreamConnection(listener.runtime(), listener);
        connection.lock.lock();
        try {
            connection.setup.take(request, sizes);
            connection.transition(ConnectionState.ACCEPTING);
            connection.timeout = connection.runtime.after(CONNECT_TIMEOUT_NANOS, connection::connectTimedOut);
            connection.setup.accept(request.connectionParameters());
            return connection;
        } catch (ProtocolException e) {
            connection.runtime.closed(connection);
            throw e;
        } finally {
            connection.lock.unlock();
        }
    }

    private void connectTimedOut() {
        lock.lock();
        try {
            if (connecting()) {
                failConnect(ConnectFailures.timedOut(state.toString(), setup.remote()));
            }
        } finally {
            lock.unlock();
        }
        tellListener();
    }

    /** Whether connecting or accepting is under way. Lock held. */
    boolean connecting() {
        return state.compareTo(ConnectionState.CONNECTED) < 0;
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
                throw ConnectFailures.again(connectFailure);
            }
            return !connecting();
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

    /** A worker is going to use the id or the resources. Lock held. */
    void workBegins() {
        end.workBegins();
    }

    /** It is not going to after all. Lock held. */
    void workNeverBegan() {
        end.workEnds();
    }

    /** A worker has done so; the connection fails with its failure if it is still being made. */
    void workEnds(IOException failure) {
        lock.lock();
        try {
            end.workEnds();
            if (failure != null && connecting()) {
                failConnect(failure);
            } else {
                proceedToEnd();
            }
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

    // -- communication events, in the event loop's thread --

    void onEvent(CommunicationEvent event) {
        lock.lock();
        try {
            react(event);
        } catch (VerbsException e) {
            failConnect(runtime.failures().of(e, setup.remote()));
        } catch (IOException e) {
            failConnect(e);
        } finally {
            lock.unlock();
        }
        tellListener();
    }

    private void react(CommunicationEvent event) throws IOException {
        if (end.destroying()) {
            return; // nothing can matter any more, and the resources are being closed
        }
        switch (EventReaction.of(state, event.type())) {
            case RESOLVE_ROUTE -> {
                transition(ConnectionState.RESOLVING_ROUTE);
                setup.resolveRoute();
            }
            case SEND_REQUEST -> {
                transition(ConnectionState.CONNECTING);
                setup.sendRequest();
            }
            case ESTABLISH -> establish(event);
            case RETRY_OR_FAIL -> {
                if (!setup.resolveAgain(event)) {
                    failConnect(runtime.failures().of(event.type(), event.status(), setup.remote()));
                }
            }
            case FAIL -> failConnect(runtime.failures().of(event.type(), event.status(), setup.remote()));
            case END -> {
                if (protocol != null) {
                    protocol.process();
                    protocol.ended();
                    afterProgress();
                }
                end.disconnect();
            }
            case BREAK -> {
                if (protocol != null) {
                    breakOff(runtime.failures().deviceRemoved("on the way to " + setup.remote()));
                }
            }
            case IGNORE -> LOG.log(Level.DEBUG, "{0} has no consequence for {1}", event, this);
        }
    }

    private void establish(CommunicationEvent event) throws IOException {
        completions.introduce(setup.resources());
        protocol = setup.establish(event);
        cancelTimeout();
        transition(ConnectionState.CONNECTED);
        completions.begin();
        if (protocol.awaitsFirstMessage()) {
            // answered by the event loop, for the application may not look before it expects data
            watchByEventLoop();
        }
        setup.resources().memory.whenGrown(this::memoryGrown);
        keepAlive.restart();
        attend();
        update();
        publish();
    }

    // -- readiness --

    @Override
    int readiness() {
        if (state == ConnectionState.FAILED) {
            return SelectionKey.OP_CONNECT;
        }
        if (connecting()) {
            return 0;
        }
        return SelectionKey.OP_CONNECT | (protocol == null ? 0 : ioReadiness());
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
        boolean bothEnded = protocol.outputShut() && (protocol.inputEnded() || reader.isShut());
        return failed || bothEnded ? ready | HUNG_UP : ready;
    }

    @Override
    void update() {
        if (protocol == null || end.destroying()) {
            return;
        }
        boolean first = protocol.awaitsFirstMessage();
        if (protocol.process()) {
            afterProgress();
        }
        if (first && !protocol.awaitsFirstMessage()) {
            completions.reviewEventLoop();
        }
        while (!end.destroying() && completions.prepare()) {
            if (protocol.process()) {
                afterProgress();
            }
        }
    }

    private void memoryGrown() {
        lock.lock();
        try {
            protocol.memoryGrown();
            update();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean needsGroup() {
        return runtime.hasGroups();
    }

    @Override
    public CompletionQueueGroup openGroup() throws VerbsException {
        return runtime.openGroup();
    }

    @Override
    WaitGroups waitGroups() {
        return runtime.waitGroups();
    }

    @Override
    void sleepersChanged() {
        if (protocol != null && !end.destroying()) {
            completions.sleepersChanged();
        }
    }

    @Override
    void watchRemoved(Watch watch) {
        if (!end.destroying()) {
            completions.removed(watch);
        }
    }

    @Override
    void attend() {
        completions.attend(state == ConnectionState.CONNECTED);
    }

    @Override
    void lookedAt() {
        completions.lookedAt();
    }

    @Override
    void leftAlone() {
        if (state == ConnectionState.CONNECTED && completions.leftAlone()) {
            update();
        }
    }

    @Override
    public Presence presence(Runnable whenAway) {
        return runtime.attendance().presence(whenAway);
    }

    /** Whether somebody is to be told of what comes. Lock held. */
    boolean needsNotification() {
        return protocol.failure() == null && (anyoneSleeps() || goesOnByItself());
    }

    /** Whether something is to be done that the application does not wait for. Lock held. */
    boolean goesOnByItself() {
        return protocol.awaitsFirstMessage()
                || (completions.unattended() && state == ConnectionState.CONNECTED && protocol.receives())
                || ((state == ConnectionState.CLOSING || protocol.controlPending()) && !protocol.drained());
    }

    /** Breaks the stream. Lock held. */
    void breakOff(IOException reason) {
        protocol.fail(reason);
        afterProgress();
    }

    /** What follows a call of the protocol that may have found the stream broken. Lock held. */
    void checkFailure() {
        if (protocol.failure() != null && !end.disconnecting()) {
            afterProgress();
        }
    }

    private void afterProgress() {
        if (protocol.broken()) {
            end.disconnect();
        }
        publish();
        proceedToEnd();
    }

    @Override
    void notified() {
        if (protocol != null && !end.destroying()) {
            completions.takeEvent();
        }
    }

    @Override
    public int descriptor() {
        return completions.descriptor();
    }

    @Override
    void watchByEventLoop() throws IOException {
        if (!end.destroying()) {
            completions.byEventLoop();
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

    /** What a reader or writer is told of a connection that has broken: a fresh exception, the reason as its cause. */
    static SocketException broken(IOException reason) {
        SocketException broken = new SocketException(reason.getMessage());
        broken.initCause(reason);
        return broken;
    }

    /** Has the connection kept alive from now on, or no more. */
    public void keepAlive(KeepAlive settings) {
        lock.lock();
        try {
            keepAlive.configure(settings);
        } finally {
            lock.unlock();
        }
    }

    /** Ends our output; what was written before is delivered. */
    public void shutdownOutput() {
        lock.lock();
        try {
            protocol.shutdownOutput();
            endInBackground();
            update();
            checkFailure();
            publish();
        } finally {
            lock.unlock();
        }
    }

    /** The sizes the stream has or is getting; null before it connects. */
    public StreamConfiguration sizes() {
        lock.lock();
        try {
            return state == ConnectionState.NEW ? null : setup.sizes();
        } finally {
            lock.unlock();
        }
    }

    /** Changes with every read and write, so that two looks tell whether somebody uses the connection. */
    long useCount() {
        lock.lock();
        try {
            return protocol == null ? 0 : protocol.useCount();
        } finally {
            lock.unlock();
        }
    }

    // -- addresses --

    /** The local address, or null if there is none yet. */
    public InetSocketAddress localAddress() {
        lock.lock();
        try {
            return setup.id() == null || end.destroying() ? null : setup.id().localAddress();
        } finally {
            lock.unlock();
        }
    }

    /** The address of the peer, or null if it never had one. */
    public InetSocketAddress remoteAddress() {
        lock.lock();
        try {
            return setup.remote();
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
            if (abort) {
                end.abort();
            }
            if (state.compareTo(ConnectionState.CLOSING) < 0) {
                cancelTimeout();
                keepAlive.stop();
                if (state == ConnectionState.NEW) {
                    end.bare();
                }
                transition(ConnectionState.CLOSING);
                if (protocol != null && !end.aborted()) {
                    drain();
                }
                publish();
            }
            proceedToEnd();
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        protocol.disconnect();
        checkFailure();
        if (!protocol.drained()) {
            timeout = runtime.after(DRAIN_TIMEOUT_NANOS, () -> close(true));
            endInBackground();
            update();
        }
    }

    /** Has the event loop go on with what the application does not wait for. */
    private void endInBackground() {
        if (!goesOnByItself()) {
            return;
        }
        try {
            watchByEventLoop();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "The end of " + this + " can't be watched; it is broken off", e);
            end.abort();
        }
    }

    /** The channel uses neither the connection nor its descriptor any more; it may be destroyed once it is closed. */
    public void release() {
        lock.lock();
        try {
            end.release();
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
        return end.awaitDrained(nanos);
    }

    private void proceedToEnd() {
        if (state == ConnectionState.CLOSING || state == ConnectionState.FAILED) {
            end.proceed(protocol != null && !protocol.drained());
        }
    }

    /** The resources are going to be destroyed: neither a timer nor the event loop looks at them any more. Lock held. */
    void unwatch() {
        cancelTimeout();
        completions.end();
    }

    /** The resources have been destroyed. */
    void destroyed() {
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
                    || (protocol != null
                            && protocol.readable() == 0
                            && (protocol.failure() != null || protocol.peerGone()));
        } finally {
            lock.unlock();
        }
    }

    /** Tells the log why a connection of a listener never reached the application. */
    void logFailure() {
        lock.lock();
        try {
            if (connectFailure != null) {
                // a peer that gives up is no concern of ours; what this host lacks is
                boolean ours = connectFailure.getCause() instanceof VerbsException e && ConnectFailures.isOurs(e);
                LOG.log(
                        ours ? Level.WARNING : Level.DEBUG,
                        "A connection from " + setup.remote() + " was not accepted",
                        connectFailure);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "StreamConnection[" + state + ", peer=" + setup.remote() + "]";
    }
}
