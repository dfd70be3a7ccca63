package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.spi.QueriedQueuePair;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A reliable connection's queue pair: its states and attributes, and what holds its parts together. {@link Sender},
 * {@link Receiver} and {@link Inbound} do the work, {@link PeerLink} knows the peer.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code changing} guards changes of the state and of the
 * connection; it is taken before any claim, and never by whoever holds a claim. Nothing blocks under it.
 */
final class SoftQueuePair implements QueuePairHandle, ConnectedQueuePair, MemoryUser {
    /** The most requests of either queue. */
    static final int MAX_WORK_REQUESTS = 1 << 16;
    /** The most scatter-gather entries of a request. */
    static final int MAX_SGES = 32;
    /** The most inline data of a request. */
    static final int MAX_INLINE_BYTES = 1 << 20;

    private static final List<QueuePairState> CONNECTING =
            List.of(QueuePairState.INITIALIZED, QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND);
    private static final String CREATE = "ibv_create_qp";
    private static final long RETRY_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final SoftContext context;
    private final SoftHost host;
    private final SoftProtectionDomain domain;
    private final SoftCompletionQueue sendQueue;
    private final SoftCompletionQueue receiveQueue;
    private final SoftSharedReceiveQueue shared;
    private final boolean signalAll;
    private final QueuePairCapabilities capabilities;
    private final long asyncElement;
    private final int number;
    private final QueuePairSettings settings;
    private final Sender sender;
    private final Receiver receiver;
    private final Inbound inbound;
    private final PeerLink connection;
    private final Runnable progressTask = this::progress;

    private final AtomicBoolean lastReceiveTold = new AtomicBoolean();
    private final Quiet quiet = new Quiet();
    private final ReentrantLock changing = new ReentrantLock();
    // Guarded by changing.
    private volatile boolean destroyed;
    private volatile boolean tellWhenDrained;

    /**
     * Makes one.
     *
     * @param context its device
     * @param domain its domain
     * @param request what it is made of
     * @throws VerbsException when the device has no such queue pair
     */
    SoftQueuePair(SoftContext context, SoftProtectionDomain domain, QueuePairRequest request) throws VerbsException {
        this.context = context;
        this.host = context.host();
        this.domain = domain;
        this.sendQueue = (SoftCompletionQueue) request.sendQueue();
        this.receiveQueue = (SoftCompletionQueue) request.receiveQueue();
        this.shared = (SoftSharedReceiveQueue) request.sharedReceiveQueue();
        this.signalAll = request.signalAll();
        this.capabilities = grant(request);
        this.asyncElement = context.nextElement();
        this.number = host.queuePairs().add(this);
        this.settings = new QueuePairSettings(number, capabilities);
        LocalMemory memory = new LocalMemory(host.keys(), domain, number);
        SendQueue sends = new SendQueue(
                capabilities.maxSendWorkRequests(), capabilities.maxSendSges(), capabilities.maxInlineBytes());
        this.sender = new Sender(this, sendQueue, sends, memory, signalAll);
        ReceiveQueue receives = new ReceiveQueue(capabilities.maxReceiveWorkRequests(), capabilities.maxReceiveSges());
        this.receiver = new Receiver(this, receives, memory);
        LocalMemory receiveMemory = shared == null ? memory : new LocalMemory(host.keys(), shared.domain(), number);
        this.inbound = new Inbound(this, new Responder(this, receives, shared, receiveMemory, memory));
        this.connection = new PeerLink(this, domain, capabilities.maxReceiveWorkRequests());
        domain.join(this);
        if (shared != null) {
            // What arrives is written to the memory of that domain, which may be another.
            shared.domain().join(this);
        }
    }

