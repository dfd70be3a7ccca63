package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.net.InetSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;

/**
 * A communication id ({@code struct rdma_cm_id}): what a socket is to TCP. Its methods make system calls; those that
 * begin something return at once, and an event in its {@link EventChannel} tells how it ended. On iWARP
 * {@link #connect} may block for seconds.
 *
 * <p>Thread safety: all methods may be called by any thread; their order is the caller's business.
 * {@code unacknowledged} is guarded by the event channel.
 */
public final class CommunicationId implements AutoCloseable {
    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    private static final int MAX_TYPE_OF_SERVICE = 255;

    final Set<CommunicationEvent> unacknowledged = new HashSet<>();
    private final EventChannel channel;
    private final CommunicationIdHandle handle;
    private final Lifecycle life;
    private volatile Object attachment;

    CommunicationId(EventChannel channel, CommunicationIdHandle handle, long token) {
        this.channel = channel;
        this.handle = handle;
        this.life = new Lifecycle(
                HandleKind.COMMUNICATION_ID,
                () -> {
                    channel.forget(this, token);
                    handle.destroy();
                },
                channel.life());
    }

    /** A call on the native id. */
    private interface Call {
        void run() throws VerbsException;
    }

    private void inside(Call call) throws VerbsException {
        life.enter();
        try {
            call.run();
        } finally {
            life.exit();
        }
    }

    /**
     * Attaches an object of the caller.
     *
     * @param object the object, or null
     */
    public void attach(Object object) {
        attachment = object;
    }

    /**
     * The attached object.
     *
     * @return the object, or null
     */
    public Object attachment() {
        return attachment;
    }

    /**
     * Begins to resolve a destination and binds the id to a device (rdma_resolve_addr(3)); ends with ADDRESS_RESOLVED
     * or ADDRESS_ERROR.
     *
     * @param sourceOrNull the local address; null to choose by the route
     * @param destination the peer's address; an IPv4-mapped one is taken as IPv4
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once: no RDMA device has a route ({@code ENODEV}, {@code ENETUNREACH}),
     *     or it is bound elsewhere
     * @throws UnresolvedAddressException when an address is not resolved
     * @throws IllegalStateException after close
     */
    public void resolveAddress(InetSocketAddress sourceOrNull, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException {
        if (sourceOrNull != null) {
            checkResolved(sourceOrNull);
        }
        checkResolved(destination);
        inside(() -> handle.resolveAddress(sourceOrNull, destination, timeoutMillis));
    }

    /**
     * Begins to resolve the route (rdma_resolve_route(3)); ends with ROUTE_RESOLVED or ROUTE_ERROR.
     *
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once, as before the address is resolved ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public void resolveRoute(int timeoutMillis) throws VerbsException {
        inside(() -> handle.resolveRoute(timeoutMillis));
    }

    /**
     * Binds to a local address (rdma_bind_addr(3)): a specific one binds the id to its device too. Port 0 takes a free
     * one.
     *
     * @param address the address; an IPv4-mapped one is taken as IPv4
     * @throws VerbsException when it is in use ({@code EADDRINUSE}), or no RDMA device has it ({@code EADDRNOTAVAIL},
     *     {@code ENODEV})
     * @throws UnresolvedAddressException when the address is not resolved
     * @throws IllegalStateException after close
     */
    public void bind(InetSocketAddress address) throws VerbsException {
        checkResolved(address);
        inside(() -> handle.bind(address));
    }

    private static void checkResolved(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
    }

    /**
     * Listens (rdma_listen(3)); peers that want to connect cause CONNECT_REQUEST.
     *
     * @param backlog how many requests may wait
     * @throws VerbsException when it fails; on iWARP also when a TCP socket has the port ({@code EADDRINUSE})
     * @throws IllegalStateException after close
     */
    public void listen(int backlog) throws VerbsException {
        inside(() -> handle.listen(backlog));
    }

    /**
     * Begins to connect (rdma_connect(3)); ends with ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR. On iWARP it
     * blocks while TCP connects, seconds when nobody answers.
     *
     * @param parameters how
     * @param privateData what the peer shall read in its CONNECT_REQUEST; null or empty for none. At most 56 bytes in
     *     the TCP port space of InfiniBand and RoCE
     * @throws VerbsException when it fails at once: the route is not resolved, the id has no queue pair, or too much
     *     private data ({@code EINVAL}); nobody listens, on iWARP ({@code ECONNREFUSED})
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        Objects.requireNonNull(parameters, "parameters");
        byte[] data = checkPrivateData(privateData);
        inside(() -> handle.connect(parameters, data));
    }

    /**
     * Accepts a request to connect, on the id that came with it (rdma_accept(3)); ends with ESTABLISHED, or another
     * event when the peer is gone.
     *
     * @param parameters how; its responder resources and initiator depth no more than was asked for
     * @param privateData what the peer shall read in its ESTABLISHED; null or empty for none. At most 196 bytes on
     *     InfiniBand and RoCE
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        Objects.requireNonNull(parameters, "parameters");
        byte[] data = checkPrivateData(privateData);
        inside(() -> handle.accept(parameters, data));
    }

    /**
     * Rejects a request to connect, on the id that came with it (rdma_reject(3)). The id must be closed all the same.
     *
     * @param privateData what the peer shall read in its REJECTED; null or empty for none. At most 148 bytes on
     *     InfiniBand and RoCE
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void reject(byte[] privateData) throws VerbsException {
        byte[] data = checkPrivateData(privateData);
        inside(() -> handle.reject(data));
    }

    private static byte[] checkPrivateData(byte[] privateData) {
        if (privateData == null) {
            return new byte[0];
        }
        if (privateData.length > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException(
                    "private data of " + privateData.length + " bytes is more than " + MAX_PRIVATE_DATA_BYTES);
        }
        return privateData;
    }

    /**
     * Disconnects (rdma_disconnect(3)): the queue pair goes to ERROR, on iWARP after what was sent; ends with
     * DISCONNECTED on both sides.
     *
     * @throws VerbsException when the id is not connected ({@code EINVAL}; the peer may have disconnected before)
     * @throws IllegalStateException after close
     */
    public void disconnect() throws VerbsException {
        inside(handle::disconnect);
    }

    /**
     * Allows the address to be bound while another id has it (RDMA_OPTION_ID_REUSEADDR, rdma_set_option(3)). Before
     * bind.
     *
     * @param reuse whether
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public void setReuseAddress(boolean reuse) throws VerbsException {
        inside(() -> handle.setOption(IdOption.REUSE_ADDRESS, reuse ? 1 : 0));
    }

    /**
     * Keeps an IPv6 wildcard from taking IPv4 too (RDMA_OPTION_ID_AFONLY, rdma_set_option(3)). Before bind.
     *
     * @param only whether
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public void setAddressFamilyOnly(boolean only) throws VerbsException {
        inside(() -> handle.setOption(IdOption.ADDRESS_FAMILY_ONLY, only ? 1 : 0));
    }

    /**
     * Sets the type of service (RDMA_OPTION_ID_TOS, rdma_set_option(3)). Before connect.
     *
     * @param typeOfService as in the IP header, 0 to 255
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when the value is not 0 to 255
     * @throws IllegalStateException after close
     */
    public void setTypeOfService(int typeOfService) throws VerbsException {
        if (typeOfService < 0 || typeOfService > MAX_TYPE_OF_SERVICE) {
            throw new IllegalArgumentException("type of service " + typeOfService + " is not 0 to 255");
        }
        inside(() -> handle.setOption(IdOption.TYPE_OF_SERVICE, typeOfService));
    }

    /**
     * Creates the reliable connected queue pair of this id (rdma_create_qp(3)), which connect and accept bring to
     * READY_TO_SEND.
     *
     * @param domain its protection domain, made from {@link #device}
     * @param send where its send completions go
     * @param receive where its receive completions go; may be the same
     * @param wanted its sizes; {@link QueuePair#capabilities} tells what was granted
     * @param signalAll whether every send generates a completion
     * @return the queue pair, closed before this id
     * @throws VerbsException when sizes are more than the device allows ({@code EINVAL}), memory can't be locked
     *     ({@code ENOMEM}), or the id has a queue pair or no device ({@code EINVAL})
     * @throws IllegalArgumentException when the parts belong to different devices
     * @throws IllegalStateException after close, of the parts too
     */
    public QueuePair createQueuePair(
            ProtectionDomain domain,
            CompletionQueue send,
            CompletionQueue receive,
            QueuePairCapabilities wanted,
            boolean signalAll)
            throws VerbsException {
        life.enter();
        try {
            return VerbsAccess.get()
                    .newQueuePair(
                            handle::createQueuePair,
                            domain,
                            QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, wanted)
                                    .withSendQueue(send)
                                    .withReceiveQueue(receive)
                                    .withSignalAll(signalAll),
                            life);
        } finally {
            life.exit();
        }
    }

