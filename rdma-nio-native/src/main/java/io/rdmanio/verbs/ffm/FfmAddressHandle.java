package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AddressHandleHandle;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_ah}. */
final class FfmAddressHandle implements AddressHandleHandle {
    // Places in a call's argument memory.
    static final long COMPLETION = 0;
    static final long HEADER = WorkCompletionLayout.SIZE;
    static final long PATH = HEADER + IbvGrh.SIZE;

    private final long ah;

    FfmAddressHandle(long ah) {
        this.ah = ah;
    }

    /**
     * Copies a completion and the header of its datagram into a frame: C takes them by pointer and a buffer on the heap
     * has none. Without a header there is one of zeros, since libibverbs looks into it before it looks whether the
     * completion tells of one.
     */
    static void putDatagram(CallFrame frame, MemorySegment completion, MemorySegment header) {
        MemorySegment arguments = frame.cleared(PATH + IbvAhAttr.SIZE);
        MemorySegment.copy(completion, 0, arguments, COMPLETION, WorkCompletionLayout.SIZE);
        if (header != null) {
            MemorySegment.copy(header, 0, arguments, HEADER, IbvGrh.SIZE);
        }
    }

    @Override
    public long pointer() {
        return ah;
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DESTROY_AH.get(), frame, ah);
            Status.check(result, frame, Imports.IBV_DESTROY_AH, "");
        }
    }
}
