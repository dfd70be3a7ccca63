package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;

/** An engine's device context. One native context is one object, so identity tells whether two are the same. */
public interface ContextHandle {
    /**
     * The device's name.
     *
     * @return the name
     */
    String name();

    /**
     * What the device speaks.
     *
     * @return the transport
     */
    TransportType transport();

    /**
     * Queries the device.
     *
     * @return its attributes
     * @throws VerbsException when the query fails
     */
    DeviceAttributes queryDevice() throws VerbsException;

    /**
     * Queries a port.
     *
     * @param port its number, from 1
     * @return its attributes
     * @throws VerbsException when the query fails
     */
    PortAttributes queryPort(int port) throws VerbsException;

    /**
     * Reads an entry of a port's GID table.
     *
     * @param port the port, from 1
     * @param index the entry
     * @return its 16 bytes
     * @throws VerbsException when there is no such entry
     */
    byte[] queryGid(int port, int index) throws VerbsException;

    /**
     * Allocates a protection domain.
     *
     * @return the domain
     * @throws VerbsException when it fails
     */
    ProtectionDomainHandle allocateProtectionDomain() throws VerbsException;

    /**
     * Creates a completion channel.
     *
     * @return the channel, its descriptor non-blocking and closed on exec
     * @throws VerbsException when it fails
     */
    CompletionChannelHandle createCompletionChannel() throws VerbsException;

    /**
     * Creates a completion queue.
     *
     * @param depthEntries how many completions it must hold
     * @param channel where its events go, of this context; or null
     * @param token what {@link CompletionChannelHandle#takeEvent} shall return for it; not 0
     * @return the queue
     * @throws VerbsException when it fails
     */
    CompletionQueueHandle createCompletionQueue(int depthEntries, CompletionChannelHandle channel, long token)
            throws VerbsException;

    /**
     * Closes an opened context; never called for a borrowed one.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
