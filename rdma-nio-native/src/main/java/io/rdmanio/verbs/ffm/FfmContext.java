package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.LongStream;

/** {@code struct ibv_context}, with the driver's functions that are inline in C. */
final class FfmContext implements ContextHandle {
    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    // What C programs call, by macros that add the size of an entry.
    private static final String QUERY_GID_EX = "ibv_query_gid_ex";
    private static final String QUERY_GID_TABLE = "ibv_query_gid_table";
    // What abi_compat holds in a context of the newer kind (__VERBS_ABI_IS_EXTENDED).
    static final long EXTENDED = -1;

    final long context;
    final NativeFunction pollCq;
    final NativeFunction reqNotifyCq;
    final NativeFunction postSend;
    final NativeFunction postRecv;
    final NativeFunction postSrqRecv;
    private final int cmdFd;
    private final int asyncFd;
    private final int numCompVectors;
    private final long device;
    private final String name;
    private final TransportType transport;
    // Set once, to true; setting the descriptor's flags twice does no harm.
    private volatile boolean asyncFlagsSet;
    private final Object queuesLock = new Object();
    // Set under the lock, once, before the first queue.
    private volatile boolean preparedForQueues;
    // Guarded by the lock; null where there is nothing to keep out of use.
    private FfmCompletionQueue offsetKeeper;

    FfmContext(long context) {
        this.context = context;
        MemorySegment struct = IbvContext.STRUCT.at(context);
        pollCq = operation(struct, IbvContext.OPS_POLL_CQ);
        reqNotifyCq = operation(struct, IbvContext.OPS_REQ_NOTIFY_CQ);
        postSend = operation(struct, IbvContext.OPS_POST_SEND);
        postRecv = operation(struct, IbvContext.OPS_POST_RECV);
        postSrqRecv = operation(struct, IbvContext.OPS_POST_SRQ_RECV);
        cmdFd = IbvContext.CMD_FD.get(struct);
        asyncFd = IbvContext.ASYNC_FD.get(struct);
        numCompVectors = IbvContext.NUM_COMP_VECTORS.get(struct);
        device = IbvContext.DEVICE.get(struct);
        MemorySegment deviceStruct = IbvDevice.STRUCT.at(device);
        name = IbvDevice.NAME.of(deviceStruct).getString(0);
        transport = TransportType.of(IbvDevice.TRANSPORT_TYPE.get(deviceStruct));
    }

    /**
     * The exception for a function that is inline in C and that this device's driver, or this version of libibverbs,
     * does not have.
     */
    VerbsException missing(String function) {
        return new VerbsException(
                function,
                name,
                Errno.EOPNOTSUPP,
                "The device's driver does not have the operation, or " + NativeLibrary.IBVERBS.version()
                        + " does not know it.");
    }

    /**
     * A function of the context's table, for calls that are not on a hot path.
     *
     * @throws VerbsException when the driver doesn't have it
     */
    NativeFunction operation(Field.U64 field, String function) throws VerbsException {
        long address = field.get(IbvContext.STRUCT.at(context));
        if (address == 0) {
            throw missing(function);
        }
        return new NativeFunction(function, MemorySegment.ofAddress(address));
    }