    private static QueuePairCapabilities grant(QueuePairRequest request) throws VerbsException {
        QueuePairCapabilities wanted = request.capabilities();
        if (request.type() != QueuePairType.RELIABLE_CONNECTED) {
            throw new VerbsException(
                    CREATE,
                    request.type() + ", " + wanted,
                    Errno.EOPNOTSUPP,
                    "The device does not have this operation, or no queue pairs of this type: it has"
                            + " RELIABLE_CONNECTED.");
        }
        boolean suits = inRange(wanted.maxSendWorkRequests(), MAX_WORK_REQUESTS)
                && inRange(wanted.maxReceiveWorkRequests(), MAX_WORK_REQUESTS)
                && inRange(wanted.maxSendSges(), MAX_SGES)
                && inRange(wanted.maxReceiveSges(), MAX_SGES)
                && inRange(wanted.maxInlineBytes(), MAX_INLINE_BYTES);
        if (!suits) {
            throw new VerbsException(
                    CREATE,
                    request.type() + ", " + wanted,
                    Errno.EINVAL,
                    "A queue has at most " + MAX_WORK_REQUESTS + " work requests, a request at most " + MAX_SGES
                            + " scatter-gather entries and " + MAX_INLINE_BYTES + " bytes of inline data.");
        }
        boolean shares = request.sharedReceiveQueue() != null;
        return new QueuePairCapabilities(
                wanted.maxSendWorkRequests(),
                shares ? 0 : wanted.maxReceiveWorkRequests(),
                Math.max(1, wanted.maxSendSges()),
                shares ? 0 : Math.max(1, wanted.maxReceiveSges()),
                wanted.maxInlineBytes());
    }

    private static boolean inRange(int value, int max) {
        return value >= 0 && value <= max;
    }

    // What it is made of.

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public long asyncElement() {
        return asyncElement;
    }

    SoftContext context() {
        return context;
    }

    SoftHost host() {
        return host;
    }

    /**
     * The domain in which keys mean something that a peer names.
     *
     * @param pair the pair of the peer
     * @return the domain; null when this is not connected with that process
     */
    SoftProtectionDomain domainFor(ProcessPair pair) {
        return connection.isWith(pair) ? domain : null;
    }

    SoftCompletionQueue receiveQueue() {
        return receiveQueue;
    }

    Inbound inbound() {
        return inbound;
    }

    Sender sender() {
        return sender;
    }

    Receiver receiver() {
        return receiver;
    }

    @Override
    public boolean usesSharedReceiveQueue() {
        return shared != null;
    }

    // What the data path asks.

    boolean isReset() {
        return settings.state() == QueuePairState.RESET;
    }

    boolean isError() {
        return settings.state() == QueuePairState.ERROR;
    }

    /** Whether sends may be posted. */
    boolean acceptsSends() {
        QueuePairState state = settings.state();
        return state == QueuePairState.READY_TO_SEND
                || state == QueuePairState.ERROR
                || state == QueuePairState.SEND_QUEUE_DRAINED;
    }

    /** Whether sends are executed. */
    boolean isSending() {
        return settings.state() == QueuePairState.READY_TO_SEND;
    }

    /** Whether what arrives is taken. */
    boolean isReceiving() {
        QueuePairState state = settings.state();
        return state == QueuePairState.READY_TO_SEND
                || state == QueuePairState.READY_TO_RECEIVE
                || state == QueuePairState.SEND_QUEUE_DRAINED;
    }

    int accessFlags() {
        return settings.accessFlags;
    }

    int timeout() {
        return settings.timeout;
    }

    int retryCount() {
        return settings.retryCount;
    }

    int rnrRetryCount() {
        return settings.rnrRetryCount;
    }

    int minRnrTimer() {
        return settings.minRnrTimer;
    }

    // Posting.

    /** {@inheritDoc} It does: both take the claims. */
    @Override
    public boolean isSafeToPostWhenDestroyed() {
        return true;
    }

    @Override
    public int postSend(MemorySegment first) {
        return sender.post(first);
    }

    @Override
    public int postSend(MemorySegment request, ByteBuffer data, int position, int lengthBytes) {
        return sender.post(request, data, position, lengthBytes);
    }

    @Override
    public int postReceive(MemorySegment first) {
        return receiver.post(first);
    }

    @Override
    public int postEmptyReceives(int count) {
        return receiver.postEmpty(count);
    }

    /** Executes a request that concerns this process alone; a completion's status. */
    int executeLocally(SendQueue sends, int base, int opcode) {
        long[] words = sends.words;
        if (opcode == SendOpcode.LOCAL_INVALIDATE) {
            return (invalidate((int) words[base + SendQueue.IMMEDIATE])
                            ? WorkCompletionStatus.SUCCESS
                            : WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR)
                    .value();
        }
        SoftMemoryWindow.Bind bind = new SoftMemoryWindow.Bind(
                words[base + SendQueue.OPERAND],
                (int) words[base + SendQueue.SWAP],
                words[base + SendQueue.BIND_REGION],
                words[base + SendQueue.BIND_ADDRESS],
                words[base + SendQueue.BIND_LENGTH],
                (int) words[base + SendQueue.BIND_ACCESS]);
        return (SoftMemoryWindow.bind(domain, number, bind)
                        ? WorkCompletionStatus.SUCCESS
                        : WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR)
                .value();
    }

