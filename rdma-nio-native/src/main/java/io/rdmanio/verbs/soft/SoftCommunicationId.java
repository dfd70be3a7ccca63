package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.soft.IdState.Input;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * An id of the software device: checks what librdmacm and the kernel check, in their order, and hands on to its
 * {@link SoftConnection} and {@link IdAddresses}.
 *
 * <p>Thread safety: all methods may be called by any thread. The lock of the {@link ConnectionManager} guards the fields.
 */
final class SoftCommunicationId implements CommunicationIdHandle {
    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    // RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH: as many as there can be.
    private static final int AS_MANY_AS_POSSIBLE = 255;
    private static final byte[] NOTHING = {};

    private final ConnectionDevice device;
    private final ConnectionManager manager;
    private final SoftConnection connection;
    private final IdAddresses addresses;
    private SoftEventChannel channel;
    private boolean ownsChannel;
    private SoftSharedReceiveQueue sharedReceiveQueue;
    private long token;
    // What goes before the private data of the first request.
    private byte[] connectData = NOTHING;

    /** Under the manager's lock. */
    SoftCommunicationId(SoftEventChannel channel, SoftConnection connection, PortSpace space) {
        this.device = channel.device();
        this.manager = device.connections();
        this.channel = channel;
        this.connection = connection;
        this.addresses = new IdAddresses(manager, connection, space);
        connection.owner(this);
    }

    /** Has it destroy its channel, which nobody else has, when it leaves it. */
    void ownChannel() {
        ownsChannel = true;
    }

    /** Has bytes go before the private data of its first request to connect. */
    void connectData(byte[] data) {
        connectData = data;
    }

    /** Under the manager's lock. */
    EventQueue queue() {
        return channel.queue();
    }

    /** Under the manager's lock. */
    long token() {
        return token;
    }

    /** What was created for it last; null when there is none. */
    ConnectedQueuePair connectedQueuePair() {
        return manager.get(connection::queuePair);
    }

    @Override
    public void setToken(long newToken) {
        manager.run(() -> token = newToken);
    }

    @Override
    public void migrate(EventChannelHandle target) {
        SoftEventChannel left = manager.get(() -> {
            SoftEventChannel old = channel;
            channel = (SoftEventChannel) target;
            old.queue().remove(event -> event.target() == connection).forEach(channel.queue()::add);
            boolean isLeft = ownsChannel;
            ownsChannel = false;
            return isLeft ? old : null;
        });
        if (left != null) {
            left.destroy();
        }
    }

    @Override
    public void resolveAddress(InetSocketAddress source, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException {
        addresses.resolve(source, destination);
        manager.run(connection::tellAddressResolved);
    }

    @Override
    public boolean resolveAtOnce(InetSocketAddress destination) throws VerbsException {
        addresses.resolve(null, destination);
        manager.run(connection::resolveRoute);
        return true;
    }

    @Override
    public void resolveRoute(int timeoutMillis) throws VerbsException {
        addresses.requireDevice("rdma_resolve_route");
        manager.call(() -> {
            require(Input.RESOLVE_ROUTE, "rdma_resolve_route", "The address must be resolved first.");
            connection.resolveRoute();
            connection.tellRouteResolved();
        });
    }

    @Override
    public void findPeer(int timeoutMillis, Consumer<Gid> whenKnown) throws VerbsException {
        addresses.requireDevice("findPeer");
        ConnectionPeer known = manager.get(connection::peer);
        if (known != null) {
            whenKnown.accept(SoftContext.gid(known.peerToken()));
            return;
        }
        manager.call(() -> require(Input.CONNECT, "findPeer", "The route must be resolved."));
        new PeerSearch(manager, connection, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis), whenKnown)
                .begin();
    }

    @Override
    public void bind(InetSocketAddress address) throws VerbsException {
        addresses.bind(address);
    }

    @Override
    public void listen(int backlog) throws VerbsException {
        addresses.listen(backlog);
    }

    private void require(Input operation, String function, String explanation) throws VerbsException {
        if (connection.refuses(operation)) {
            throw IdAddresses.invalid(function, "state=" + connection.state(), explanation);
        }
    }