    /** A function of the driver's table; null when the driver has none. */
    private static NativeFunction operation(MemorySegment context, Field.U64 field) {
        long address = field.get(context);
        return address == 0 ? null : new NativeFunction(field.nativeName(), MemorySegment.ofAddress(address));
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
    public ExtendedDeviceAttributes queryDeviceExtended() throws VerbsException {
        NativeFunction function = verbsContextOperation(VerbsContext.QUERY_DEVICE_EX);
        if (function == null) {
            return ExtendedDeviceAttributes.of(queryDevice());
        }
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvDeviceAttrEx.SIZE);
            int result =
                    (int) Downcall.call(function, frame, context, 0, frame.argumentsAddress(), IbvDeviceAttrEx.SIZE);
            int errno = Status.errno(result, frame);
            if (errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS) {
                return ExtendedDeviceAttributes.of(queryDevice());
            }
            if (errno != 0) {
                throw new VerbsException("ibv_query_device_ex", name, errno, Cures.of("ibv_query_device_ex", errno));
            }
            return Attributes.extendedDevice(attributes);
        }
    }

    @Override
    public int queryPartitionKey(int port, int index) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int)
                    Downcall.call(Imports.IBV_QUERY_PKEY.get(), frame, context, port, index, frame.argumentsAddress());
            Status.check(result, frame, Imports.IBV_QUERY_PKEY, name + ", port=" + port + ", index=" + index);
            return Short.toUnsignedInt(frame.arguments().get(NETWORK_SHORT, 0));
        }
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment entry = frame.cleared(IbvGidEntry.SIZE);
            int result = (int) Downcall.call(
                    Imports.IBV_QUERY_GID_EX.get(),
                    frame,
                    context,
                    port,
                    index,
                    frame.argumentsAddress(),
                    0,
                    IbvGidEntry.SIZE);
            Status.check(result, frame, QUERY_GID_EX, name + ", port=" + port + ", index=" + index);
            return Attributes.gidEntry(entry);
        }
    }

    @Override
    public List<GidEntry> queryGidTable() throws VerbsException {
        long capacity = 0;
        int ports = queryDevice().physicalPorts();
        for (int port = 1; port <= ports; port++) {
            capacity += queryPort(port).gidTableLength();
        }
        if (capacity == 0) {
            return List.of();
        }
        try (CallFrame frame = CallFrame.enter();
                Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(capacity * IbvGidEntry.SIZE, Long.BYTES);
            long count = Downcall.call(
                    Imports.IBV_QUERY_GID_TABLE.get(),
                    frame,
                    context,
                    entries.address(),
                    capacity,
                    0,
                    IbvGidEntry.SIZE);
            if (count < 0) {
                Status.check((int) count, frame, QUERY_GID_TABLE, name);
            }
            return LongStream.range(0, count)
                    .mapToObj(i -> Attributes.gidEntry(entries.asSlice(i * IbvGidEntry.SIZE, IbvGidEntry.SIZE)))
                    .toList();
        }
    }

    @Override
    public int completionVectors() {
        return numCompVectors;
    }

    @Override
    public int asyncFileDescriptor() throws VerbsException {
        if (!asyncFlagsSet) {
            FfmEngine.setFlags(asyncFd);
            asyncFlagsSet = true;
        }
        return asyncFd;
    }

    @Override
    public TakenAsyncEvent takeAsyncEvent() throws VerbsException {
        int fd = asyncFileDescriptor();
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment event = frame.cleared(IbvAsyncEvent.SIZE);
            int result =
                    (int) Downcall.call(Imports.IBV_GET_ASYNC_EVENT.get(), frame, context, frame.argumentsAddress());
            if (result != 0) {
                if (frame.errno() != Errno.EAGAIN && frame.errno() != Errno.EINTR) {
                    Status.check(result, frame, Imports.IBV_GET_ASYNC_EVENT, name + ", fd=" + fd);
                }
                return null;
            }
            int value = IbvAsyncEvent.EVENT_TYPE.get(event);
            AsyncEventType.Subject subject = AsyncEventType.of(value).subject();
            return new TakenAsyncEvent(
                    value,
                    subject.isObject() ? IbvAsyncEvent.ELEMENT_QP.get(event) : 0,
                    subject == AsyncEventType.Subject.PORT ? IbvAsyncEvent.ELEMENT_PORT_NUM.get(event) : 0);
        }
    }

    @Override
    public void acknowledgeAsyncEvent(TakenAsyncEvent event) {
        if (event.element() == 0) {
            return; // Nobody waits for it, and the C function does nothing.
        }
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment struct = frame.cleared(IbvAsyncEvent.SIZE);
            IbvAsyncEvent.ELEMENT_QP.set(struct, event.element());
            IbvAsyncEvent.EVENT_TYPE.set(struct, event.value());
            Downcall.call(Imports.IBV_ACK_ASYNC_EVENT.get(), frame, frame.argumentsAddress());
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
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

    /** The same, where there is nothing to do without it; {@code function} is its name for those who call it in C. */
    NativeFunction requireOperation(Field.U64 field, String function) throws VerbsException {
        NativeFunction operation = verbsContextOperation(field);
        if (operation == null) {
            throw missing(function);
        }
        return operation;
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int)
                    Downcall.call(Imports.IBV_QUERY_GID.get(), frame, context, port, index, frame.argumentsAddress());
            Status.check(result, frame, Imports.IBV_QUERY_GID, name + ", port=" + port + ", index=" + index);
            return QueuePairStructs.gid(frame.arguments());
        }
    }

    @Override
    public AddressHandleAttributes pathToSender(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            FfmAddressHandle.putDatagram(frame, completion, header);
            long arguments = frame.argumentsAddress();
            int result = (int) Downcall.call(
                    Imports.IBV_INIT_AH_FROM_WC.get(),
                    frame,
                    context,
                    port,
                    arguments + FfmAddressHandle.COMPLETION,
                    arguments + FfmAddressHandle.HEADER,
                    arguments + FfmAddressHandle.PATH);
            Status.check(result, frame, Imports.IBV_INIT_AH_FROM_WC, name + ", port=" + port);
            return QueuePairStructs.path(frame.arguments().asSlice(FfmAddressHandle.PATH, IbvAhAttr.SIZE));
        }
    }

    @Override
    public ProtectionDomainHandle allocateProtectionDomain() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long pd = Downcall.call(Imports.IBV_ALLOC_PD.get(), frame, context);
            return new FfmProtectionDomain(this, Status.checkPointer(pd, frame, Imports.IBV_ALLOC_PD, name));
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
        return createCompletionQueue(depthEntries, channel, token, 0);
    }

    @Override
    public CompletionQueueHandle createCompletionQueue(
            int depthEntries, CompletionChannelHandle channel, long token, int vector) throws VerbsException {
        prepareForQueues();
        return newCompletionQueue(depthEntries, channel, token, vector);
    }

    /** Does what the device needs before its context has its first queue, of any kind. */
    void prepareForQueues() throws VerbsException {
        if (preparedForQueues) {
            return;
        }
        synchronized (queuesLock) {
            if (!preparedForQueues) {
                if (transport == TransportType.IWARP && SiwOffsets.concern(this)) {
                    offsetKeeper = SiwOffsets.take(this);
                }
                preparedForQueues = true;
            }
        }
    }

    /** A completion queue without a channel, whatever was prepared. */
    FfmCompletionQueue newCompletionQueue(int depthEntries) throws VerbsException {
        return newCompletionQueue(depthEntries, null, 0, 0);
    }

    private FfmCompletionQueue newCompletionQueue(
            int depthEntries, CompletionChannelHandle channel, long token, int vector) throws VerbsException {
        long compChannel = channel == null ? 0 : ((FfmCompletionChannel) channel).channel;
        try (CallFrame frame = CallFrame.enter()) {
            long cq = Downcall.call(
                    Imports.IBV_CREATE_CQ.get(), frame, context, depthEntries, token, compChannel, vector);
            Status.checkPointer(
                    cq, frame, Imports.IBV_CREATE_CQ, name + ", entries=" + depthEntries + ", vector=" + vector);
            return new FfmCompletionQueue(this, cq);
        }
    }

    @Override
    public XrcDomainHandle openXrcDomain(int fileDescriptor, int flags) throws VerbsException {
        return FfmXrcDomain.open(this, fileDescriptor, flags);
    }

    @Override
    public void destroy() throws VerbsException {
        synchronized (queuesLock) {
            if (offsetKeeper != null) {
                offsetKeeper.destroy();
                offsetKeeper = null;
            }
        }
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_CLOSE_DEVICE.get(), frame, context);
            Status.check(result, frame, Imports.IBV_CLOSE_DEVICE, name);
        }
    }
}
