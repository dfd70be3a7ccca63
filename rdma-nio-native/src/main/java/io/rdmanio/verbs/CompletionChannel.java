package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the events of completion queues arrive ({@code struct ibv_comp_channel}): a descriptor that can be waited for,
 * and that is readable while an event is queued.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code taking} guards the events between the native queue
 * and their completion queue's count, and the table of queues; no blocking call is made under it.
 */
public final class CompletionChannel implements AutoCloseable {
    private final DeviceContext context;
    private final CompletionChannelHandle handle;
    private final Lifecycle life;
    private final ReentrantLock taking = new ReentrantLock();
    private final int fileDescriptor;
    // A queue's events carry its place in this table, plus 1.
    private CompletionQueue[] queues = new CompletionQueue[1];
    private boolean[] reserved = new boolean[1];

    CompletionChannel(DeviceContext context, CompletionChannelHandle handle) {
        this.context = context;
        this.handle = handle;
        this.fileDescriptor = handle.fileDescriptor();
        this.life = new Lifecycle(HandleKind.COMPLETION_CHANNEL, handle::destroy, context.life);
    }

    DeviceContext context() {
        return context;
    }

    Lifecycle life() {
        return life;
    }

    CompletionQueue createCompletionQueue(int depthEntries, int vector) throws VerbsException {
        life.enter();
        try {
            int slot = reserveSlot();
            CompletionQueue queue = null;
            try {
                queue = context.newCompletionQueue(depthEntries, vector, this, handle, slot);
            } finally {
                fillSlot(slot, queue);
            }
            return queue;
        } finally {
            life.exit();
        }
    }

    private int reserveSlot() {
        taking.lock();
        try {
            int slot = 0;
            while (slot < reserved.length && reserved[slot]) {
                slot++;
            }
            if (slot == reserved.length) {
                queues = Arrays.copyOf(queues, 2 * slot);
                reserved = Arrays.copyOf(reserved, 2 * slot);
            }
            reserved[slot] = true;
            return slot;
        } finally {
            taking.unlock();
        }
    }

    private void fillSlot(int slot, CompletionQueue queueOrNull) {
        taking.lock();
        try {
            queues[slot] = queueOrNull;
            reserved[slot] = queueOrNull != null;
        } finally {
            taking.unlock();
        }
    }

    /** Forgets a queue that was destroyed. */
    void releaseSlot(int slot) {
        fillSlot(slot, null);
    }

    /** Under {@link #taking}. */
    void lockEvents() {
        taking.lock();
    }

    void unlockEvents() {
        taking.unlock();
    }

    /**
     * The descriptor, to be waited for. {@code O_NONBLOCK} and {@code FD_CLOEXEC} are set.
     *
     * @return its number; it means nothing after close
     */
    public int fileDescriptor() {
        return fileDescriptor;
    }

    /**
     * Takes an event (ibv_get_cq_event(3)). The event is counted on its queue and acknowledged later, in batches, at
     * the latest when the queue is closed. An event that says something about a queue being closed is acknowledged and
     * passed over. Does not block, allocates nothing.
     *
     * @return the queue that has completions and must be armed anew; null when no event is queued ({@code EAGAIN})
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public CompletionQueue takeEvent() throws VerbsException {
        life.enter();
        taking.lock();
        try {
            while (true) {
                long token = handle.takeEvent();
                if (token == 0) {
                    return null;
                }
                CompletionQueue queue = queues[(int) token - 1];
                if (queue.countEvent()) {
                    return queue;
                }
            }
        } finally {
            taking.unlock();
            life.exit();
        }
    }

    /**
     * Waits for an event and takes it, as {@link #takeEvent} does (ibv_get_cq_event(3)). Blocks; a virtual
     * thread keeps its carrier meanwhile.
     *
     * @param timeoutMillis how long to wait; 0 looks only
     * @return the queue that has completions and must be armed anew; null when the time is over
     * @throws IOException when taking or waiting fails
     * @throws IllegalArgumentException when the timeout is negative
     * @throws IllegalStateException after close, also while waiting
     */
    public CompletionQueue awaitEvent(int timeoutMillis) throws IOException {
        return Waiting.await(life, fileDescriptor, timeoutMillis, this::takeEvent);
    }

    /**
     * Destroys the channel (ibv_destroy_comp_channel(3)) after its completion queues. Idempotent; waits for calls in
     * progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
