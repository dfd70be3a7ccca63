package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.MulticastJoin;
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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** {@code struct rdma_cm_id}. */
final class FfmCommunicationId implements CommunicationIdHandle {
    static final int RDMA_OPTION_ID = 0;
    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    static final int RDMA_OPTION_IB = 1;
    static final int RDMA_OPTION_IB_PATH = 1;
    static final int RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1;
    static final int RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 2;

    // Places in a call's argument memory.
    private static final long SOURCE = 0;
    private static final long DESTINATION = 64;
    private static final long PRIVATE_DATA = 64;
    private static final String NO_DEVICE =
            "The id has no device yet: the address must be resolved, or a listener accept.";

    private final FfmEngine engine;
    final long id;
    private final MemorySegment struct;
    // The function that undoes the one that made it.
    private final ImportedFunction destroyer;
    // What librdmacm puts before the private data of a request to connect, into a place of RDMA_MAX_PRIVATE_DATA bytes.
    private final int connectDataBytes;

    FfmCommunicationId(FfmEngine engine, long id) {
        this(engine, id, Imports.RDMA_DESTROY_ID, 0);
    }

    private FfmCommunicationId(FfmEngine engine, long id, ImportedFunction destroyer, int connectDataBytes) {
        this.engine = engine;
        this.id = id;
        this.struct = RdmaCmId.STRUCT.at(id);
        this.destroyer = destroyer;
        this.connectDataBytes = connectDataBytes;
    }

    /** Without a queue pair, which is created afterwards: its queues need the device that is found here. */
    static FfmCommunicationId createEndpoint(FfmEngine engine, AddressInfo address) throws VerbsException {
        String arguments = "source=" + address.source() + ", destination=" + address.destination() + ", portSpace="
                + address.portSpace();
        try (Arena arena = Arena.ofConfined();
                CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(
                    Imports.RDMA_CREATE_EP.get(),
                    frame,
                    frame.argumentsAddress(),
                    FfmAddressInfo.write(arena, address),
                    0,
                    0);
            Status.check(result, frame, Imports.RDMA_CREATE_EP, arguments);
            return new FfmCommunicationId(
                    engine,
                    frame.arguments().get(ValueLayout.JAVA_LONG, 0),
                    Imports.RDMA_DESTROY_EP,
                    address.connectData().length);
        }
    }

    /** The descriptor of the channel that an id without a channel of the program's has. */
    int channelDescriptor() {
        return RdmaEventChannel.FD.get(RdmaEventChannel.STRUCT.at(RdmaCmId.CHANNEL.get(struct)));
    }

    @Override
    public void setToken(long token) {
        RdmaCmId.CONTEXT.set(struct, token);
    }

