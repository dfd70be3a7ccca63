package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.XrcDomainHandle;

/** {@code struct ibv_pd}. */
final class FfmProtectionDomain implements ProtectionDomainHandle {
    // Flags that a device may ignore are only known to the newer function (IBV_ACCESS_OPTIONAL_RANGE).
    static final int OPTIONAL_RANGE = 0x3FF00000;

    final long pd;
    private final FfmContext context;

    FfmProtectionDomain(FfmContext context, long pd) {
        this.context = context;
        this.pd = pd;
    }

    @Override
    public MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) throws VerbsException {
        boolean optional = (accessFlags & OPTIONAL_RANGE) != 0;
        ImportedFunction function = optional ? Imports.IBV_REG_MR_IOVA2 : Imports.IBV_REG_MR;
        try (CallFrame frame = CallFrame.enter()) {
            long mr = optional
                    ? Downcall.call(function.get(), frame, pd, address, lengthBytes, address, accessFlags)
                    : Downcall.call(function.get(), frame, pd, address, lengthBytes, accessFlags);
            if (mr == 0 && frame.errno() == Errno.ENOMEM) {
                throw new VerbsException(
                        function.name(),
                        arguments(lengthBytes, accessFlags),
                        Errno.ENOMEM,
                        Cures.lockedMemory(lengthBytes + " bytes are wanted. "));
            }
            return new FfmMemoryRegion(Status.checkPointer(mr, frame, function, arguments(lengthBytes, accessFlags)));
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
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DEALLOC_PD.get(), frame, pd);
            Status.check(result, frame, Imports.IBV_DEALLOC_PD, "");
        }
    }
}
