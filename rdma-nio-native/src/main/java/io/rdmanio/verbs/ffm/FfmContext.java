package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** {@code struct ibv_context}, with the driver's functions that are inline in C. */
final class FfmContext implements ContextHandle {
    private static final int GID_BYTES = 16;
    // What abi_compat holds in a context of the newer kind (__VERBS_ABI_IS_EXTENDED).
    static final long EXTENDED = -1;

    final long context;
    final NativeFunction pollCq;
    final NativeFunction reqNotifyCq;
    final NativeFunction postSend;
    final NativeFunction postRecv;
    private final int cmdFd;
    private final long device;
    private final String name;
    private final TransportType transport;

    FfmContext(long context) {
        this.context = context;
        MemorySegment struct = IbvContext.STRUCT.at(context);
        pollCq = operation(struct, IbvContext.OPS_POLL_CQ);
        reqNotifyCq = operation(struct, IbvContext.OPS_REQ_NOTIFY_CQ);
        postSend = operation(struct, IbvContext.OPS_POST_SEND);
        postRecv = operation(struct, IbvContext.OPS_POST_RECV);
        cmdFd = IbvContext.CMD_FD.get(struct);
        device = IbvContext.DEVICE.get(struct);
        MemorySegment deviceStruct = IbvDevice.STRUCT.at(device);
        name = IbvDevice.NAME.of(deviceStruct).getString(0);
        transport = TransportType.of(IbvDevice.TRANSPORT_TYPE.get(deviceStruct));
    }

    private static NativeFunction operation(MemorySegment context, Field.U64 field) {
        return new NativeFunction(field.nativeName(), MemorySegment.ofAddress(field.get(context)));
    }

    /**
     * Whether the memory still holds the context it held; the connection manager frees one whose device was removed.
     */
    boolean isStillCurrent() {
        MemorySegment struct = IbvContext.STRUCT.at(context);
        return IbvContext.CMD_FD.get(struct) == cmdFd && IbvContext.DEVICE.get(struct) == device;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public TransportType transport() {
        return transport;
    }

    @Override
    public DeviceAttributes queryDevice() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvDeviceAttr.SIZE);
            int result = (int) Downcall.call(Imports.IBV_QUERY_DEVICE.get(), frame, context, frame.argumentsAddress());
            Status.check(result, frame, Imports.IBV_QUERY_DEVICE, name);
            return Attributes.device(attributes);
        }
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvPortAttr.SIZE);
            NativeFunction extended = verbsContextOperation(VerbsContext.QUERY_PORT);
            // The exported function is the older one: it leaves the last fields alone.
            int result = (int)
                    (extended != null
                            ? Downcall.call(extended, frame, context, port, frame.argumentsAddress(), IbvPortAttr.SIZE)
                            : Downcall.call(
                                    Imports.IBV_QUERY_PORT.get(), frame, context, port, frame.argumentsAddress()));
            Status.check(result, frame, Imports.IBV_QUERY_PORT, name + ", port=" + port);
            return Attributes.port(attributes);
        }
    }

    /**
     * A function of the struct that lies before a context of the newer kind (verbs_get_ctx_op); null when there is
     * none.
     */
    NativeFunction verbsContextOperation(Field.U64 field) {
        if (IbvContext.ABI_COMPAT.get(IbvContext.STRUCT.at(context)) != EXTENDED) {
            return null;
        }
        long beginning = context - VerbsContext.CONTEXT.offset();
        long neededBytes = VerbsContext.SIZE - field.offset();
        if (Pointers.bytes(beginning + VerbsContext.SZ.offset(), Long.BYTES).get(ValueLayout.JAVA_LONG, 0)
                < neededBytes) {
            return null;
        }
        long address = Pointers.bytes(beginning + field.offset(), Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
        return address == 0 ? null : new NativeFunction(field.nativeName(), MemorySegment.ofAddress(address));
    }

    @Override
    public byte[] queryGid(int port, int index) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int)
                    Downcall.call(Imports.IBV_QUERY_GID.get(), frame, context, port, index, frame.argumentsAddress());
            Status.check(result, frame, Imports.IBV_QUERY_GID, name + ", port=" + port + ", index=" + index);
            return frame.arguments().asSlice(0, GID_BYTES).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Override
    public ProtectionDomainHandle allocateProtectionDomain() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long pd = Downcall.call(Imports.IBV_ALLOC_PD.get(), frame, context);
            return new FfmProtectionDomain(Status.checkPointer(pd, frame, Imports.IBV_ALLOC_PD, name));
        }
    }

    @Override
    public CompletionChannelHandle createCompletionChannel() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long channel = Downcall.call(Imports.IBV_CREATE_COMP_CHANNEL.get(), frame, context);
            Status.checkPointer(channel, frame, Imports.IBV_CREATE_COMP_CHANNEL, name);
            FfmCompletionChannel handle = new FfmCompletionChannel(channel);
            try {
                FfmEngine.setFlags(handle.fileDescriptor());
            } catch (VerbsException e) {
                handle.destroy();
                throw e;
            }
            return handle;
        }
    }

    @Override
    public CompletionQueueHandle createCompletionQueue(int depthEntries, CompletionChannelHandle channel, long token)
            throws VerbsException {
        long compChannel = channel == null ? 0 : ((FfmCompletionChannel) channel).channel;
        try (CallFrame frame = CallFrame.enter()) {
            long cq = Downcall.call(Imports.IBV_CREATE_CQ.get(), frame, context, depthEntries, token, compChannel, 0);
            Status.checkPointer(cq, frame, Imports.IBV_CREATE_CQ, name + ", entries=" + depthEntries);
            return new FfmCompletionQueue(this, cq);
        }
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_CLOSE_DEVICE.get(), frame, context);
            Status.check(result, frame, Imports.IBV_CLOSE_DEVICE, name);
        }
    }
}
