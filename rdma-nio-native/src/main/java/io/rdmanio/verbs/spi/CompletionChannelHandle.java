package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's completion channel. */
public interface CompletionChannelHandle {
    /**
     * The descriptor that is readable while an event is queued.
     *
     * @return its number
     */
    int fileDescriptor();

    /**
     * Takes an event, by one thread at a time; it must be acknowledged. Allocates nothing, does not block.
     *
     * @return the token of the completion queue; 0 when no event is queued
     * @throws VerbsException when it fails
     */
    long takeEvent() throws VerbsException;

    /**
     * Destroys it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
