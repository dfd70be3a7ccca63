package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ReregisterResult;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_mr}. */
final class FfmMemoryRegion implements MemoryRegionHandle {
    private final long mr;
    private final MemorySegment struct;

    FfmMemoryRegion(long mr) {
        this.mr = mr;
        this.struct = IbvMr.STRUCT.at(mr);
    }

    @Override
    public int localKey() {
        return IbvMr.LKEY.get(struct);
    }

    @Override
    public int remoteKey() {
        return IbvMr.RKEY.get(struct);
    }

    @Override
    public long reference() {
        return mr;
    }

    @Override
    public ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, long address, long lengthBytes, int accessFlags)
            throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(
                    Imports.IBV_REREG_MR.get(),
                    frame,
                    mr,
                    changes,
                    domain == null ? 0 : ((FfmProtectionDomain) domain).pd,
                    address,
                    lengthBytes,
                    accessFlags);
            return result == 0
                    ? ReregisterResult.DONE
                    : new ReregisterResult(ReregisterError.of(result), frame.errno());
        }
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DEREG_MR.get(), frame, mr);
            Status.check(result, frame, Imports.IBV_DEREG_MR, "");
        }
    }
}