    /**
     * The device this id is bound to.
     *
     * @return the device, borrowed; null before the id is bound to one
     * @throws IllegalStateException after close
     */
    public DeviceContext device() {
        life.enter();
        try {
            ContextHandle context = handle.device();
            return context == null ? null : channel.context(context);
        } finally {
            life.exit();
        }
    }

    /**
     * The device's port this id is bound to.
     *
     * @return the port, from 1; 0 before the id is bound to a device
     * @throws IllegalStateException after close
     */
    public int portNumber() {
        life.enter();
        try {
            return handle.portNumber();
        } finally {
            life.exit();
        }
    }

    /**
     * The local address (rdma_get_local_addr(3)).
     *
     * @return the address, an IPv6 one with its scope; null when it is not set or no IP address
     * @throws IllegalStateException after close
     */
    public InetSocketAddress localAddress() {
        life.enter();
        try {
            return handle.localAddress();
        } finally {
            life.exit();
        }
    }

    /**
     * The peer's address (rdma_get_peer_addr(3)).
     *
     * @return the address, an IPv6 one with its scope; null when it is not set or no IP address
     * @throws IllegalStateException after close
     */
    public InetSocketAddress remoteAddress() {
        life.enter();
        try {
            return handle.remoteAddress();
        } finally {
            life.exit();
        }
    }

    /**
     * Destroys the id (rdma_destroy_id(3)) after its queue pair; a connection ends with DISCONNECTED at the peer, and a
     * request that was neither accepted nor rejected is rejected. Events of this id that were taken and not closed are
     * acknowledged first. Idempotent. Blocks until calls in progress on the id have returned, a connect on iWARP too.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
