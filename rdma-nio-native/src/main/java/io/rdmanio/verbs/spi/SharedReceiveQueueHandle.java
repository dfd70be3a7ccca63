package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** An engine's shared receive queue. */
public interface SharedReceiveQueueHandle {
    /** Of {@link #modify}: the number of work requests ({@code IBV_SRQ_MAX_WR}). */
    int MAX_WORK_REQUESTS = 1;

    /** Of {@link #modify}: the limit ({@code IBV_SRQ_LIMIT}). */
    int LIMIT = 1 << 1;

    /**
     * The sizes that were granted when it was created.
     *
     * @return the sizes
     */
    SharedReceiveQueueAttributes granted();

    /**
     * The number that a sender of an extended reliable connection names.
     *
     * @return srq_num
     * @throws VerbsException when it has none
     */
    int number() throws VerbsException;

    /**
     * Posts a list of receive work requests. Allocates nothing.
     *
     * @param first the first, laid out as {@link ReceiveWorkRequestLayout} says; when it fails, the address of the
     *     first that was not posted is left in this one at {@link ReceiveWorkRequestLayout#FAILED_OFFSET}
     * @return 0, or an error number
     */
    int postReceive(MemorySegment first);

    /**
     * Changes size, limit or both, or nothing when it fails.
     *
     * @param wanted the new values
     * @param mask which of them count, bits of {@link #MAX_WORK_REQUESTS} and {@link #LIMIT}
     * @throws VerbsException when it fails
     */
    void modify(SharedReceiveQueueAttributes wanted, int mask) throws VerbsException;

    /**
     * Queries it.
     *
     * @return its sizes and limit
     * @throws VerbsException when it fails
     */
    SharedReceiveQueueAttributes query() throws VerbsException;

    /**
     * What {@link TakenAsyncEvent#element} says when an event is about this queue.
     *
     * @return a number that tells it from every other object of its context; 0 when it has no events
     */
    default long asyncElement() {
        return 0;
    }

    /**
     * Destroys it; waits until all its events are acknowledged.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
