package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.concurrent.locks.LockSupport;

/**
 * Where completions arrive ({@code struct ibv_cq}).
 *
 * <p>Thread safety: {@link #poll} is for one thread at a time, which is checked; all other methods may be called by any
 * thread. {@code claim} tells who has the native queue for itself: compareAndSet from {@code FREE} to take it, setRelease
 * to give it back; close takes it and keeps it. A poller that meets a resize waits for it, and so does the other way
 * round. The count of events is guarded by the channel's lock.
 */
public final class CompletionQueue implements AutoCloseable {
    private static final int ACKNOWLEDGE_BATCH = 32;
    private static final int FREE = 0;
    private static final int POLLING = 1;
    private static final int RESIZING = 2;
    private static final long CLAIM_RETRY_NANOS = 1_000;
    private static final VarHandle CLAIM;

    static {
        try {
            CLAIM = MethodHandles.lookup().findVarHandle(CompletionQueue.class, "claim", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final CompletionQueueHandle handle;
    final Lifecycle life;
    private final DeviceContext context;
    private final CompletionChannel channel;
    private final int slot;
    private final AsyncSource asyncSource;
    private int claim;
    private boolean pollerStopped;
    private volatile int depthEntries;
    private int unacknowledged;
    private boolean dying;

    CompletionQueue(DeviceContext context, CompletionQueueHandle handle) {
        this.context = context;
        this.handle = handle;
        this.depthEntries = handle.depthEntries();
        this.channel = null;
        this.slot = 0;
        this.life = new Lifecycle(HandleKind.COMPLETION_QUEUE, this::destroy, context.life);
        this.asyncSource = context.asyncEvents.register(handle.asyncElement(), this);
    }

    CompletionQueue(DeviceContext context, CompletionQueueHandle handle, CompletionChannel channel, int slot) {
        this.context = context;
        this.handle = handle;
        this.depthEntries = handle.depthEntries();
        this.channel = channel;
        this.slot = slot;
        this.life = new Lifecycle(HandleKind.COMPLETION_QUEUE, this::destroy, channel.life());
        this.asyncSource = context.asyncEvents.register(handle.asyncElement(), this);
    }

    DeviceContext context() {
        return context;
    }

    boolean hasChannel() {
        return channel != null;
    }

    /**
     * How many completions it holds, as granted when it was created or resized: no less than was wanted.
     *
     * @return entries
     */
    public int depthEntries() {
        return depthEntries;
    }

    /**
     * Changes how many completions it holds (ibv_resize_cq(3)), which a device may grant more of. Completions that wait
     * to be polled are kept. May be called while another thread polls: one waits for the other. Makes system calls.
     *
     * @param newDepthEntries how many it must hold at least
     * @throws VerbsException when it is more than the device allows, or fewer than wait to be polled ({@code EINVAL});
     *     memory can't be locked ({@code ENOMEM}); or the device can't ({@code EOPNOTSUPP}), as iWARP's siw
     * @throws IllegalArgumentException when the depth is less than 1
     * @throws IllegalStateException after close
     */
    public void resize(int newDepthEntries) throws VerbsException {
        if (newDepthEntries < 1) {
            throw new IllegalArgumentException("depthEntries " + newDepthEntries + " is less than 1");
        }
        // Close waits for this call before it takes the claim for good.
        life.enter();
        try {
            awaitClaim(RESIZING);
            try {
                // Drivers put another buffer in place of the one that a poller reads.
                handle.resize(newDepthEntries);
                depthEntries = handle.depthEntries();
            } finally {
                CLAIM.setRelease(this, FREE);
            }
        } finally {
            life.exit();
        }
    }

    private void awaitClaim(int wanted) {
        while (!CLAIM.compareAndSet(this, FREE, wanted)) {
            LockSupport.parkNanos(this, CLAIM_RETRY_NANOS);
        }
    }

    /** Takes the claim for a poller, when another poller does not have it. */
    private void claimForPoll() {
        while (!CLAIM.compareAndSet(this, FREE, POLLING)) {
            life.requireOpen();
            if ((int) CLAIM.getAcquire(this) == POLLING) {
                throw new IllegalStateException("another thread is polling this CompletionQueue");
            }
            LockSupport.parkNanos(this, CLAIM_RETRY_NANOS);
        }
    }

    /**
     * Takes completions (ibv_poll_cq(3)). Does not block, allocates nothing; in most drivers no system call either.
     *
     * @param into where they go, from index 0; its capacity bounds their number
     * @return how many were taken; less than the capacity means that the queue was empty then
     * @throws VerbsException when polling fails, the queue having overrun for example
     * @throws IllegalStateException after close, of the completions or their arena too, or when another thread is polling
     */
    public int poll(WorkCompletions into) throws VerbsException {
        if (!CLAIM.compareAndSet(this, FREE, POLLING)) {
            claimForPoll();
        }
        int count;
        try {
            count = handle.poll(into.capacity(), into.writableMemory());
        } finally {
            Reference.reachabilityFence(into);
            CLAIM.setRelease(this, FREE);
        }
        if (count < 0) {
            throw new VerbsException(
                    "ibv_poll_cq",
                    "",
                    0,
                    "Polling failed with " + count + "; the queue has overrun or its device is gone.");
        }
        return count;
    }

    /**
     * Asks for an event with the next completion (ibv_req_notify_cq(3)). Completions that are there already cause none:
     * poll once more after this call. Does not block, allocates nothing; a system call in some drivers.
     *
     * @param solicitedOnly whether only a solicited or failed completion counts; the software iWARP device siw then
     *     tells of no receive at all
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public void requestNotification(boolean solicitedOnly) throws VerbsException {
        life.enter();
        int errno;
        try {
            errno = handle.requestNotification(solicitedOnly);
        } finally {
            life.exit();
        }
        if (errno != 0) {
            throw new VerbsException("ibv_req_notify_cq", "solicitedOnly=" + solicitedOnly, Math.abs(errno), "");
        }
    }

    /**
     * Acknowledges the events that {@link CompletionChannel#takeEvent} counted so far (ibv_ack_cq_events(3)). Not
     * needed in general: it happens in batches and at close. Does not block.
     *
     * @throws IllegalStateException after close
     */
    public void acknowledgeEvents() {
        life.enter();
        try {
            payEvents(false);
        } finally {
            life.exit();
        }
    }

    /**
     * Counts an event, under the channel's lock. Returns false when the queue is about to be destroyed; the event is
     * paid then.
     */
    boolean countEvent() {
        unacknowledged++;
        if (dying || unacknowledged >= ACKNOWLEDGE_BATCH) {
            handle.acknowledgeEvents(unacknowledged);
            unacknowledged = 0;
        }
        return !dying;
    }

    private void payEvents(boolean last) {
        if (channel == null) {
            return;
        }
        channel.lockEvents();
        try {
            dying |= last;
            if (unacknowledged > 0) {
                handle.acknowledgeEvents(unacknowledged);
                unacknowledged = 0;
            }
        } finally {
            channel.unlockEvents();
        }
    }

    private void destroy() throws VerbsException {
        if (!pollerStopped) {
            awaitClaim(POLLING);
            pollerStopped = true;
        }
        payEvents(true);
        asyncSource.beginDestroy();
        handle.destroy();
        asyncSource.endDestroy();
        if (channel != null) {
            channel.releaseSlot(slot);
        }
    }

    /**
     * Destroys the queue (ibv_destroy_cq(3)) after its queue pairs, its events being acknowledged. Idempotent; waits
     * for calls in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
