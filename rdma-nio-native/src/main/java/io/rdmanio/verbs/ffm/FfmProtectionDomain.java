package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AddressHandleHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_pd}. */
final class FfmProtectionDomain implements ProtectionDomainHandle {
    // Flags that a device may ignore are only known to the newer function (IBV_ACCESS_OPTIONAL_RANGE).
    static final int OPTIONAL_RANGE = 0x3FF00000;

    private static final String ALLOC_MW = "ibv_alloc_mw";

    final long pd;
    private final FfmContext context;
    private final boolean borrowed;

    FfmProtectionDomain(FfmContext context, long pd) {
        this(context, pd, false);
    }

    private FfmProtectionDomain(FfmContext context, long pd, boolean borrowed) {
        this.context = context;
        this.pd = pd;
        this.borrowed = borrowed;
    }

    /** A domain of the connection manager, which deallocates it itself. */
    static FfmProtectionDomain borrowed(FfmContext context, long pd) {
        return new FfmProtectionDomain(context, pd, true);
    }

    private static boolean optional(int accessFlags) {
        return (accessFlags & OPTIONAL_RANGE) != 0;
    }

    @Override
    public MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) throws VerbsException {
        if (optional(accessFlags)) {
            return registerMemory(address, lengthBytes, address, accessFlags);
        }
        try (CallFrame frame = CallFrame.enter()) {
            long mr = Downcall.call(Imports.IBV_REG_MR.get(), frame, pd, address, lengthBytes, accessFlags);
            return registered(mr, frame, Imports.IBV_REG_MR, lengthBytes, arguments(lengthBytes, accessFlags));
        }
    }

    @Override
    public MemoryRegionHandle registerMemory(long address, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        ImportedFunction function = optional(accessFlags) ? Imports.IBV_REG_MR_IOVA2 : Imports.IBV_REG_MR_IOVA;
        try (CallFrame frame = CallFrame.enter()) {
            long mr = Downcall.call(function.get(), frame, pd, address, lengthBytes, ioVirtualAddress, accessFlags);
            return registered(
                    mr,
                    frame,
                    function,
                    lengthBytes,
                    arguments(lengthBytes, accessFlags) + ", iova=0x" + Long.toHexString(ioVirtualAddress));
        }
    }

    private static FfmMemoryRegion registered(
            long mr, CallFrame frame, ImportedFunction function, long lengthBytes, String arguments)
            throws VerbsException {
        if (mr == 0 && frame.errno() == Errno.ENOMEM) {
            throw new VerbsException(
                    function.name(), arguments, Errno.ENOMEM, Cures.lockedMemory(lengthBytes + " bytes are wanted. "));
        }
        return new FfmMemoryRegion(Status.checkPointer(mr, frame, function, arguments));
    }

    @Override
    public MemoryRegionHandle registerDmaBuf(
            int fileDescriptor, long offset, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long mr = Downcall.call(
                    Imports.IBV_REG_DMABUF_MR.get(),
                    frame,
                    pd,
                    offset,
                    lengthBytes,
                    ioVirtualAddress,
                    fileDescriptor,
                    accessFlags);
            return new FfmMemoryRegion(Status.checkPointer(
                    mr,
                    frame,
                    Imports.IBV_REG_DMABUF_MR,
                    "fd=" + fileDescriptor + ", offset=" + offset + ", " + arguments(lengthBytes, accessFlags)));
        }
    }

    @Override
    public MemoryWindowHandle allocateMemoryWindow(MemoryWindowType type) throws VerbsException {
        NativeFunction function = context.operation(IbvContext.OPS_ALLOC_MW, ALLOC_MW);
        try (CallFrame frame = CallFrame.enter()) {
            long mw = Downcall.call(function, frame, pd, type.value());
            if (mw == 0) {
                throw new VerbsException(
                        ALLOC_MW, context.name() + ", " + type, frame.errno(), Cures.of(ALLOC_MW, frame.errno()));
            }
            return new FfmMemoryWindow(context, mw);
        }
    }

    private static String arguments(long lengthBytes, int accessFlags) {
        return "length=" + lengthBytes + ", access=0x" + Integer.toHexString(accessFlags);
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        return FfmSharedReceiveQueue.create(context, pd, wanted);
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            SharedReceiveQueueAttributes wanted, XrcDomainHandle xrcDomain, CompletionQueueHandle queue)
            throws VerbsException {
        return FfmSharedReceiveQueue.create(
                context, pd, wanted, ((FfmXrcDomain) xrcDomain).xrcd, ((FfmCompletionQueue) queue).cq);
    }

    @Override
    public QueuePairHandle createQueuePair(QueuePairRequest request) throws VerbsException {
        if (request.xrcDomain() != null) {
            return ((FfmXrcDomain) request.xrcDomain()).createQueuePair(request);
        }
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.arguments();
            QueuePairStructs.write(request, init);
            long qp = Downcall.call(Imports.IBV_CREATE_QP.get(), frame, pd, frame.argumentsAddress());
            Status.checkPointer(qp, frame, Imports.IBV_CREATE_QP, request.type() + ", " + request.capabilities());
            return new FfmQueuePair(context, qp, QueuePairStructs.capabilities(IbvQpInitAttr.CAP.of(init)));
        }
    }

    @Override
    public AddressHandleHandle createAddressHandle(AddressHandleAttributes attributes) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            QueuePairStructs.write(attributes, frame.arguments());
            long ah = Downcall.call(Imports.IBV_CREATE_AH.get(), frame, pd, frame.argumentsAddress());
            return new FfmAddressHandle(Status.checkPointer(ah, frame, Imports.IBV_CREATE_AH, attributes.toString()));
        }
    }

    @Override
    public AddressHandleHandle createAddressHandle(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            FfmAddressHandle.putDatagram(frame, completion, header);
            long arguments = frame.argumentsAddress();
            long ah = Downcall.call(
                    Imports.IBV_CREATE_AH_FROM_WC.get(),
                    frame,
                    pd,
                    arguments + FfmAddressHandle.COMPLETION,
                    arguments + FfmAddressHandle.HEADER,
                    port);
            return new FfmAddressHandle(Status.checkPointer(ah, frame, Imports.IBV_CREATE_AH_FROM_WC, "port=" + port));
        }
    }

    @Override
    public void destroy() throws VerbsException {
        if (borrowed) {
            return;
        }
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DEALLOC_PD.get(), frame, pd);
            Status.check(result, frame, Imports.IBV_DEALLOC_PD, "");
        }
    }
}
