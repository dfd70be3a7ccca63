package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** An engine's completion queue. */
public interface CompletionQueueHandle {
    /**
     * Takes completions, by one thread at a time. Allocates nothing, does not block.
     *
     * @param capacity how many fit
     * @param completions where they go, laid out as {@link WorkCompletionLayout} says
     * @return how many were taken; negative when polling failed
     */
    int poll(int capacity, MemorySegment completions);

    /**
     * Asks for an event with the next completion. Allocates nothing.
     *
     * @param solicitedOnly whether only a solicited or failed one counts
     * @return 0, or an error number
     */
    int requestNotification(boolean solicitedOnly);

    /**
     * How many completions it holds now.
     *
     * @return as granted when it was created or resized
     */
    int depthEntries();

    /**
     * Changes how many completions it holds; nobody polls meanwhile.
     *
     * @param depthEntries how many it must hold
     * @throws VerbsException when it fails
     */
    default void resize(int depthEntries) throws VerbsException {
        throw Unsupported.operation("ibv_resize_cq");
    }

    /**
     * Acknowledges events.
     *
     * @param events how many
     */
    void acknowledgeEvents(int events);

    /**
     * What asynchronous events carry for it.
     *
     * @return a number that no other handle of the context has while this one is alive; 0 when there are no such events
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
