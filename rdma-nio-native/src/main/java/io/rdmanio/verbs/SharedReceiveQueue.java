package io.rdmanio.verbs;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.VerbsAccess.SharedReceiveQueueMaker;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A receive queue that several queue pairs take their receives from ({@code struct ibv_srq}), in the order in which
 * messages arrive at any of them. The completion arrives in the completion queue of the queue pair that took the
 * receive and tells its number; with an {@link XrcDomain} it arrives in the completion queue that was given when this
 * was created. When it runs dry, a queue pair behaves as with an empty receive queue of its own: reliable connections
 * ask the peer to repeat (RNR); iWARP, which can't, terminates the connection.
 *
 * <p>Made by {@link ProtectionDomain#createSharedReceiveQueue}. Thread-safe, but a work request is for one thread at a
 * time.
 */
public final class SharedReceiveQueue implements AutoCloseable {
    final SharedReceiveQueueHandle handle;
    final Lifecycle life;
    private final ProtectionDomain domain;
    private final boolean extended;
    private final int maxSges;
    private final AsyncSource asyncSource;
    // A resize writes it, and readers need no more than some value that was true.
    private volatile int maxWorkRequests;

    private SharedReceiveQueue(
            ProtectionDomain domain, SharedReceiveQueueHandle handle, boolean extended, Lifecycle... parents) {
        this.domain = domain;
        this.handle = handle;
        this.extended = extended;
        this.maxSges = handle.granted().maxSges();
        this.maxWorkRequests = handle.granted().maxWorkRequests();
        this.life = new Lifecycle(HandleKind.SHARED_RECEIVE_QUEUE, this::destroy, parents);
        this.asyncSource = context().asyncEvents.register(handle.asyncElement(), this);
    }

    /**
     * Creates a queue.
     *
     * @param xrcDomain its domain, with {@code queue}; or null for both
     * @param others lives of further parents, which the caller has entered
     */
    static SharedReceiveQueue create(
            SharedReceiveQueueMaker maker,
            ProtectionDomain domain,
            SharedReceiveQueueAttributes wanted,
            XrcDomain xrcDomain,
            CompletionQueue queue,
            Lifecycle... others)
            throws VerbsException {
        List<Lifecycle> parts = new ArrayList<>(List.of(domain.life));
        if (xrcDomain != null) {
            if (xrcDomain.context() != domain.context() || queue.context() != domain.context()) {
                throw new IllegalArgumentException(
                        "protection domain, XRC domain and completion queue belong to different devices");
            }
            parts.add(xrcDomain.life);
            parts.add(queue.life);
        }
        int entered = 0;
        try {
            for (Lifecycle part : parts) {
                part.enter();
                entered++;
            }
            SharedReceiveQueueHandle handle = maker.make(
                    domain.handle,
                    wanted,
                    xrcDomain == null ? null : xrcDomain.handle,
                    xrcDomain == null ? null : queue.handle);
            return new SharedReceiveQueue(
                    domain,
                    handle,
                    xrcDomain != null,
                    Stream.concat(Stream.of(others), parts.stream()).toArray(Lifecycle[]::new));
        } finally {
            parts.subList(0, entered).forEach(Lifecycle::exit);
        }
    }

    private void destroy() throws VerbsException {
        asyncSource.beginDestroy();
        handle.destroy();
        asyncSource.endDestroy();
    }

    DeviceContext context() {
        return domain.context();
    }

    /**
     * The protection domain that its receives belong to.
     *
     * @return the domain
     */
    public ProtectionDomain domain() {
        return domain;
    }

    /**
     * Tells whether it belongs to an XRC domain.
     *
     * @return true when it was created with one
     */
    public boolean isExtended() {
        return extended;
    }

    /**
     * How many receives it holds at least, as granted when it was created or wanted when it was resized. Some drivers
     * do not say by how much they went beyond that; {@link #attributes} may tell.
     *
     * @return max_wr
     */
    public int maxWorkRequests() {
        return maxWorkRequests;
    }

    /**
     * How many scatter-gather entries a receive may have, as granted when it was created.
     *
     * @return max_sge
     */
    public int maxSges() {
        return maxSges;
    }

    /**
     * The number that a sender of an extended reliable connection names in its work requests (ibv_get_srq_num(3)).
     * Makes no system call in general.
     *
     * @return srq_num
     * @throws VerbsException when the driver has no such numbers ({@code EOPNOTSUPP}), or none for a queue outside any
     *     XRC domain
     * @throws IllegalStateException after close
     */
    public int number() throws VerbsException {
        life.enter();
        try {
            return handle.number();
        } finally {
            life.exit();
        }
    }

    /**
     * Posts a receive work request and those that follow it (ibv_post_srq_recv(3)). Does not block, allocates nothing.
     * When it fails, requests before the one that failed are posted all the same.
     *
     * @param first the first of the list
     * @throws PostException when the queue is full ({@code ENOMEM}) or a request has too many entries ({@code EINVAL});
     *     tells the first request that was not posted
     * @throws VerbsException when it fails otherwise
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
            throw first.failure("ibv_post_srq_recv", "sharedReceiveQueue", Math.abs(errno), postCure(Math.abs(errno)));
        }
    }

    private String postCure(int errno) {
        return switch (errno) {
            case Errno.ENOMEM ->
                "This is not about memory: the shared receive queue is full (" + maxWorkRequests
                        + " work requests), or there are more than " + maxSges + " scatter-gather entries.";
            case Errno.EINVAL ->
                "There are more than " + maxSges + " scatter-gather entries, or the shared receive queue ("
                        + maxWorkRequests + " work requests) is full.";
            case Errno.EOPNOTSUPP, Errno.ENOSYS -> "The driver of this device has no shared receive queues.";
            default -> "";
        };
    }

    /**
     * Queries sizes and limit (ibv_query_srq(3)). Makes a system call.
     *
     * @return what it has now; a limit of 0 means that no event will come until the limit is set anew
     * @throws VerbsException when it fails, or the device can't ({@code EOPNOTSUPP}), as iWARP's siw
     * @throws IllegalStateException after close
     */
    public SharedReceiveQueueAttributes attributes() throws VerbsException {
        life.enter();
        try {
            return handle.query();
        } finally {
            life.exit();
        }
    }

    /**
     * Sets the limit and so arms the event that tells once when fewer receives than this are outstanding
     * (ibv_modify_srq(3), IBV_SRQ_LIMIT). Makes a system call.
     *
     * @param limit the limit; 0 disarms
     * @throws VerbsException when the limit is more than the queue holds ({@code EINVAL}), or the device has no such
     *     event
     * @throws IllegalArgumentException when the limit is negative
     * @throws IllegalStateException after close
     */
    public void setLimit(int limit) throws VerbsException {
        modify(SharedReceiveQueueHandle.LIMIT, 0, limit);
    }

    /**
     * Changes how many receives it holds (ibv_modify_srq(3), IBV_SRQ_MAX_WR), which a device may grant more of. Not
     * every device can: {@link DeviceAttributes#capabilityFlags} tells (IBV_DEVICE_SRQ_RESIZE), and siw can't. May be called while receives are posted and consumed. Makes system calls.
     *
     * @param newMaxWorkRequests the number wanted
     * @throws VerbsException when it is more than the device allows or less than the limit or than what is outstanding
     *     ({@code EINVAL}), memory can't be locked ({@code ENOMEM}), or the device can't ({@code EOPNOTSUPP})
     * @throws IllegalArgumentException when the number is negative
     * @throws IllegalStateException after close
     */
    public void resize(int newMaxWorkRequests) throws VerbsException {
        modify(SharedReceiveQueueHandle.MAX_WORK_REQUESTS, newMaxWorkRequests, 0);
    }

    /**
     * Changes size and limit in one (ibv_modify_srq(3), IBV_SRQ_MAX_WR and IBV_SRQ_LIMIT): when one is refused, neither
     * is changed. Makes system calls.
     *
     * @param newMaxWorkRequests as in {@link #resize}
     * @param limit as in {@link #setLimit}
     * @throws VerbsException as those two do
     * @throws IllegalArgumentException when a number is negative
     * @throws IllegalStateException after close
     */
    public void resize(int newMaxWorkRequests, int limit) throws VerbsException {
        modify(SharedReceiveQueueHandle.MAX_WORK_REQUESTS | SharedReceiveQueueHandle.LIMIT, newMaxWorkRequests, limit);
    }

    private void modify(int mask, int newMaxWorkRequests, int limit) throws VerbsException {
        SharedReceiveQueueAttributes wanted = new SharedReceiveQueueAttributes(newMaxWorkRequests, maxSges, limit);
        life.enter();
        try {
            handle.modify(wanted, mask);
            if ((mask & SharedReceiveQueueHandle.MAX_WORK_REQUESTS) != 0) {
                maxWorkRequests = newMaxWorkRequests;
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Destroys the queue (ibv_destroy_srq(3), or rdma_destroy_srq(3) for the one of an id) after its queue pairs, its
     * asynchronous events being acknowledged; receives that nobody took vanish without completions. Idempotent; waits for
     * calls in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
