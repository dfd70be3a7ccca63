package io.rdmanio.verbs;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.QueriedQueuePair;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import io.rdmanio.verbs.spi.VerbsAccess.QueuePairMaker;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A queue pair ({@code struct ibv_qp}): work is posted to its send and receive queues, and its completions arrive in
 * its completion queues. Made by {@link ProtectionDomain#createQueuePair}, and connected by {@link #modify} with what the peer
 * told by other means; or made by {@link io.rdmanio.verbs.cm.CommunicationId#createQueuePair}, which connects it.
 * Thread-safe, but a work request is for one thread at a time.
 */
public final class QueuePair implements AutoCloseable {
    final QueuePairHandle handle;
    final Lifecycle life;
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final int number;
    private final QueuePairInitAttributes initAttributes;
    // The answer to a post to a queue that this queue pair does not have, or 0. Not every driver looks: siw divides by
    // the queue's size.
    private final int refusedSend;
    private final int refusedReceive;
    private final boolean postsBuffers;
    private final boolean keepsCloseAway;
    private final AsyncSource asyncSource;
    // Guarded by itself. A queue pair that is in a group can't be destroyed.
    private final Set<Membership> memberships = new HashSet<>();
    // Run by the destroy; null when there is none, or the engine has it.
    private final AtomicBoolean quietTaskGiven = new AtomicBoolean();
    private volatile Runnable quietTask;

    private QueuePair(
            DeviceContext context,
            ProtectionDomain domain,
            QueuePairHandle handle,
            QueuePairInitAttributes wanted,
            Lifecycle... parents) {
        this.context = context;
        this.domain = domain;
        this.handle = handle;
        this.number = handle.number();
        this.initAttributes = wanted.withCapabilities(handle.capabilities());
        this.refusedSend = refusedSend();
        this.refusedReceive = refusedReceive();
        this.postsBuffers = context.postsBuffers();
        this.keepsCloseAway = !handle.isSafeToPostWhenDestroyed();
        this.life = new Lifecycle(HandleKind.QUEUE_PAIR, this::destroy, parents);
        this.asyncSource = context.asyncEvents.register(handle.asyncElement(), this);
    }

    private int refusedSend() {
        if (type() == QueuePairType.XRC_RECEIVE) {
            return Errno.EINVAL;
        }
        return capabilities().maxSendWorkRequests() == 0 ? Errno.ENOMEM : 0;
    }

    private int refusedReceive() {
        if (initAttributes.sharedReceiveQueue() != null
                || type() == QueuePairType.XRC_SEND
                || type() == QueuePairType.XRC_RECEIVE) {
            return Errno.EINVAL;
        }
        return capabilities().maxReceiveWorkRequests() == 0 ? Errno.ENOMEM : 0;
    }

    private void destroy() throws VerbsException {
        VerbsException notLeft = leaveGroups();
        asyncSource.beginDestroy();
        try {
            handle.destroy();
        } catch (VerbsException e) {
            if (notLeft != null) {
                e.addSuppressed(notLeft);
            }
            throw e;
        }
        asyncSource.endDestroy();
        Runnable task = quietTask;
        if (task != null) {
            task.run();
        }
    }

    /**
     * Has a task run when the queue pair is destroyed and nothing that the peer has begun reaches this side's memory through
     * it any more, so that the memory may be used for something else. With a device of hardware that is as soon as it is
     * destroyed. Over the software device the peer's processor does the copying: the task runs when the peer's process
     * has said that it is through, or has ended, which may be after {@link #close} has returned.
     *
     * @param task the task; must not block, run by the thread that closes or by one of the engine's
     * @throws IllegalStateException after close, or when there is a task already
     */
    public void onQuiet(Runnable task) {
        Objects.requireNonNull(task, "task");
        life.enter();
        try {
            if (!quietTaskGiven.compareAndSet(false, true)) {
                throw new IllegalStateException("this queue pair has such a task already");
            }
            quietTask = handle.keepForQuiet(task) ? null : task;
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a queue pair of a domain.
     *
     * @param others lives of further parents, which the caller has entered
     */
    static QueuePair create(
            QueuePairMaker maker, ProtectionDomain domain, QueuePairInitAttributes wanted, Lifecycle... others)
            throws VerbsException {
        List<Lifecycle> parts = new ArrayList<>();
        parts.add(domain.life);
        CompletionQueue send = wanted.sendQueue();
        if (send != null) {
            requireSameDevice(domain, send.context());
            parts.add(send.life);
        }
        CompletionQueue receive = wanted.receiveQueue();
        if (receive != null) {
            requireSameDevice(domain, receive.context());
            parts.add(receive.life);
        }
        SharedReceiveQueue shared = wanted.sharedReceiveQueue();
        if (shared != null) {
            requireSameDevice(domain, shared.context());
            parts.add(shared.life);
        }
        XrcDomain xrcDomain = wanted.xrcDomain();
        if (xrcDomain != null) {
            requireSameDevice(domain, xrcDomain.context());
            parts.add(xrcDomain.life);
        }
        int entered = 0;
        try {
            for (Lifecycle part : parts) {
                part.enter();
                entered++;
            }
            QueuePairHandle handle = maker.make(
                    domain.handle,
                    new QueuePairRequest(
                            wanted.type(),
                            wanted.capabilities(),
                            send == null ? null : send.handle,
                            receive == null ? null : receive.handle,
                            wanted.signalAll(),
                            shared == null ? null : shared.handle,
                            xrcDomain == null ? null : xrcDomain.handle));
            return new QueuePair(
                    domain.context(),
                    domain,
                    handle,
                    wanted,
                    Stream.concat(Stream.of(others), parts.stream()).toArray(Lifecycle[]::new));
        } finally {
            parts.subList(0, entered).forEach(Lifecycle::exit);
        }
    }

    /** One that exists already; the caller is inside its XRC domain. */
    static QueuePair opened(XrcDomain xrcDomain, QueuePairHandle handle) {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(
                        QueuePairType.XRC_RECEIVE, handle.capabilities())
                .withXrcDomain(xrcDomain);
        return new QueuePair(xrcDomain.context(), null, handle, attributes, xrcDomain.life);
    }

    DeviceContext context() {
        return context;
    }

    private static void requireSameDevice(ProtectionDomain domain, DeviceContext other) {
        if (other != domain.context()) {
            throw new IllegalArgumentException("the parts of a queue pair belong to different devices");
        }
    }

    /**
     * The queue pair's number.
     *
     * @return qp_num
     */
    public int number() {
        return number;
    }

    /**
     * The sizes that the device granted when the queue pair was created.
     *
     * @return the sizes
     */
    public QueuePairCapabilities capabilities() {
        return initAttributes.capabilities();
    }

    /**
     * The transport service.
     *
     * @return qp_type
     */
    public QueuePairType type() {
        return initAttributes.type();
    }

    /**
     * The protection domain that it was created in.
     *
     * @return the domain; null when an XRC domain opened it
     */
    public ProtectionDomain domain() {
        return domain;
    }

    /**
     * What it was made of, with the sizes that the device granted.
     *
     * @return the attributes
     */
    public QueuePairInitAttributes initAttributes() {
        return initAttributes;
    }

    /**
     * Posts a send work request and those that follow it (ibv_post_send(3)). Does not block, allocates nothing; a
     * system call in software drivers. When it fails, requests before the one that failed are posted all the same. Any
     * number of threads may post at once, each a list of its own.
     *
     * @param first the first of the list
     * @throws PostException when the queue is full or a request too large for it ({@code ENOMEM}), a request is invalid
     *     or the queue pair not ready to send ({@code EINVAL}); tells the first request that was not posted
     * @throws VerbsException when it fails otherwise
     * @throws IllegalArgumentException when a request for a datagram queue pair has no address handle of its domain, one
     *     lacks the memory window or header that its opcode needs, or its inline data has 2 GiB or more, or lies at
     *     address 0 or in a region that is named by addresses of its own
     * @throws IllegalStateException after close, of a work request or an address handle too; or when the memory was freed
     *     of a region whose data shall be sent inline
     */
    public void postSend(SendWorkRequest first) throws VerbsException {
        beginPost();
        int errno;
        try {
            MemorySegment list = first.beginPost(type() == QueuePairType.UNRELIABLE_DATAGRAM ? domain : null);
            try {
                errno = refusedSend == 0 ? handle.postSend(list) : SendWorkRequestLayout.refuse(list, refusedSend);
            } finally {
                first.endPost();
            }
        } finally {
            Reference.reachabilityFence(first);
            endPost();
        }
        if (errno != 0) {
            throw postFailure(first, errno);
        }
    }

    /**
     * Posts one send work request whose data lies in a buffer, which is the caller's again when this returns: inline data,
     * as {@link SendFlags#INLINE} has it, of any kind of buffer, on the heap too. {@link DeviceContext#postsBuffers} tells
     * whether it is copied once, to where it goes, or into the request before. Thread-safe as {@link #postSend(SendWorkRequest)}
     * is, but for the buffer and the request. Does not block.
     *
     * @param request the request, flagged as inline, without a next one; its entries are not looked at, and the first may be
     *     overwritten
     * @param data the buffer; neither its position nor its limit is changed
     * @param position where the data begins in it
     * @param lengthBytes how long it is, up to {@link QueuePairCapabilities#maxInlineBytes()}
     * @throws PostException as {@link #postSend(SendWorkRequest)}
     * @throws VerbsException as {@link #postSend(SendWorkRequest)}
     * @throws IndexOutOfBoundsException when the piece is not within the buffer's limit
     * @throws IllegalArgumentException when the request is not flagged as inline, has a next one or no room for an entry;
     *     and as {@link #postSend(SendWorkRequest)}
     * @throws IllegalStateException as {@link #postSend(SendWorkRequest)}
     */
    public void postSend(SendWorkRequest request, ByteBuffer data, int position, int lengthBytes)
            throws VerbsException {
        Objects.checkFromIndexSize(position, lengthBytes, data.limit());
        request.requireInlineAlone();
        if (lengthBytes > capabilities().maxInlineBytes()) {
            throw postFailure(request, SendWorkRequestLayout.refuse(request.memory(), Errno.EINVAL));
        }
        if (!postsBuffers) {
            request.stage(data, position, lengthBytes);
            postSend(request);
            return;
        }
        beginPost();
        int errno;
        try {
            MemorySegment memory =
                    request.beginPostOfBuffer(type() == QueuePairType.UNRELIABLE_DATAGRAM ? domain : null);
            try {
                errno = refusedSend == 0
                        ? handle.postSend(memory, data, position, lengthBytes)
                        : SendWorkRequestLayout.refuse(memory, refusedSend);
            } finally {
                request.endPost();
            }
        } finally {
            Reference.reachabilityFence(request);
            endPost();
        }
        if (errno != 0) {
            throw postFailure(request, errno);
        }
    }

    private PostException postFailure(SendWorkRequest first, int errno) {
        life.requireOpen();
        return first.failure("ibv_post_send", subject(), Math.abs(errno), sendCure(Math.abs(errno)));
    }

    /** Keeps a close away, where the engine does not. */
    private void beginPost() {
        if (keepsCloseAway) {
            life.enter();
        } else {
            life.requireOpen();
        }
    }

    private void endPost() {
        if (keepsCloseAway) {
            life.exit();
        }
    }

    /**
     * Posts a receive work request and those that follow it (ibv_post_recv(3)). Does not block, allocates nothing; a
     * system call in some software drivers. When it fails, requests before the one that failed are posted all the same.
     * Any number of threads may post at once, each a list of its own.
     *
     * @param first the first of the list
     * @throws PostException when the queue is full ({@code ENOMEM}), or a request invalid, the queue pair just created
     *     or its receives taken from a {@link SharedReceiveQueue} ({@code EINVAL}); tells the first request that was not posted
     * @throws VerbsException when it fails otherwise
     * @throws IllegalStateException after close, of a work request too
     */
    public void postReceive(ReceiveWorkRequest first) throws VerbsException {
        beginPost();
        int errno;
        try {
            MemorySegment list = first.checkedList();
            errno = refusedReceive == 0
                    ? handle.postReceive(list)
                    : ReceiveWorkRequestLayout.refuse(list, refusedReceive);
        } finally {
            Reference.reachabilityFence(first);
            endPost();
        }
        if (errno != 0) {
            life.requireOpen();
            throw first.failure("ibv_post_recv", subject(), Math.abs(errno), receiveCure(Math.abs(errno)));
        }
    }

    /**
     * Posts receive work requests without scatter-gather entries at once, as what arrives without payload of its own needs:
     * writes with immediate data and empty sends. Their completions are numbered from 0 on. Does not block; posts those before
     * the one that failed all the same.
     *
     * @param count how many
     * @throws PostException when the queue is full ({@code ENOMEM}), or the queue pair just created or its receives
     *     taken from a {@link SharedReceiveQueue} ({@code EINVAL})
     * @throws IllegalArgumentException when it is less than 1
     * @throws IllegalStateException after close
     */
    public void postEmptyReceives(int count) throws VerbsException {
        if (count < 1) {
            throw new IllegalArgumentException("count " + count + " is less than 1");
        }
        beginPost();
        int errno;
        try {
            errno = refusedReceive == 0 ? handle.postEmptyReceives(count) : refusedReceive;
        } finally {
            endPost();
        }
        if (errno != 0) {
            life.requireOpen();
            throw PostException.unplaced(
                    "ibv_post_recv", subject() + ", count=" + count, Math.abs(errno), receiveCure(Math.abs(errno)));
        }
    }

    private String subject() {
        return "queuePair=" + number;
    }

    private String sendCure(int errno) {
        QueuePairCapabilities sizes = capabilities();
        return switch (errno) {
            case Errno.ENOMEM ->
                "This is not about memory: the send queue is full (" + sizes.maxSendWorkRequests()
                        + " work requests; poll completions of signaled ones first), or there is more inline data than "
                        + sizes.maxInlineBytes() + " bytes, or there are more than " + sizes.maxSendSges()
                        + " scatter-gather entries.";
            case Errno.EINVAL ->
                "The queue pair is not READY_TO_SEND (IBV_QPS_RTS) yet, or opcode, flags, inline length (at most "
                        + sizes.maxInlineBytes() + " bytes) or scatter-gather entries (at most " + sizes.maxSendSges()
                        + ") don't suit it.";
            default -> "";
        };
    }

    private String receiveCure(int errno) {
        QueuePairCapabilities sizes = capabilities();
        return switch (errno) {
            case Errno.ENOMEM ->
                "This is not about memory: the receive queue is full (" + sizes.maxReceiveWorkRequests()
                        + " work requests), or there are more than " + sizes.maxReceiveSges()
                        + " scatter-gather entries.";
            case Errno.EINVAL ->
                initAttributes.sharedReceiveQueue() != null
                        ? "Its receives come from a SharedReceiveQueue: post them there."
                        : "The queue pair is still in RESET, or there are more than " + sizes.maxReceiveSges()
                                + " scatter-gather entries.";
            default -> "";
        };
    }

    /**
     * Changes attributes, the state among them (ibv_modify_qp(3)): all that are marked, or none. Makes a system call.
     * {@link QueuePairTransitions} tells what each change of state needs.
     *
     * @param attributes what to change
     * @throws VerbsException when the state does not allow it or a value does not suit the device ({@code EINVAL}; says
     *     what is missing or does not belong there), the peer's address can't be resolved ({@code ETIMEDOUT},
     *     {@code ENETUNREACH}), or the device fails
     * @throws IllegalArgumentException when a state to be set is UNKNOWN
     * @throws IllegalStateException after close
     */
    public void modify(QueuePairAttributes attributes) throws VerbsException {
        attributes.requireKnownValues();
        life.enter();
        try {
            handle.modify(attributes);
        } catch (VerbsException e) {
            throw e.errno() == Errno.EINVAL ? explained(attributes, e) : e;
        } finally {
            life.exit();
        }
    }

    /** The same failure with the reason that the table of transitions knows. The caller is inside. */
    private VerbsException explained(QueuePairAttributes attributes, VerbsException failure) {
        String reason;
        if (context.transport() == TransportType.IWARP) {
            reason = "Over iWARP the connection manager changes the states of a queue pair.";
        } else {
            try {
                QueuePairState from = attributes.marked().contains(QueuePairAttribute.CURRENT_STATE)
                        ? attributes.currentState()
                        : handle.query(QueuePairAttribute.STATE.value())
                                .attributes()
                                .state();
                reason = QueuePairTransitions.explain(type(), from, attributes);
            } catch (VerbsException e) {
                failure.addSuppressed(e);
                return failure;
            }
        }
        VerbsException explained =
                new VerbsException(failure.operation(), subject() + ", " + attributes, failure.errno(), reason);
        explained.initCause(failure);
        return explained;
    }

    /**
     * Queries attributes (ibv_query_qp(3)). Makes a system call. Not to be relied on over the software iWARP device siw,
     * whose driver leaves most of them undefined, the state among them.
     *
     * @param wanted which attributes at least; a device may tell more. RATE_LIMIT can be set and not queried
     * @return what the device tells
     * @throws VerbsException when it fails, as for RATE_LIMIT ({@code EOPNOTSUPP})
     * @throws IllegalStateException after close
     */
    public QueuePairQuery query(Set<QueuePairAttribute> wanted) throws VerbsException {
        life.enter();
        try {
            QueriedQueuePair answer = handle.query(QueuePairAttribute.mask(wanted));
            return new QueuePairQuery(
                    answer.attributes(),
                    initAttributes.withCapabilities(answer.capabilities()).withSignalAll(answer.signalAll()));
        } finally {
            life.exit();
        }
    }

    /**
     * Sets how long a peer waits before it repeats a message that found no receive posted, by
     * {@link #modify(QueuePairAttributes)}. The connection manager leaves the longest time, 655 ms. Not for iWARP. Makes
     * a system call.
     *
     * @param code the time as coded there: 0 is 655.36 ms, 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms
     * @throws VerbsException when it fails, as in a state before READY_TO_SEND ({@code EINVAL})
     * @throws IllegalArgumentException when the code is not 0 to 31
     * @throws IllegalStateException after close
     */
    public void setMinRnrTimer(int code) throws VerbsException {
        modify(new QueuePairAttributes().minRnrTimer(code));
    }

    /**
     * Sets the state ERROR, by {@link #modify(QueuePairAttributes)}: all outstanding work completes with the status
     * FLUSHED, and so does what is posted from now on. Makes a system call.
     *
     * @throws VerbsException when it fails, as in the state RESET ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public void toError() throws VerbsException {
        modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    /**
     * Queries the state, by {@link #query}. Makes a system call. Not to be relied on over the software iWARP device siw:
     * its driver does not fill in the state, and any may be told.
     *
     * @return the state
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public QueuePairState state() throws VerbsException {
        return query(EnumSet.of(QueuePairAttribute.STATE)).attributes().state();
    }

    /**
     * Attaches the queue pair to a multicast group (ibv_attach_mcast(3)): it receives what is sent there to
     * {@link SendWorkRequest#MULTICAST_NUMBER} with its queue key. The group must have been joined, which the
     * connection manager does; then it attaches the queue pair as well. Attaching twice is attaching once. Makes a
     * system call.
     *
     * @param group the group's GID
     * @param localId its LID; 0 on Ethernet
     * @throws VerbsException when this is no datagram queue pair or that no group ({@code EINVAL}), or the device has no
     *     room for more ({@code ENOMEM})
     * @throws IllegalArgumentException when the LID does not fit
     * @throws IllegalStateException after close
     */
    public void attachMulticast(Gid group, int localId) throws VerbsException {
        Membership membership = new Membership(group, localId);
        life.enter();
        try {
            synchronized (memberships) {
                handle.attachMulticast(group, localId);
                memberships.add(membership);
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Detaches the queue pair from a multicast group (ibv_detach_mcast(3)). {@link #close} does so for those that are
     * left. Makes a system call.
     *
     * @param group the group's GID
     * @param localId its LID; 0 on Ethernet
     * @throws VerbsException when it is not attached to the group ({@code EINVAL})
     * @throws IllegalArgumentException when the LID does not fit
     * @throws IllegalStateException after close
     */
    public void detachMulticast(Gid group, int localId) throws VerbsException {
        Membership membership = new Membership(group, localId);
        life.enter();
        try {
            synchronized (memberships) {
                handle.detachMulticast(group, localId);
                memberships.remove(membership);
            }
        } finally {
            life.exit();
        }
    }

    /** A group that this is attached to. */
    private record Membership(Gid group, int localId) {
        Membership {
            Objects.requireNonNull(group, "group");
            UnsignedField.checkShort("localId", localId);
        }
    }

    /**
     * Leaves all groups. A failure, which is returned, matters only if the queue pair then can't be destroyed: the
     * connection manager detaches it from a group that an id leaves, so it may have left that before.
     */
    private VerbsException leaveGroups() {
        VerbsException failure = null;
        synchronized (memberships) {
            for (Iterator<Membership> i = memberships.iterator(); i.hasNext(); ) {
                Membership membership = i.next();
                try {
                    handle.detachMulticast(membership.group(), membership.localId());
                    i.remove();
                } catch (VerbsException e) {
                    if (failure == null) {
                        failure = e;
                    } else {
                        failure.addSuppressed(e);
                    }
                }
            }
        }
        return failure;
    }

    /**
     * Destroys the queue pair (ibv_destroy_qp(3), or as rdma_destroy_qp(3) does for one that an id created) after it left the
     * multicast groups that it was attached to; outstanding work vanishes without completions, and completions that
     * were not polled stay. Idempotent; waits for calls in progress, also those of its id that use it: accept, disconnect,
     * and connect, which may take seconds on iWARP.
     *
     * @throws VerbsException when it can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
