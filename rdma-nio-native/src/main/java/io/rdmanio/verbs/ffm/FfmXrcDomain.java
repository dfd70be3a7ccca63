package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_xrcd}. */
final class FfmXrcDomain implements XrcDomainHandle {
    private static final String OPEN = "ibv_open_xrcd";
    private static final String CLOSE = "ibv_close_xrcd";

    final long xrcd;
    private final NativeFunction close;

    private FfmXrcDomain(NativeFunction close, long xrcd) {
        this.close = close;
        this.xrcd = xrcd;
    }

    /** Opens one (ibv_open_xrcd), after a look whether it can be closed. */
    static FfmXrcDomain open(FfmContext context, int fileDescriptor, int flags) throws VerbsException {
        NativeFunction open = context.requireOperation(VerbsContext.OPEN_XRCD, OPEN);
        NativeFunction close = context.requireOperation(VerbsContext.CLOSE_XRCD, CLOSE);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.cleared(IbvXrcdInitAttr.SIZE);
            IbvXrcdInitAttr.COMP_MASK.set(
                    init, IbvXrcdInitAttr.IBV_XRCD_INIT_ATTR_FD | IbvXrcdInitAttr.IBV_XRCD_INIT_ATTR_OFLAGS);
            IbvXrcdInitAttr.FD.set(init, fileDescriptor);
            IbvXrcdInitAttr.OFLAGS.set(init, flags);
            long xrcd = Downcall.call(open, frame, context.context, frame.argumentsAddress());
            if (xrcd == 0) {
                int errno = frame.errno();
                throw new VerbsException(
                        OPEN,
                        context.name() + ", fd=" + fileDescriptor + ", oflags=0x" + Integer.toHexString(flags),
                        errno,
                        Cures.of(OPEN, errno));
            }
            return new FfmXrcDomain(close, xrcd);
        }
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int errno = Status.errno((int) Downcall.call(close, frame, xrcd), frame);
            if (errno != 0) {
                throw new VerbsException(CLOSE, "", errno, Cures.of(CLOSE, errno));
            }
        }
    }
}
