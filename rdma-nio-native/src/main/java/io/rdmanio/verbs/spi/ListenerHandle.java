package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.DatagramParameters;

/** An engine's listener without an event channel: its requests are taken from itself. */
public interface ListenerHandle {
    /**
     * A peer's request to connect.
     *
     * @param id the new id, without a channel
     * @param privateData what the peer sent along, never null
     * @param connectionParameters as delivered; null for datagrams
     * @param datagramParameters as delivered; null for connections
     */
    @SuppressWarnings("ArrayRecordComponent") // Nobody compares requests; whoever hands the array out copies it.
    record TakenRequest(
            CommunicationIdHandle id,
            byte[] privateData,
            ConnectionParameters connectionParameters,
            DatagramParameters datagramParameters) {}

    /**
     * The bound id.
     *
     * @return the id; it is destroyed by its own method
     */
    CommunicationIdHandle id();

    /**
     * The descriptor that is readable while a request is queued.
     *
     * @return its number
     */
    int fileDescriptor();

    /**
     * Takes a request, by one thread at a time. Does not block.
     *
     * @return the request; null when none is queued
     * @throws VerbsException when it fails, or something else than a request was queued
     */
    TakenRequest takeRequest() throws VerbsException;
}
