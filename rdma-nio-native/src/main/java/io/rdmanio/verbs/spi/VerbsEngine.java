package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoHints;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An implementation of verbs and of the connection manager, found as a service. Its constructor must be cheap and never
 * fail. Handles that it returns, and theirs, are used as the objects in front of them promise: no call after destroy,
 * no destroy during a call, children destroyed before parents. Otherwise all methods may be called by any thread.
 */
public interface VerbsEngine {
    /**
     * The engine's name.
     *
     * @return such as {@code ffm}
     */
    String name();

    /**
     * Why it can't be used.
     *
     * @return a sentence with cause and cure; empty when it can be used
     */
    Optional<String> unavailableReason();

    /**
     * Lists the devices.
     *
     * @return the devices there are now
     * @throws VerbsException when they can't be listed
     */
    List<DeviceInfo> devices() throws VerbsException;

    /**
     * Describes an asynchronous event in words.
     *
     * @param type the event's type
     * @return the engine's words; by default the name in C, {@code unknown} for UNKNOWN
     */
    default String describe(AsyncEventType type) {
        return Objects.requireNonNullElse(type.nativeName(), "unknown");
    }

    /**
     * Describes a completion's status in words.
     *
     * @param status the status
     * @return the engine's words; by default the name in C, {@code unknown} for UNKNOWN
     */
    default String describe(WorkCompletionStatus status) {
        return Objects.requireNonNullElse(status.nativeName(), "unknown");
    }

    /**
     * Opens a device.
     *
     * @param deviceName its name
     * @return a context that the caller must destroy
     * @throws VerbsException when there is no such device or it can't be opened
     */
    ContextHandle open(String deviceName) throws VerbsException;

    /**
     * Opens an event channel of the connection manager.
     *
     * @return the channel, its descriptor non-blocking and closed on exec
     * @throws VerbsException when it can't be opened
     */
    EventChannelHandle openEventChannel() throws VerbsException;

    /**
     * Whether making, connecting, accepting, disconnecting and destroying what a connection consists of may wait for a
     * device, a driver or a peer.
     *
     * @return true for most
     */
    default boolean mayBlock() {
        return true;
    }

    /**
     * Whether the engine has groups of completion queues.
     *
     * @return false for most
     */
    default boolean hasCompletionQueueGroups() {
        return false;
    }

    /**
     * Opens a group of completion queues.
     *
     * @return the group, to be destroyed by the caller
     * @throws VerbsException when it fails
     */
    default CompletionQueueGroupHandle openCompletionQueueGroup() throws VerbsException {
        throw Unsupported.operation("a group of completion queues");
    }

    /**
     * Lists the devices that the connection manager has open.
     *
     * @return the list, to be destroyed by the caller
     * @throws VerbsException when it fails
     */
    default DeviceListHandle openDeviceList() throws VerbsException {
        throw Unsupported.operation("rdma_get_devices");
    }

    /**
     * Looks up addresses.
     *
     * @param node the host, or null
     * @param service the port, or null
     * @param hints what to look for
     * @return what was found
     * @throws VerbsException when it fails
     */
    default List<AddressInfo> lookUpAddresses(String node, String service, AddressInfoHints hints)
            throws VerbsException {
        throw Unsupported.operation("rdma_getaddrinfo");
    }

    /**
     * Creates an id to connect with, whose route is resolved. Blocks until it is, for the seconds that the engine allows.
     *
     * @param address where to
     * @return an id without a channel, to be moved to one
     * @throws VerbsException when it fails
     */
    default CommunicationIdHandle createEndpoint(AddressInfo address) throws VerbsException {
        throw Unsupported.operation("rdma_create_ep");
    }

    /**
     * Creates an id to listen with.
     *
     * @param address where
     * @return the id, bound
     * @throws VerbsException when it fails
     */
    default ListenerHandle createListener(AddressInfo address) throws VerbsException {
        throw Unsupported.operation("rdma_create_ep");
    }

    /**
     * The connection manager's own name of an event.
     *
     * @param value C's value
     * @return the name
     * @throws VerbsException when the engine has no names
     */
    default String eventString(int value) throws VerbsException {
        throw Unsupported.operation("rdma_event_str");
    }
}
