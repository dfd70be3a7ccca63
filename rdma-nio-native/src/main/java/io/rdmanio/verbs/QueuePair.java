package io.rdmanio.verbs;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.VerbsAccess.QueuePairMaker;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A queue pair ({@code struct ibv_qp}): work is posted to its send and receive queues, and its completions arrive in
 * its completion queues. Made by {@link io.rdmanio.verbs.cm.CommunicationId#createQueuePair}. Thread-safe, but a work
 * request is for one thread at a time.
 */
public final class QueuePair implements AutoCloseable {
    private static final int MAX_RNR_TIMER_CODE = 31;

    final QueuePairHandle handle;
    final Lifecycle life;
    private final DeviceContext context;
    private final int number;
    private final QueuePairInitAttributes initAttributes;
    private final AsyncSource asyncSource;

    private QueuePair(
            DeviceContext context, QueuePairHandle handle, QueuePairInitAttributes wanted, Lifecycle... parents) {
        this.context = context;
        this.handle = handle;
        this.number = handle.number();
        this.initAttributes = wanted.withCapabilities(handle.capabilities());
        this.life = new Lifecycle(HandleKind.QUEUE_PAIR, this::destroy, parents);
        this.asyncSource = context.asyncEvents.register(handle.asyncElement(), this);
    }

    private void destroy() throws VerbsException {
        asyncSource.beginDestroy();
        handle.destroy();
        asyncSource.endDestroy();
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
                    handle,
                    wanted,
                    Stream.concat(Stream.of(others), parts.stream()).toArray(Lifecycle[]::new));
        } finally {
            parts.subList(0, entered).forEach(Lifecycle::exit);
        }
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
     * Posts a send work request and those that follow it (ibv_post_send(3)). Does not block, allocates nothing; a
     * system call in software drivers. When it fails, requests before the one that failed are posted all the same.
     *
     * @param first the first of the list
     * @throws VerbsException when the queue is full or a request too large for it ({@code ENOMEM}), a request is
     *     invalid or the queue pair not ready to send ({@code EINVAL})
     * @throws IllegalStateException after close, of a work request too
     */
    public void postSend(SendWorkRequest first) throws VerbsException {
        life.enter();
        int errno;
        try {
            MemorySegment list = first.beginPost();
            try {
                errno = handle.postSend(list);
            } finally {
                first.endPost();
            }
        } finally {
            Reference.reachabilityFence(first);
            life.exit();
        }
        if (errno != 0) {
            throw postFailure("ibv_post_send", Math.abs(errno));
        }
    }

    /**
     * Posts a receive work request and those that follow it (ibv_post_recv(3)). Does not block, allocates nothing; a
     * system call in some software drivers. When it fails, requests before the one that failed are posted all the same.
     *
     * @param first the first of the list
     * @throws VerbsException when the queue is full ({@code ENOMEM}), or a request invalid or the queue pair just
     *     created ({@code EINVAL})
     * @throws IllegalStateException after close, of a work request too
     */
    public void postReceive(ReceiveWorkRequest first) throws VerbsException {
        life.enter();
        int errno;
        try {
            errno = handle.postReceive(first.checkedList());
        } finally {
            Reference.reachabilityFence(first);
            life.exit();
        }
        if (errno != 0) {
            throw postFailure("ibv_post_recv", Math.abs(errno));
        }
    }

    private VerbsException postFailure(String operation, int errno) {
        boolean send = operation.equals("ibv_post_send");
        QueuePairCapabilities capabilities = capabilities();
        String cure = switch (errno) {
            case Errno.ENOMEM ->
                send
                        ? "This is not about memory: the send queue is full (" + capabilities.maxSendWorkRequests()
                                + " work requests; poll completions of signaled ones first), or there is more inline"
                                + " data than "
                                + capabilities.maxInlineBytes() + " bytes, or there are more than "
                                + capabilities.maxSendSges() + " scatter-gather entries."
                        : "This is not about memory: the receive queue is full ("
                                + capabilities.maxReceiveWorkRequests()
                                + " work requests), or there are more than " + capabilities.maxReceiveSges()
                                + " scatter-gather entries.";
            case Errno.EINVAL ->
                send
                        ? "The queue pair is not READY_TO_SEND (IBV_QPS_RTS) yet, or opcode, flags, inline length (at"
                                + " most "
                                + capabilities.maxInlineBytes() + " bytes) or scatter-gather entries (at most "
                                + capabilities.maxSendSges() + ") don't suit it."
                        : "The queue pair is still in RESET, or there are more than " + capabilities.maxReceiveSges()
                                + " scatter-gather entries.";
            default -> "";
        };
        return new VerbsException(operation, "queuePair=" + number, errno, cure);
    }

    /**
     * Sets how long a peer waits before it repeats a message that found no receive posted (ibv_modify_qp(3),
     * IBV_QP_MIN_RNR_TIMER). The connection manager leaves the longest time, 655 ms. Not for iWARP. Makes a system
     * call.
     *
     * @param code the time as coded there: 0 is 655.36 ms, 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms
     * @throws VerbsException when it fails, as in a state before READY_TO_RECEIVE ({@code EINVAL})
     * @throws IllegalArgumentException when the code is not 0 to 31
     * @throws IllegalStateException after close
     */
    public void setMinRnrTimer(int code) throws VerbsException {
        if (code < 0 || code > MAX_RNR_TIMER_CODE) {
            throw new IllegalArgumentException("code " + code + " is not 0 to " + MAX_RNR_TIMER_CODE);
        }
        life.enter();
        try {
            handle.setMinRnrTimer(code);
        } finally {
            life.exit();
        }
    }

    /**
     * Sets the state ERROR (ibv_modify_qp(3)): all outstanding work completes with the status FLUSHED, and so does what
     * is posted from now on. Makes a system call.
     *
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public void toError() throws VerbsException {
        life.enter();
        try {
            handle.setState(QueuePairState.ERROR);
        } finally {
            life.exit();
        }
    }

    /**
     * Queries the state (ibv_query_qp(3)). Makes a system call. Not to be relied on over the software iWARP device
     * siw: its driver does not fill in the state, and any may be told.
     *
     * @return the state
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public QueuePairState state() throws VerbsException {
        life.enter();
        try {
            return handle.queryState();
        } finally {
            life.exit();
        }
    }

    /**
     * Destroys the queue pair (rdma_destroy_qp(3)); outstanding work vanishes without completions, and completions that
     * were not polled stay. Idempotent; waits for calls in progress.
     *
     * @throws VerbsException when it can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