    @Override
    public void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        addresses.requireDevice("rdma_connect");
        manager.call(() -> {
            byte[] data = withConnectData(privateData);
            require(Input.CONNECT, "rdma_connect", "The route must be resolved, once for each attempt to connect.");
            checkReads("rdma_connect", parameters);
            checkLength("rdma_connect", data, ControlMessage.REQUEST_PRIVATE_DATA_BYTES);
            connection.connect(limited(parameters, device.maxReads(), device.maxReads()), data);
            connectData = NOTHING;
        });
    }

    private byte[] withConnectData(byte[] privateData) {
        if (connectData.length + privateData.length > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException("private data of " + privateData.length + " bytes and the "
                    + connectData.length + " of the address are more than " + MAX_PRIVATE_DATA_BYTES);
        }
        byte[] data = new byte[connectData.length + privateData.length];
        System.arraycopy(connectData, 0, data, 0, connectData.length);
        System.arraycopy(privateData, 0, data, connectData.length, privateData.length);
        return data;
    }

    private void checkReads(String function, ConnectionParameters parameters) throws VerbsException {
        int max = device.maxReads();
        if (isTooMany(parameters.responderResources(), max) || isTooMany(parameters.initiatorDepth(), max)) {
            throw IdAddresses.invalid(
                    function,
                    parameters.toString(),
                    "Responder resources and initiator depth must not exceed the device's limit, " + max + ".");
        }
    }

    private static boolean isTooMany(int reads, int max) {
        return reads > max && reads != AS_MANY_AS_POSSIBLE;
    }

    private static void checkLength(String function, byte[] data, int maxBytes) throws VerbsException {
        if (data.length > maxBytes) {
            throw IdAddresses.invalid(
                    function,
                    "private data of " + data.length + " bytes",
                    "Private data may have at most " + maxBytes + " bytes here.");
        }
    }

    private static ConnectionParameters limited(ConnectionParameters wanted, int resources, int depth) {
        return new ConnectionParameters(
                wanted.responderResources() == AS_MANY_AS_POSSIBLE ? resources : wanted.responderResources(),
                wanted.initiatorDepth() == AS_MANY_AS_POSSIBLE ? depth : wanted.initiatorDepth(),
                wanted.flowControl(),
                wanted.retryCount(),
                wanted.rnrRetryCount(),
                wanted.srq(),
                wanted.queuePairNumber());
    }

    @Override
    public void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        addresses.requireDevice("rdma_accept");
        manager.call(() -> {
            require(
                    Input.ACCEPT,
                    "rdma_accept",
                    "The id must come from a CONNECT_REQUEST that is not answered, and its peer be there still.");
            checkReads("rdma_accept", parameters);
            checkLength("rdma_accept", privateData, ControlMessage.REPLY_PRIVATE_DATA_BYTES);
            ConnectionParameters peers = connection.terms.peers();
            connection.accept(
                    limited(
                            parameters,
                            Math.min(peers.responderResources(), device.maxReads()),
                            Math.min(peers.initiatorDepth(), device.maxReads())),
                    privateData);
        });
    }

    @Override
    public void reject(byte[] privateData) throws VerbsException {
        manager.call(() -> {
            require(
                    Input.REJECT,
                    "rdma_reject",
                    "The id must come from a CONNECT_REQUEST, or be connecting, and not be connected or rejected yet.");
            checkLength("rdma_reject", privateData, ControlMessage.REJECT_PRIVATE_DATA_BYTES);
            connection.reject(privateData);
        });
    }

    @Override
    public void establish() throws VerbsException {
        addresses.requireDevice("rdma_establish");
        manager.call(() -> {
            if (connection.queuePair() != null) {
                throw IdAddresses.invalid("rdma_establish", "", "The id has a queue pair, so this is done already.");
            }
            require(
                    Input.ESTABLISH,
                    "rdma_establish",
                    "There was no CONNECT_RESPONSE on the id, or it is established already.");
            connection.establish();
        });
    }

    @Override
    public void notify(int eventType) throws VerbsException {
        manager.call(() -> {
            if (connection.state() == IdState.ESTABLISHED) {
                throw new VerbsException("rdma_notify", "event=" + eventType, Errno.EISCONN, "It is no news.");
            }
            if (eventType != AsyncEventType.COMMUNICATION_ESTABLISHED.value() || connection.refuses(Input.NOTIFY)) {
                throw IdAddresses.invalid(
                        "rdma_notify",
                        "event=" + eventType + ", state=" + connection.state(),
                        "Only IBV_EVENT_COMM_EST means something, on an id that has accepted and is not established.");
            }
            connection.dataCame();
        });
    }

    @Override
    public void disconnect() throws VerbsException {
        addresses.requireDevice("rdma_disconnect");
        manager.call(() -> {
            require(Input.DISCONNECT, "rdma_disconnect", "The id has not begun to connect.");
            connection.disconnect();
        });
    }

    @Override
    public void setOption(IdOption option, int value) throws VerbsException {
        switch (option) {
            // There is no network that would look at it.
            case TYPE_OF_SERVICE -> {}
            case REUSE_ADDRESS -> addresses.setReuse(value != 0);
            case ADDRESS_FAMILY_ONLY -> addresses.setFamilyOnly(value != 0);
            case ACKNOWLEDGEMENT_TIMEOUT -> manager.run(() -> connection.terms.acknowledgementTimeout(value));
        }
    }

    @Override
    public void setPath(byte[] pathData) throws VerbsException {
        throw IdAddresses.invalid(
                "rdma_set_option", "RDMA_OPTION_IB_PATH", "The device has no paths. Resolve the route instead.");
    }

    @Override
    public ProtectionDomainHandle protectionDomain() {
        return device() == null ? null : device.domain();
    }

    @Override
    public QueuePairHandle createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request)
            throws VerbsException {
        addresses.requireDevice("rdma_create_qp");
        if (connectedQueuePair() != null) {
            throw IdAddresses.invalid("rdma_create_qp", "", "The id has a queue pair.");
        }
        try {
            ConnectionDevice.NewQueuePair made = device.createQueuePair(domain, request);
            manager.run(() -> connection.queuePair(made.connected()));
            return made.handle();
        } catch (VerbsException e) {
            throw Failures.within("rdma_create_qp", request.type() + ", " + request.capabilities(), e);
        }
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle domain,
            SharedReceiveQueueAttributes wanted,
            XrcDomainHandle xrcDomain,
            CompletionQueueHandle queue)
            throws VerbsException {
        if (xrcDomain != null) {
            return CommunicationIdHandle.super.createSharedReceiveQueue(domain, wanted, xrcDomain, queue);
        }
        addresses.requireDevice("rdma_create_srq");
        SoftSharedReceiveQueue present = manager.get(() -> sharedReceiveQueue);
        if (present != null && !present.isDestroyed()) {
            throw IdAddresses.invalid("rdma_create_srq", "", "The id has a shared receive queue.");
        }
        try {
            SharedReceiveQueueHandle made = device.createSharedReceiveQueue(domain, wanted);
            manager.run(() -> sharedReceiveQueue = (SoftSharedReceiveQueue) made);
            return made;
        } catch (VerbsException e) {
            throw Failures.within("rdma_create_srq", wanted.toString(), e);
        }
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState state) throws VerbsException {
        addresses.requireDevice("rdma_init_qp_attr");
        ConnectedQueuePair.Agreement agreement = manager.get(connection::agreement);
        return IdAttributes.of(agreement, manager.get(connection::peer), state);
    }

    @Override
    public int sourcePort() {
        InetSocketAddress address = localAddress();
        return address == null ? 0 : address.getPort();
    }

    @Override
    public int destinationPort() {
        InetSocketAddress address = remoteAddress();
        return address == null ? 0 : address.getPort();
    }

    @Override
    public ContextHandle device() {
        return addresses.hasDevice() ? device.context() : null;
    }

    @Override
    public int portNumber() {
        return addresses.hasDevice() ? 1 : 0;
    }

    @Override
    public InetSocketAddress localAddress() {
        return manager.get(connection::source);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return manager.get(connection::destination);
    }

    /** Does not wait, since whoever owns it has acknowledged its events. */
    @Override
    public void destroy() {
        SoftEventChannel left = manager.get(() -> {
            manager.forget(connection);
            return ownsChannel ? channel : null;
        });
        addresses.release();
        if (left != null) {
            left.destroy();
        }
    }
}
