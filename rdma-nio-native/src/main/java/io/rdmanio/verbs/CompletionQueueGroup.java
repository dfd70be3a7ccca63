package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.CompletionQueueGroupHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.util.Objects;

/**
 * Completion queues that one thread watches together, in user space: what epoll(7) is for descriptors, without a
 * descriptor or a request for an event for each queue. Which queues have something is told by the cost of those; one
 * descriptor becomes readable for all of them. libibverbs has nothing like it; the software device does, since its peers say
 * for whom they have completed something.
 *
 * <p>A queue is in at most one group, and moves to another as its user likes.
 *
 * <p>Thread safety: {@link #take}, {@link #prepareToSleep} and {@link #awake} are for one thread at a time, the owner; all
 * other methods may be called by any thread.
 */
public final class CompletionQueueGroup implements AutoCloseable {
    private final CompletionQueueGroupHandle handle;
    private final Lifecycle life;
    private final int fileDescriptor;

    private CompletionQueueGroup(CompletionQueueGroupHandle handle) {
        this.handle = handle;
        this.fileDescriptor = handle.fileDescriptor();
        this.life = new Lifecycle(HandleKind.COMPLETION_QUEUE_GROUP, handle::destroy);
    }

    /**
     * Opens an empty group. Takes two descriptors; makes system calls.
     *
     * @param engine whose queues it is for: one that {@linkplain RdmaEngine#hasCompletionQueueGroups() has groups}
     * @return the group, to be closed by the caller
     * @throws VerbsException when no descriptor is left ({@code EMFILE}), or the engine has no groups
     *     ({@code EOPNOTSUPP})
     */
    public static CompletionQueueGroup open(RdmaEngine engine) throws VerbsException {
        return new CompletionQueueGroup(VerbsAccess.get().engine(engine).openCompletionQueueGroup());
    }

    /**
     * Adds a queue; it leaves the group that it is in. Completions that are there already are told of by {@link #take}. Does not
     * block. Calls for the same queue are made by one thread at a time.
     *
     * @param queue a queue of the same engine without a completion channel
     * @param token by which {@link #take} tells of it, not null
     * @throws VerbsException when no descriptor is left ({@code EMFILE}), or a peer process has no place for a further group
     *     ({@code ENOMEM}); the queue is in its former group then
     * @throws IllegalArgumentException when the queue has a channel, or is of another engine
     * @throws IllegalStateException after close of either
     */
    public void add(CompletionQueue queue, Object token) throws VerbsException {
        Objects.requireNonNull(token, "token");
        if (queue.hasChannel()) {
            throw new IllegalArgumentException("a completion queue with a channel has its events there");
        }
        life.enter();
        try {
            queue.life.enter();
            try {
                handle.add(queue.handle, token);
            } finally {
                queue.life.exit();
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Removes a queue, if it is in this group. A {@link #take} that is under way may still tell of it.
     *
     * @param queue the queue
     * @throws IllegalStateException after close of either
     */
    public void remove(CompletionQueue queue) {
        life.enter();
        try {
            queue.life.enter();
            try {
                handle.remove(queue.handle);
            } finally {
                queue.life.exit();
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Tells which queues may have completions: each at least once after one is added to it that follows its last poll,
     * and now and then one that has none. Does not block, makes no system call, allocates nothing.
     *
     * @param into where their tokens go, from index 0; the oldest first, so that who asks again gets the others
     * @return how many there are; when all places are taken there may be more
     * @throws IllegalStateException after close
     */
    public int take(Object[] into) {
        life.requireOpen();
        return handle.take(into);
    }

    /**
     * Has {@link #fileDescriptor} become readable when a queue gets a completion, until {@link #awake}. Does not block.
     *
     * @return whether to sleep; false when a queue may have something already
     * @throws IllegalStateException after close
     */
    public boolean prepareToSleep() {
        life.requireOpen();
        return handle.prepareToSleep();
    }

    /**
     * Ends what {@link #prepareToSleep} began, if it returned true. A descriptor that was found readable must be
     * {@linkplain #drain() drained}.
     */
    public void awake() {
        handle.awake();
    }

    /**
     * The descriptor, to be waited for, level-triggered. {@code O_NONBLOCK} and {@code FD_CLOEXEC} are set.
     *
     * @return its number; it means nothing after close
     */
    public int fileDescriptor() {
        return fileDescriptor;
    }

    /** Makes the descriptor readable, whatever the queues have. On a closed group this does nothing. Does not block. */
    public void signal() {
        handle.signal();
    }

    /** Makes the descriptor unreadable until there is another reason. On a closed group this does nothing. */
    public void drain() {
        handle.drain();
    }

    /**
     * Closes the group; its queues are in none then. Idempotent.
     *
     * @throws VerbsException when it can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
