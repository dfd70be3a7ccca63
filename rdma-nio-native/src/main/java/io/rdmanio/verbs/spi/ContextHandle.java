package io.rdmanio.verbs.spi;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.List;

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
     * @return the identifier
     * @throws VerbsException when there is no such entry
     */
    Gid queryGid(int port, int index) throws VerbsException;

    /**
     * Queries the device for everything. An engine that knows no more than {@link #queryDevice} need not implement it.
     *
     * @return its attributes
     * @throws VerbsException when the query fails
     */
    default ExtendedDeviceAttributes queryDeviceExtended() throws VerbsException {
        return ExtendedDeviceAttributes.of(queryDevice());
    }

    /**
     * Reads an entry of a port's table of partition keys.
     *
     * @param port the port, from 1
     * @param index the entry
     * @return the key, 0 to 0xFFFF
     * @throws VerbsException when there is no such entry
     */
    default int queryPartitionKey(int port, int index) throws VerbsException {
        throw Unsupported.operation("ibv_query_pkey");
    }

    /**
     * Reads an entry of a port's GID table with everything about it.
     *
     * @param port the port, from 1
     * @param index the entry
     * @return the entry
     * @throws VerbsException when there is no such entry
     */
    default GidEntry queryGidEntry(int port, int index) throws VerbsException {
        throw Unsupported.operation("ibv_query_gid_ex");
    }

    /**
     * Reads the entries in use of all GID tables.
     *
     * @return the entries
     * @throws VerbsException when the query fails
     */
    default List<GidEntry> queryGidTable() throws VerbsException {
        throw Unsupported.operation("ibv_query_gid_table");
    }

    /**
     * How many completion vectors there are.
     *
     * @return num_comp_vectors, 1 at least
     */
    default int completionVectors() {
        return 1;
    }

    /**
     * The descriptor that is readable while an asynchronous event is queued.
     *
     * @return its number, non-blocking and closed on exec
     * @throws VerbsException when its flags can't be set
     */
    default int asyncFileDescriptor() throws VerbsException {
        throw Unsupported.operation("ibv_get_async_event");
    }

    /**
     * Takes an asynchronous event, by one thread at a time; it must be acknowledged. Does not block.
     *
     * @return the event; null when none is queued
     * @throws VerbsException when it fails
     */
    default TakenAsyncEvent takeAsyncEvent() throws VerbsException {
        throw Unsupported.operation("ibv_get_async_event");
    }

    /**
     * Acknowledges an asynchronous event. The destroy of the object that it is about waits for this.
     *
     * @param event the event, once
     */
    default void acknowledgeAsyncEvent(TakenAsyncEvent event) {}

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
     * Tells whether inline data can be posted straight from a buffer, so that it is copied once.
     *
     * @return false unless the engine says otherwise
     */
    default boolean postsBuffers() {
        return false;
    }

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
     * Creates a completion queue whose events use a vector.
     *
     * @param depthEntries how many completions it must hold
     * @param channel where its events go, of this context; or null
     * @param token what {@link CompletionChannelHandle#takeEvent} shall return for it; not 0
     * @param vector which vector, from 0
     * @return the queue
     * @throws VerbsException when it fails
     */
    default CompletionQueueHandle createCompletionQueue(
            int depthEntries, CompletionChannelHandle channel, long token, int vector) throws VerbsException {
        if (vector >= completionVectors()) {
            throw new VerbsException(
                    "ibv_create_cq",
                    "vector=" + vector,
                    Errno.EINVAL,
                    "There are " + completionVectors() + " vectors.");
        }
        return createCompletionQueue(depthEntries, channel, token);
    }

    /**
     * Opens a domain of extended reliable connections.
     *
     * @param fileDescriptor the file that it is associated with, or -1
     * @param flags bits of {@code O_CREAT} and {@code O_EXCL}
     * @return the domain
     * @throws VerbsException when it fails
     */
    default XrcDomainHandle openXrcDomain(int fileDescriptor, int flags) throws VerbsException {
        throw Unsupported.operation("ibv_open_xrcd");
    }

    /**
     * Finds the path to where a datagram came from.
     *
     * @param port the port that it came in
     * @param completion its completion, laid out as {@link WorkCompletionLayout} says
     * @param header its global route header; null when the completion does not tell of one
     * @return the path
     * @throws VerbsException when it fails
     */
    default AddressHandleAttributes pathToSender(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        throw Unsupported.operation("ibv_init_ah_from_wc");
    }

    /**
     * Closes an opened context; never called for a borrowed one.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
