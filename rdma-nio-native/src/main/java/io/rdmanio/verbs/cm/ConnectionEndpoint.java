package io.rdmanio.verbs.cm;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.ListenerHandle.TakenRequest;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;

/**
 * A communication id with a queue pair whose operations wait until they are done (rdma_create_ep(3)), for programs that
 * want no events. In C such an id waits for ever inside the library; here it has an event channel of its own
 * (rdma_migrate_id(3)), so every wait has an end and is ended by {@link #close}, and the program may use the id and its
 * events directly as well.
 *
 * <p>Thread safety: all methods may be called by any thread; of those that wait, one at a time, since they take the
 * events of one channel.
 */
public final class ConnectionEndpoint implements AutoCloseable {
    private static final byte[] NOTHING = {};
    // What says nothing about an operation under way.
    private static final Set<CommunicationEventType> HINTS =
            EnumSet.of(CommunicationEventType.ADDRESS_CHANGE, CommunicationEventType.TIME_WAIT_EXIT);

    private final Lifecycle life = new Lifecycle(HandleKind.CONNECTION_ENDPOINT, this::freeMessages);
    private final CommunicationId id;
    private final TakenRequest request;
    private MessageQueues messages;
    private volatile CommunicationEvent lastEvent;

    private ConnectionEndpoint(CommunicationId id, TakenRequest request) {
        this.id = id;
        this.request = request;
        adopt(id.channel().life());
        // Should it be moved to another channel.
        adopt(id.life());
    }

    /** Nobody else has seen either yet, so both are open. */
    private void adopt(Lifecycle part) {
        life.enter();
        part.enter();
        part.addParent(life);
        part.exit();
        life.exit();
    }

    private void freeMessages() {
        if (messages != null) {
            messages.close();
        }
    }

    /**
     * Creates an endpoint to connect with (rdma_create_ep(3)): address and route are resolved, and a queue pair is made
     * when attributes are given. Blocks while the library resolves, two seconds each at most.
     *
     * @param engine whose connection manager
     * @param address where to, as {@link AddressInfo#lookUp} found it
     * @param domainOrNull the queue pair's protection domain; null for the library's own
     * @param attributesOrNull what the queue pair shall be made of, of the address's type; null for none. Without
     *     completion queues it gets some of its own: see {@link #messages}
     * @return the endpoint, to be closed by the caller
     * @throws VerbsException when the address can't be resolved ({@code ENODEV}, {@code ETIMEDOUT}), or the queue pair not
     *     be made
     * @throws IllegalArgumentException when the address is one to listen at, or leaves type or port space open, or the
     *     attributes are of another type
     */
    public static ConnectionEndpoint create(
            RdmaEngine engine,
            AddressInfo address,
            ProtectionDomain domainOrNull,
            QueuePairInitAttributes attributesOrNull)
            throws VerbsException {
        checkAddress(address, false, attributesOrNull);
        CommunicationIdHandle handle = VerbsAccess.get().engine(engine).createEndpoint(address);
        return of(engine, handle, null, domainOrNull, attributesOrNull);
    }

    static void checkAddress(AddressInfo address, boolean passive, QueuePairInitAttributes attributesOrNull) {
        if (address.isPassive() != passive) {
            throw new IllegalArgumentException(
                    passive
                            ? "the address is one to connect to (AddressInfoFlags.PASSIVE is not set)"
                            : "the address is one to listen at (AddressInfoFlags.PASSIVE is set)");
        }
        if (address.queuePairType() == QueuePairType.UNKNOWN || address.portSpace() == PortSpace.UNKNOWN) {
            throw new IllegalArgumentException(
                    "the address leaves queue pair type or port space open; give them as hints");
        }
        if (attributesOrNull != null && attributesOrNull.type() != address.queuePairType()) {
            throw new IllegalArgumentException(
                    "attributes of " + attributesOrNull.type() + " for an address of " + address.queuePairType());
        }
    }

    /** Owns the handle from the beginning; undoes everything when it fails. */
    static ConnectionEndpoint of(
            RdmaEngine engine,
            CommunicationIdHandle handle,
            TakenRequest request,
            ProtectionDomain domainOrNull,
            QueuePairInitAttributes attributesOrNull)
            throws VerbsException {
        EventChannel channel;
        CommunicationId id = null;
        try {
            channel = EventChannel.open(engine);
            try {
                id = channel.adopt(handle);
            } catch (Throwable failure) {
                channel.close();
                throw failure;
            }
        } finally {
            if (id == null) {
                handle.destroy();
            }
        }
        ConnectionEndpoint endpoint = new ConnectionEndpoint(id, request);
        try {
            if (attributesOrNull != null) {
                id.createQueuePair(domainOrNull, attributesOrNull);
                endpoint.messages = new MessageQueues(id);
            }
            return endpoint;
        } catch (Throwable failure) {
            endpoint.close();
            throw failure;
        }
    }