    @Override
    public void migrate(EventChannelHandle channel) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result =
                    (int) Downcall.call(Imports.RDMA_MIGRATE_ID.get(), frame, id, ((FfmEventChannel) channel).channel);
            Status.check(result, frame, Imports.RDMA_MIGRATE_ID, "address=" + localAddress());
        }
    }

    @Override
    public void resolveAddress(InetSocketAddress source, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long arguments = frame.argumentsAddress();
            if (source != null) {
                SocketAddresses.write(source, frame.arguments().asSlice(SOURCE, DESTINATION));
            }
            SocketAddresses.write(destination, frame.arguments().asSlice(DESTINATION, DESTINATION));
            int result = (int) Downcall.call(
                    Imports.RDMA_RESOLVE_ADDR.get(),
                    frame,
                    id,
                    source == null ? 0 : arguments + SOURCE,
                    arguments + DESTINATION,
                    timeoutMillis);
            Status.check(
                    result,
                    frame,
                    Imports.RDMA_RESOLVE_ADDR,
                    "source=" + source + ", destination=" + destination + ", timeoutMillis=" + timeoutMillis);
        }
    }

    @Override
    public void resolveRoute(int timeoutMillis) throws VerbsException {
        requireDevice(Imports.RDMA_RESOLVE_ROUTE);
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_RESOLVE_ROUTE.get(), frame, id, timeoutMillis);
            Status.check(result, frame, Imports.RDMA_RESOLVE_ROUTE, "timeoutMillis=" + timeoutMillis);
        }
    }

    @Override
    public void bind(InetSocketAddress address) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            SocketAddresses.write(address, frame.arguments());
            int result = (int) Downcall.call(Imports.RDMA_BIND_ADDR.get(), frame, id, frame.argumentsAddress());
            Status.check(result, frame, Imports.RDMA_BIND_ADDR, address.toString());
        }
    }

    @Override
    public void listen(int backlog) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_LISTEN.get(), frame, id, backlog);
            Status.check(result, frame, Imports.RDMA_LISTEN, "address=" + localAddress() + ", backlog=" + backlog);
        }
    }

    @Override
    public void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        establish(Imports.RDMA_CONNECT, parameters, privateData);
    }

    @Override
    public void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        establish(Imports.RDMA_ACCEPT, parameters, privateData);
    }

    private void establish(ImportedFunction function, ConnectionParameters parameters, byte[] privateData)
            throws VerbsException {
        requireDevice(function);
        if (connectDataBytes + privateData.length > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException("private data of " + privateData.length + " bytes and the "
                    + connectDataBytes + " of the address are more than " + MAX_PRIVATE_DATA_BYTES);
        }
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment param = frame.cleared(RdmaConnParam.SIZE);
            RdmaConnParam.PRIVATE_DATA.set(param, putPrivateData(frame, privateData));
            RdmaConnParam.PRIVATE_DATA_LEN.set(param, privateData.length);
            RdmaConnParam.RESPONDER_RESOURCES.set(param, parameters.responderResources());
            RdmaConnParam.INITIATOR_DEPTH.set(param, parameters.initiatorDepth());
            RdmaConnParam.FLOW_CONTROL.set(param, parameters.flowControl());
            RdmaConnParam.RETRY_COUNT.set(param, parameters.retryCount());
            RdmaConnParam.RNR_RETRY_COUNT.set(param, parameters.rnrRetryCount());
            RdmaConnParam.SRQ.set(param, parameters.srq() ? 1 : 0);
            RdmaConnParam.QP_NUM.set(param, parameters.queuePairNumber());
            int result = (int) Downcall.call(function.get(), frame, id, frame.argumentsAddress());
            Status.check(
                    result,
                    frame,
                    function,
                    "peer=" + remoteAddress() + ", " + parameters + ", private data of " + privateData.length
                            + " bytes");
        }
    }

    /** librdmacm reads the id's device without looking whether there is one. */
    private void requireDevice(ImportedFunction function) throws VerbsException {
        if (RdmaCmId.VERBS.get(struct) == 0) {
            throw new VerbsException(function.name(), "", Errno.EINVAL, NO_DEVICE);
        }
    }

    private static long putPrivateData(CallFrame frame, byte[] privateData) {
        MemorySegment.copy(privateData, 0, frame.arguments(), ValueLayout.JAVA_BYTE, PRIVATE_DATA, privateData.length);
        return privateData.length == 0 ? 0 : frame.argumentsAddress() + PRIVATE_DATA;
    }

    @Override
    public void reject(byte[] privateData) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long data = putPrivateData(frame, privateData);
            int result = (int) Downcall.call(Imports.RDMA_REJECT.get(), frame, id, data, privateData.length);
            Status.check(
                    result,
                    frame,
                    Imports.RDMA_REJECT,
                    "peer=" + remoteAddress() + ", private data of " + privateData.length + " bytes");
        }
    }

    @Override
    public void disconnect() throws VerbsException {
        requireDevice(Imports.RDMA_DISCONNECT);
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_DISCONNECT.get(), frame, id);
            Status.check(result, frame, Imports.RDMA_DISCONNECT, "peer=" + remoteAddress());
        }
    }

    @Override
    public void setOption(IdOption option, int value) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            if (option.sizeBytes() == 1) {
                frame.arguments().set(ValueLayout.JAVA_BYTE, 0, (byte) value);
            } else {
                frame.arguments().set(ValueLayout.JAVA_INT, 0, value);
            }
            int result = (int) Downcall.call(
                    Imports.RDMA_SET_OPTION.get(),
                    frame,
                    id,
                    RDMA_OPTION_ID,
                    option.value(),
                    frame.argumentsAddress(),
                    option.sizeBytes());
            Status.check(result, frame, Imports.RDMA_SET_OPTION, option.nativeName() + ", value=" + value);
        }
    }

    @Override
    public QueuePairHandle createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request)
            throws VerbsException {
        ImportedFunction function = request.xrcDomain() == null ? Imports.RDMA_CREATE_QP : Imports.RDMA_CREATE_QP_EX;
        requireDevice(function);
        long pd = ((FfmProtectionDomain) domain).pd;
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.cleared(IbvQpInitAttrEx.SIZE);
            QueuePairStructs.write(request, init);
            wantNoFurtherQueues(request, IbvQpInitAttr.CAP.of(init));
            int result;
            if (request.xrcDomain() == null) {
                result = (int) Downcall.call(function.get(), frame, id, pd, frame.argumentsAddress());
            } else {
                IbvQpInitAttrEx.COMP_MASK.set(
                        init, IbvQpInitAttrEx.IBV_QP_INIT_ATTR_PD | IbvQpInitAttrEx.IBV_QP_INIT_ATTR_XRCD);
                IbvQpInitAttrEx.PD.set(init, pd);
                IbvQpInitAttrEx.XRCD.set(init, ((FfmXrcDomain) request.xrcDomain()).xrcd);
                result = (int) Downcall.call(function.get(), frame, id, frame.argumentsAddress());
            }
            Status.check(result, frame, function, request.type() + ", " + request.capabilities());
            return new FfmQueuePair(
                    engine.borrowed(RdmaCmId.VERBS.get(struct)),
                    id,
                    RdmaCmId.QP.get(struct),
                    QueuePairStructs.capabilities(IbvQpInitAttr.CAP.of(init)));
        }
    }

    /** Where there is no queue, as of the extended types, the library makes one for requests that such a queue pair can't have. */
    private static void wantNoFurtherQueues(QueuePairRequest request, MemorySegment capabilities) {
        if (request.sendQueue() == null) {
            IbvQpCap.MAX_SEND_WR.set(capabilities, 0);
        }
        if (request.receiveQueue() == null) {
            IbvQpCap.MAX_RECV_WR.set(capabilities, 0);
        }
    }

    @Override
    public void setPath(byte[] pathData) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment.copy(pathData, 0, frame.arguments(), ValueLayout.JAVA_BYTE, 0, pathData.length);
            int result = (int) Downcall.call(
                    Imports.RDMA_SET_OPTION.get(),
                    frame,
                    id,
                    RDMA_OPTION_IB,
                    RDMA_OPTION_IB_PATH,
                    frame.argumentsAddress(),
                    pathData.length);
            Status.check(result, frame, Imports.RDMA_SET_OPTION, "RDMA_OPTION_IB_PATH, bytes=" + pathData.length);
        }
    }

    @Override
    public void establish() throws VerbsException {
        requireDevice(Imports.RDMA_ESTABLISH);
        if (RdmaCmId.QP.get(struct) != 0) {
            throw new VerbsException(
                    Imports.RDMA_ESTABLISH.name(),
                    "",
                    Errno.EINVAL,
                    "The id has a queue pair, so this is done already.");
        }
        // The kernel takes this for an accept without parameters, which its iWARP part reads all the same.
        if (engine.borrowed(RdmaCmId.VERBS.get(struct)).transport() == TransportType.IWARP) {
            throw new VerbsException(
                    Imports.RDMA_ESTABLISH.name(), "", Errno.EOPNOTSUPP, "On iWARP the kernel does this step.");
        }
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_ESTABLISH.get(), frame, id);
            Status.check(result, frame, Imports.RDMA_ESTABLISH, "peer=" + remoteAddress());
        }
    }

    @Override
    public void notify(int eventType) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_NOTIFY.get(), frame, id, eventType);
            Status.check(result, frame, Imports.RDMA_NOTIFY, "event=" + eventType);
        }
    }

    @Override
    public void joinMulticast(InetAddress group, MulticastJoin join, long token) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            SocketAddresses.write(
                    new InetSocketAddress(group, 0), frame.arguments().asSlice(DESTINATION, DESTINATION));
            long address = frame.argumentsAddress() + DESTINATION;
            if (join == null) {
                int result = (int) Downcall.call(Imports.RDMA_JOIN_MULTICAST.get(), frame, id, address, token);
                Status.check(result, frame, Imports.RDMA_JOIN_MULTICAST, "group=" + group);
                return;
            }
            MemorySegment attributes = frame.arguments();
            RdmaCmJoinMcAttrEx.COMP_MASK.set(
                    attributes, RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS);
            RdmaCmJoinMcAttrEx.JOIN_FLAGS.set(attributes, join.value());
            RdmaCmJoinMcAttrEx.ADDR.set(attributes, address);
            int result = (int)
                    Downcall.call(Imports.RDMA_JOIN_MULTICAST_EX.get(), frame, id, frame.argumentsAddress(), token);
            Status.check(result, frame, Imports.RDMA_JOIN_MULTICAST_EX, "group=" + group + ", join=" + join);
        }
    }

    /** Detaches the queue pair, which taking the group's event attaches, so the two exclude each other. */
    @Override
    public void leaveMulticast(InetAddress group) throws VerbsException {
        FfmEventChannel.DELIVERY.lock();
        try (CallFrame frame = CallFrame.enter()) {
            SocketAddresses.write(new InetSocketAddress(group, 0), frame.arguments());
            int result = (int) Downcall.call(Imports.RDMA_LEAVE_MULTICAST.get(), frame, id, frame.argumentsAddress());
            Status.check(result, frame, Imports.RDMA_LEAVE_MULTICAST, "group=" + group);
        } finally {
            FfmEventChannel.DELIVERY.unlock();
        }
    }

    @Override
    public ProtectionDomainHandle protectionDomain() {
        long pd = RdmaCmId.PD.get(struct);
        return pd == 0 ? null : FfmProtectionDomain.borrowed(engine.borrowed(RdmaCmId.VERBS.get(struct)), pd);
    }

    @Override
    public int sourcePort() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            return Pointers.fromNetworkOrder((short) Downcall.call(Imports.RDMA_GET_SRC_PORT.get(), frame, id));
        }
    }

    @Override
    public int destinationPort() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            return Pointers.fromNetworkOrder((short) Downcall.call(Imports.RDMA_GET_DST_PORT.get(), frame, id));
        }
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle domain,
            SharedReceiveQueueAttributes wanted,
            XrcDomainHandle xrcDomain,
            CompletionQueueHandle queue)
            throws VerbsException {
        ImportedFunction function = xrcDomain == null ? Imports.RDMA_CREATE_SRQ : Imports.RDMA_CREATE_SRQ_EX;
        requireDevice(function);
        if (RdmaCmId.SRQ.get(struct) != 0) {
            throw new VerbsException(function.name(), "", Errno.EINVAL, "The id has a shared receive queue.");
        }
        FfmContext context = engine.borrowed(RdmaCmId.VERBS.get(struct));
        long pd = ((FfmProtectionDomain) domain).pd;
        return xrcDomain == null
                ? FfmSharedReceiveQueue.create(context, this, pd, wanted)
                : FfmSharedReceiveQueue.create(
                        context, this, pd, wanted, ((FfmXrcDomain) xrcDomain).xrcd, ((FfmCompletionQueue) queue).cq);
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState state) throws VerbsException {
        requireDevice(Imports.RDMA_INIT_QP_ATTR);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvQpAttr.SIZE + Integer.BYTES);
            IbvQpAttr.QP_STATE.set(attributes, state.value());
            int result = (int) Downcall.call(
                    Imports.RDMA_INIT_QP_ATTR.get(),
                    frame,
                    id,
                    frame.argumentsAddress(),
                    frame.argumentsAddress() + IbvQpAttr.SIZE);
            Status.check(result, frame, Imports.RDMA_INIT_QP_ATTR, "state=" + state);
            return QueuePairStructs.attributes(attributes, attributes.get(ValueLayout.JAVA_INT, IbvQpAttr.SIZE));
        }
    }

    @Override
    public ContextHandle device() {
        long verbs = RdmaCmId.VERBS.get(struct);
        return verbs == 0 ? null : engine.borrowed(verbs);
    }

    @Override
    public int portNumber() {
        return RdmaCmId.PORT_NUM.get(struct);
    }

    @Override
    public InetSocketAddress localAddress() {
        return SocketAddresses.read(RdmaCmId.ROUTE_ADDR_SRC_ADDR.of(struct));
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return SocketAddresses.read(RdmaCmId.ROUTE_ADDR_DST_ADDR.of(struct));
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(destroyer.get(), frame, id);
            // rdma_destroy_ep returns nothing.
            if (destroyer == Imports.RDMA_DESTROY_ID) {
                Status.check(result, frame, destroyer, "");
            }
        }
    }
}
