package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_mr}. */
final class FfmMemoryRegion implements MemoryRegionHandle {
    private final long mr;
    private final int lkey;
    private final int rkey;

    FfmMemoryRegion(long mr) {
        this.mr = mr;
        MemorySegment struct = IbvMr.STRUCT.at(mr);
        lkey = IbvMr.LKEY.get(struct);
        rkey = IbvMr.RKEY.get(struct);
    }

    @Override
    public int localKey() {
        return lkey;
    }

    @Override
    public int remoteKey() {
        return rkey;
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DEREG_MR.get(), frame, mr);
            Status.check(result, frame, Imports.IBV_DEREG_MR, "");
        }
    }
}
