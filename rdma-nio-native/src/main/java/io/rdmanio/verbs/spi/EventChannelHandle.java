package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.PortSpace;

/** An engine's event channel of the connection manager. */
public interface EventChannelHandle {
    /**
     * The descriptor that is readable while an event is queued.
     *
     * @return its number
     */
    int fileDescriptor();

    /**
     * Takes an event, by one thread at a time. Does not block.
     *
     * @return the event with everything copied out, to be acknowledged; null when none is queued
     * @throws VerbsException when it fails
     */
    TakenEvent takeEvent() throws VerbsException;

    /**
     * Acknowledges an event.
     *
     * @param event the event, once
     */
    void acknowledge(TakenEvent event);

    /**
     * Creates a communication id.
     *
     * @param space its port space
     * @param token what its events shall carry; not 0
     * @return the id
     * @throws VerbsException when it fails
     */
    CommunicationIdHandle createId(PortSpace space, long token) throws VerbsException;

    /**
     * Destroys the channel.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
