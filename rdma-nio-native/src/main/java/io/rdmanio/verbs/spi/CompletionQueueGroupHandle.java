package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's group of completion queues; see {@link io.rdmanio.verbs.CompletionQueueGroup}. */
public interface CompletionQueueGroupHandle {
    /**
     * Adds a queue, which leaves the group that it is in. Called by one thread at a time for a queue.
     *
     * @param queue a queue without a channel
     * @param token by which {@link #take} tells of it
     * @throws VerbsException when it can't be; the queue is in its former group then
     * @throws IllegalArgumentException when the queue is of another engine
     */
    void add(CompletionQueueHandle queue, Object token) throws VerbsException;

    /**
     * Removes a queue, if it is in this group.
     *
     * @param queue the queue
     */
    void remove(CompletionQueueHandle queue);

    /**
     * Tells which queues may have completions, each at least once after one is added to it that follows its last poll.
     * By one thread at a time. Allocates nothing, does not block.
     *
     * @param into where their tokens go
     * @return how many there are now; when all places are taken there may be more
     */
    int take(Object[] into);

    /**
     * Asks for {@link #fileDescriptor} to become readable when a queue gets something. Called by the thread that takes.
     *
     * @return false when one has something already: nothing was asked for
     */
    boolean prepareToSleep();

    /** Asks for it no longer. Called by the thread that takes, after {@link #prepareToSleep} was true. */
    void awake();

    /**
     * The descriptor.
     *
     * @return its number
     */
    int fileDescriptor();

    /** Makes the descriptor readable. By any thread. */
    void signal();

    /** Makes the descriptor unreadable until the next reason. */
    void drain();

    /**
     * Destroys it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