    /** Ends the key of a memory window; false when it is none that this queue pair may end. */
    boolean invalidate(int key) {
        return SoftMemoryWindow.invalidate(domain, number, key);
    }

    // Progress.

    /** The peer has given us work, or we have: for the progress thread. */
    void progress() {
        boolean received = inbound.progress();
        boolean sent = sender.progress();
        if (!received || !sent) {
            // Somebody holds a claim, who may not see what we came for.
            schedule(RETRY_NANOS, progressTask);
        }
        if (tellWhenDrained) {
            tellIfDrained();
        }
    }

    /** Has the progress thread look after this. */
    void progressSoon() {
        host.progress().execute(progressTask);
    }

    ProgressThread.Timer schedule(long nanos, Runnable task) {
        return host.progress().schedule(System.nanoTime() + nanos, task);
    }

    /** It has something to receive, as the poller of a completion queue found out. */
    void offerReady(SoftCompletionQueue taker) {
        receiveQueue.offerReady(inbound, taker);
    }

    /** Has the peer look after its end. */
    void kickPeer() {
        connection.kickPeer();
    }

    /** The peer waits for a receive. The caller has the inbound claim. */
    void wantCredit() {
        receiver.want();
    }

    // States.

    @Override
    public void modify(QueuePairAttributes change) throws VerbsException {
        QueuePairState to;
        changing.lock();
        try {
            QueuePairState from = settings.state();
            to = settings.check(change, context.gidCount());
            if (from == QueuePairState.SEND_QUEUE_DRAINED
                    && to == QueuePairState.READY_TO_SEND
                    && sender.isDraining()) {
                throw new VerbsException(
                        "ibv_modify_qp", "queuePair=" + number, Errno.EINVAL, "The send queue is draining still.");
            }
            if (to == QueuePairState.RESET) {
                reset();
                return;
            }
            if (from == QueuePairState.INITIALIZED && to == QueuePairState.READY_TO_RECEIVE) {
                connection.seek(change.addressVector().route().destination(), change.destinationNumber());
            }
            settings.apply(change);
            if (!settings.change(from, to)) {
                throw new VerbsException(
                        "ibv_modify_qp", "queuePair=" + number, Errno.EINVAL, "It has just gone to ERROR.");
            }
            connection.publishState();
            tellWhenDrained = to == QueuePairState.SEND_QUEUE_DRAINED
                    && change.marked().contains(QueuePairAttribute.DRAINED_NOTIFICATION)
                    && change.drainedNotification();
        } finally {
            changing.unlock();
        }
        if (to == QueuePairState.ERROR) {
            finishError();
        } else if (to == QueuePairState.READY_TO_SEND || to == QueuePairState.SEND_QUEUE_DRAINED) {
            progressSoon();
        }
    }