    /**
     * The id.
     *
     * @return the id, which this endpoint owns
     */
    public CommunicationId id() {
        return id;
    }

    /**
     * Sends and receives messages.
     *
     * @return the messages of the queue pair, which this endpoint owns
     * @throws IllegalStateException when the endpoint was created without a queue pair
     */
    public MessageQueues messages() {
        if (messages == null) {
            throw new IllegalStateException("this ConnectionEndpoint was created without a queue pair");
        }
        return messages;
    }

    /**
     * What the peer sent along with its request to connect.
     *
     * @return a copy; empty for an endpoint that did not come from {@link ListeningEndpoint#getRequest}
     */
    public byte[] requestPrivateData() {
        return request == null ? NOTHING : request.privateData().clone();
    }

    /**
     * The parameters of the peer's request to connect, seen from this side.
     *
     * @return the parameters; null for datagrams, and for an endpoint that did not come from a request
     */
    public ConnectionParameters requestParameters() {
        return request == null ? null : request.connectionParameters();
    }

    /**
     * The event that the last wait took ({@code event} of {@code struct rdma_cm_id}), also one that made it fail: it has
     * the peer's private data, and where datagrams go to.
     *
     * @return the event, acknowledged; null before the first
     */
    public CommunicationEvent lastEvent() {
        return lastEvent;
    }

    /**
     * Connects, and waits until the connection stands (rdma_connect(3)); for datagrams, until the peer has told its queue
     * pair.
     *
     * @param parameters how
     * @param privateData what the peer shall read in its request; null or empty for none
     * @param timeoutMillis how long to wait
     * @return ESTABLISHED with the peer's private data; CONNECT_RESPONSE when the endpoint has no queue pair
     * @throws VerbsException when the peer rejects ({@code ECONNREFUSED}; see {@link #lastEvent}), can't be reached, or
     *     does not answer in time ({@code ETIMEDOUT}; close the endpoint then)
     * @throws IOException when waiting fails
     * @throws IllegalArgumentException when there is too much private data
     * @throws IllegalStateException after close, also while waiting
     */
    public CommunicationEvent connect(ConnectionParameters parameters, byte[] privateData, int timeoutMillis)
            throws IOException {
        long deadlineNanos = Waiting.deadlineNanos(timeoutMillis);
        id.connect(parameters, privateData);
        return await(
                "rdma_connect",
                EnumSet.of(CommunicationEventType.ESTABLISHED, CommunicationEventType.CONNECT_RESPONSE),
                deadlineNanos);
    }

    /**
     * Accepts the request that this endpoint came with, and waits until the connection stands (rdma_accept(3)); for
     * datagrams there is nothing to wait for.
     *
     * @param parameters how
     * @param privateData what the peer shall read in its ESTABLISHED; null or empty for none
     * @param timeoutMillis how long to wait
     * @throws VerbsException when the peer is gone, or does not answer in time ({@code ETIMEDOUT})
     * @throws IOException when waiting fails
     * @throws IllegalArgumentException when there is too much private data
     * @throws IllegalStateException after close, also while waiting, or when it did not come from a request
     */
    public void accept(ConnectionParameters parameters, byte[] privateData, int timeoutMillis) throws IOException {
        long deadlineNanos = Waiting.deadlineNanos(timeoutMillis);
        requireRequest();
        id.accept(parameters, privateData);
        if (request.datagramParameters() == null) {
            await("rdma_accept", EnumSet.of(CommunicationEventType.ESTABLISHED), deadlineNanos);
        }
    }

    /**
     * Rejects the request that this endpoint came with (rdma_reject(3)). Does not wait.
     *
     * @param privateData what the peer shall read in its REJECTED; null or empty for none
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when there is too much private data
     * @throws IllegalStateException after close, or when it did not come from a request
     */
    public void reject(byte[] privateData) throws VerbsException {
        requireRequest();
        id.reject(privateData);
    }

    private void requireRequest() {
        if (request == null) {
            throw new IllegalStateException("this ConnectionEndpoint did not come from a request to connect");
        }
    }

