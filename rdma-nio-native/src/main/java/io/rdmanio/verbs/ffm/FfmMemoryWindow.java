package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_mw}. */
final class FfmMemoryWindow implements MemoryWindowHandle {
    private static final String BIND = "ibv_bind_mw";
    private static final String DEALLOCATE = "ibv_dealloc_mw";

    private final FfmContext context;
    private final long mw;
    private final MemorySegment struct;

    FfmMemoryWindow(FfmContext context, long mw) {
        this.context = context;
        this.mw = mw;
        this.struct = IbvMw.STRUCT.at(mw);
    }

    @Override
    public int remoteKey() {
        return IbvMw.RKEY.get(struct);
    }

    @Override
    public void setRemoteKey(int remoteKey) {
        IbvMw.RKEY.set(struct, remoteKey);
    }

    @Override
    public long reference() {
        return mw;
    }

    @Override
    public void bind(
            QueuePairHandle pair,
            long workRequestId,
            int flags,
            MemoryRegionHandle region,
            long address,
            long lengthBytes,
            int accessFlags)
            throws VerbsException {
        NativeFunction function = context.operation(IbvContext.OPS_BIND_MW, BIND);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment bind = frame.cleared(IbvMwBind.SIZE);
            IbvMwBind.WR_ID.set(bind, workRequestId);
            IbvMwBind.SEND_FLAGS.set(bind, flags);
            IbvMwBind.BIND_INFO_MR.set(bind, region.reference());
            IbvMwBind.BIND_INFO_ADDR.set(bind, address);
            IbvMwBind.BIND_INFO_LENGTH.set(bind, lengthBytes);
            IbvMwBind.BIND_INFO_MW_ACCESS_FLAGS.set(bind, accessFlags);
            int result = (int) Downcall.call(function, frame, ((FfmQueuePair) pair).qp, mw, frame.argumentsAddress());
            Status.check(
                    result,
                    frame,
                    BIND,
                    "queuePair=" + pair.number() + ", length=" + lengthBytes + ", access=0x"
                            + Integer.toHexString(accessFlags));
        }
    }

    @Override
    public void destroy() throws VerbsException {
        NativeFunction function = context.operation(IbvContext.OPS_DEALLOC_MW, DEALLOCATE);
        try (CallFrame frame = CallFrame.enter()) {
            Status.check((int) Downcall.call(function, frame, mw), frame, DEALLOCATE, "");
        }
    }
}