    private void tellIfDrained() {
        changing.lock();
        try {
            if (tellWhenDrained && !sender.isDraining()) {
                tellWhenDrained = false;
                context.raise(TakenAsyncEvent.ofObject(AsyncEventType.SEND_QUEUE_DRAINED, asyncElement));
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public boolean isDestroyed() {
        return destroyed;
    }

    @Override
    public void connect(ConnectionPeer peer, Agreement agreement) throws VerbsException {
        ProcessPair pair = (ProcessPair) peer;
        changing.lock();
        try {
            QueuePairState state = settings.state();
            if (destroyed || (state != QueuePairState.RESET && state != QueuePairState.INITIALIZED)) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "queuePair=" + number,
                        Errno.EINVAL,
                        "It is in state " + state + " and can't be connected.");
            }
            for (QueuePairState step : CONNECTING) {
                settings.apply(IdAttributes.of(agreement, peer, step));
            }
            if (settings.change(state, QueuePairState.READY_TO_SEND)) {
                connection.open(pair, agreement.peerQueuePair());
            }
        } finally {
            changing.unlock();
        }
        if (pair.isDead() || connection.isOverDeadPair()) {
            enterError();
        }
    }

    /** {@inheritDoc} In RESET it stays, as there is nothing that could fail. */
    @Override
    public void enterError() {
        if (markError()) {
            finishError();
        }
    }

    /**
     * Brings it to ERROR, from which on nothing is executed. Called with claims held, too; whoever gets true, or found
     * the error, calls {@link #finishError} without them.
     */
    boolean markError() {
        return settings.fail();
    }

    /** Flushes, and tells the peer. */
    void finishError() {
        sender.flush();
        receiver.quiesce();
        flushReceives();
        kickPeer();
    }

    /** Takes what has arrived, and completes the receives that are left; also those posted when it was in error already. */
    void flushReceives() {
        inbound.claim().acquire();
        try {
            // Under the claim, for which RESET waits: what is posted after it has nothing to do with this error.
            if (isError()) {
                connection.publishState();
                takeLast();
                receiver.flush(receiveQueue);
                if (shared != null && lastReceiveTold.compareAndSet(false, true)) {
                    context.raise(TakenAsyncEvent.ofObject(AsyncEventType.LAST_RECEIVE_REACHED, asyncElement));
                }
            }
        } finally {
            inbound.claim().release();
        }
    }

    private void takeLast() {
        try {
            inbound.takeLast();
        } catch (ViolationException e) {
            fault(e);
        }
    }

    /** The caller has changing. */
    private void reset() {
        settings.beginReset();
        connection.close();
        sender.reset();
        inbound.claim().acquire();
        try {
            receiver.clear();
        } finally {
            inbound.claim().release();
        }
        if (shared != null) {
            shared.forget(this);
        }
        settings.reset();
        tellWhenDrained = false;
        lastReceiveTold.set(false);
    }

    @Override
    public QueriedQueuePair query(int mask) throws VerbsException {
        changing.lock();
        try {
            boolean draining = settings.state() == QueuePairState.SEND_QUEUE_DRAINED && sender.isDraining();
            return new QueriedQueuePair(settings.query(mask, draining), capabilities, signalAll);
        } finally {
            changing.unlock();
        }
    }

    // The peer.

    /** Runs something that changes the connection. */
    ReentrantLock changing() {
        return changing;
    }

    /**
     * The peer's queue pair is ready, and this is where to send. On the progress thread.
     *
     * @param pair the pair that the message came over
     * @param message where to send
     * @throws ProtocolException when there is no such place
     */
    void attached(ProcessPair pair, ControlMessage.Attach message) throws ProtocolException {
        connection.attached(pair, message);
    }

    /**
     * The peer could not keep what it was told of this queue pair, and needs it now. On the progress thread.
     *
     * @param pair the pair that the message came over
     * @param message who asks
     */
    void attachWanted(ProcessPair pair, ControlMessage.AttachWanted message) {
        connection.attachWanted(pair, message);
    }

    /**
     * The peer's queue pair receives no more: this answers {@link ControlMessage.Detached} when it writes there no more.
     * On the progress thread.
     *
     * @param pair the pair that the message came over
     * @param message the area
     */
    void detached(ProcessPair pair, ControlMessage.Detach message) {
        connection.detached(pair, message);
        progress();
    }

    /**
     * The pair is dead; on the progress thread.
     *
     * @param pair the pair
     */
    void peerDied(ProcessPair pair) {
        if (connection.uses(pair)) {
            // Also when it is in error already: whoever brought it there may not have taken yet what arrived before.
            markError();
            finishError();
            connection.peerDied(pair);
        }
    }

    /** The state as the peer sees it. */
    int peerVisibleState() {
        if (isReceiving()) {
            return Area.OPEN;
        }
        return isError() ? Area.DOWN : Area.NOT_OPEN;
    }

    /** The data path met memory that the peer spoilt. */
    void fault(ViolationException violation) {
        connection.kill(violation.getMessage());
    }

    @Override
    public void quiesce() {
        sender.quiesce();
        inbound.claim().acquire();
        inbound.claim().release();
    }

    @Override
    public void destroy() {
        changing.lock();
        try {
            destroyed = true;
            reset();
        } finally {
            changing.unlock();
        }
        domain.leave(this);
        if (shared != null) {
            shared.domain().leave(this);
        }
        host.queuePairs().remove(number);
        context.forget(asyncElement);
        quiet.release();
    }

    @Override
    public boolean keepForQuiet(Runnable task) {
        quiet.task(task);
        return true;
    }

    /** Who waits for the last write of a peer. */
    Quiet quiet() {
        return quiet;
    }
}