    /**
     * Disconnects, and waits until the peer has seen it (rdma_disconnect(3)), unless the last event tells that the peer has
     * disconnected before.
     *
     * @param timeoutMillis how long to wait
     * @throws VerbsException when it is not connected ({@code EINVAL}), or the peer does not answer in time
     *     ({@code ETIMEDOUT})
     * @throws IOException when waiting fails
     * @throws IllegalStateException after close, also while waiting
     */
    public void disconnect(int timeoutMillis) throws IOException {
        long deadlineNanos = Waiting.deadlineNanos(timeoutMillis);
        CommunicationEvent last = lastEvent;
        id.disconnect();
        if (last != null && last.type() == CommunicationEventType.DISCONNECTED) {
            return;
        }
        await("rdma_disconnect", EnumSet.of(CommunicationEventType.DISCONNECTED), deadlineNanos);
    }

    /**
     * Joins a multicast group, and waits until it is joined (rdma_join_multicast_ex(3)).
     *
     * @param group the group's address
     * @param how for what
     * @param timeoutMillis how long to wait
     * @return MULTICAST_JOIN, with where to send and the membership, which the caller may close to leave the group
     * @throws VerbsException when it can't be joined, or not in time ({@code ETIMEDOUT}); it is left then
     * @throws IOException when waiting fails
     * @throws IllegalStateException after close, also while waiting
     */
    public CommunicationEvent joinMulticast(InetAddress group, MulticastJoin how, int timeoutMillis)
            throws IOException {
        long deadlineNanos = Waiting.deadlineNanos(timeoutMillis);
        MulticastMembership membership = id.joinMulticast(group, how);
        try {
            return await("rdma_join_multicast_ex", EnumSet.of(CommunicationEventType.MULTICAST_JOIN), deadlineNanos);
        } catch (Throwable failure) {
            membership.close();
            throw failure;
        }
    }

    /**
     * Waits for the next event, whatever it is.
     *
     * @param timeoutMillis how long to wait; 0 only looks
     * @return the event, acknowledged; null when the time is over
     * @throws IOException when taking it or waiting fails
     * @throws IllegalStateException after close, also while waiting
     */
    public CommunicationEvent awaitEvent(int timeoutMillis) throws IOException {
        return next(Waiting.deadlineNanos(timeoutMillis));
    }

    private CommunicationEvent next(long deadlineNanos) throws IOException {
        while (true) {
            life.enter();
            try {
                CommunicationEvent event = id.channel().takeEvent();
                if (event != null) {
                    event.close();
                    lastEvent = event;
                    return event;
                }
                if (!Waiting.slice(id.channel().fileDescriptor(), deadlineNanos)) {
                    return null;
                }
            } finally {
                life.exit();
            }
        }
    }

    /** Waits for one of these; every other event but a hint ends the wait. */
    private CommunicationEvent await(String function, Set<CommunicationEventType> wanted, long deadlineNanos)
            throws IOException {
        while (true) {
            CommunicationEvent event = next(deadlineNanos);
            if (event == null) {
                throw new VerbsException(
                        function, "peer=" + id.remoteAddress(), Errno.ETIMEDOUT, "The time to wait is over.");
            }
            if (wanted.contains(event.type())) {
                return event;
            }
            if (!HINTS.contains(event.type())) {
                throw new VerbsException(
                        function, "peer=" + id.remoteAddress(), errno(event), "It ended with " + event + ".");
            }
        }
    }

    private static int errno(CommunicationEvent event) {
        return switch (event.type()) {
            case REJECTED -> Errno.ECONNREFUSED;
            case DISCONNECTED -> Errno.ECONNRESET;
            case DEVICE_REMOVAL -> Errno.ENODEV;
            // A negative one is an error number. A positive one is the peer's answer to the request for its datagram
            // queue pair: it has none to offer.
            case UNREACHABLE -> event.status() > 0 ? Errno.ECONNREFUSED : errorNumber(event);
            default -> errorNumber(event);
        };
    }

    private static int errorNumber(CommunicationEvent event) {
        return event.status() < 0 ? -event.status() : Errno.EPROTO;
    }

    /**
     * Destroys the endpoint (rdma_destroy_ep(3)) with its queue pair, what was made for that, its id and event channel.
     * Whoever waits in one of its methods gets an IllegalStateException. Idempotent.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }

    /**
     * The addresses.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        if (!id.life().tryEnter()) {
            return "ConnectionEndpoint[closed]";
        }
        try {
            return "ConnectionEndpoint[" + id.handle().localAddress() + ", "
                    + id.handle().remoteAddress() + "]";
        } finally {
            id.life().exit();
        }
    }
}
