package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;

/** {@code struct rdma_cm_id}. */
final class FfmCommunicationId implements CommunicationIdHandle {
    static final int RDMA_OPTION_ID = 0;

    // Places in a call's argument memory.
    private static final long SOURCE = 0;
    private static final long DESTINATION = 64;
    private static final long PRIVATE_DATA = 64;
    private static final String NO_DEVICE =
            "The id has no device yet: the address must be resolved, or a listener accept.";

    private final FfmEngine engine;
    private final long id;
    private final MemorySegment struct;

    FfmCommunicationId(FfmEngine engine, long id) {
        this.engine = engine;
        this.id = id;
        this.struct = RdmaCmId.STRUCT.at(id);
    }

    @Override
    public void setToken(long token) {
        RdmaCmId.CONTEXT.set(struct, token);
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
        requireDevice(Imports.RDMA_CREATE_QP);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.arguments();
            QueuePairStructs.write(request, init);
            int result = (int) Downcall.call(
                    Imports.RDMA_CREATE_QP.get(),
                    frame,
                    id,
                    ((FfmProtectionDomain) domain).pd,
                    frame.argumentsAddress());
            Status.check(result, frame, Imports.RDMA_CREATE_QP, request.type() + ", " + request.capabilities());
            return new FfmQueuePair(
                    engine.borrowed(RdmaCmId.VERBS.get(struct)),
                    id,
                    RdmaCmId.QP.get(struct),
                    QueuePairStructs.capabilities(IbvQpInitAttr.CAP.of(init)));
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
            int result = (int) Downcall.call(Imports.RDMA_DESTROY_ID.get(), frame, id);
            Status.check(result, frame, Imports.RDMA_DESTROY_ID, "");
        }
    }
}
