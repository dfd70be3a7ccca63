package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_xrcd}. */
final class FfmXrcDomain implements XrcDomainHandle {
    private static final String OPEN = "ibv_open_xrcd";
    private static final String CLOSE = "ibv_close_xrcd";
    private static final String CREATE_QP = "ibv_create_qp_ex";
    private static final String OPEN_QP = "ibv_open_qp";

    final long xrcd;
    private final FfmContext context;
    private final NativeFunction close;

    private FfmXrcDomain(FfmContext context, NativeFunction close, long xrcd) {
        this.context = context;
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
            return new FfmXrcDomain(context, close, xrcd);
        }
    }

    /** Creates a receiving queue pair of this domain (ibv_create_qp_ex). */
    FfmQueuePair createQueuePair(QueuePairRequest request) throws VerbsException {
        NativeFunction create = context.requireOperation(VerbsContext.CREATE_QP_EX, CREATE_QP);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.cleared(IbvQpInitAttrEx.SIZE);
            QueuePairStructs.write(request, init);
            IbvQpInitAttrEx.COMP_MASK.set(init, IbvQpInitAttrEx.IBV_QP_INIT_ATTR_XRCD);
            IbvQpInitAttrEx.XRCD.set(init, xrcd);
            long qp = Downcall.call(create, frame, context.context, frame.argumentsAddress());
            requireQueuePair(qp, frame, CREATE_QP, request.type() + ", " + request.capabilities());
            return new FfmQueuePair(context, qp, QueuePairStructs.capabilities(IbvQpInitAttrEx.CAP.of(init)));
        }
    }

    @Override
    public QueuePairHandle openQueuePair(int number) throws VerbsException {
        NativeFunction open = context.requireOperation(VerbsContext.OPEN_QP, OPEN_QP);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvQpOpenAttr.SIZE);
            IbvQpOpenAttr.COMP_MASK.set(
                    attributes,
                    IbvQpOpenAttr.IBV_QP_OPEN_ATTR_NUM
                            | IbvQpOpenAttr.IBV_QP_OPEN_ATTR_XRCD
                            | IbvQpOpenAttr.IBV_QP_OPEN_ATTR_TYPE);
            IbvQpOpenAttr.QP_NUM.set(attributes, number);
            IbvQpOpenAttr.XRCD.set(attributes, xrcd);
            IbvQpOpenAttr.QP_TYPE.set(attributes, QueuePairType.XRC_RECEIVE.value());
            long qp = Downcall.call(open, frame, context.context, frame.argumentsAddress());
            requireQueuePair(qp, frame, OPEN_QP, "queuePair=" + number);
            return new FfmQueuePair(context, qp, new QueuePairCapabilities(0, 0, 0, 0, 0));
        }
    }

    private static void requireQueuePair(long qp, CallFrame frame, String function, String arguments)
            throws VerbsException {
        if (qp == 0) {
            int errno = frame.errno();
            throw new VerbsException(function, arguments, errno, Cures.of(function, errno));
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
