package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** {@code struct ibv_srq}. */
final class FfmSharedReceiveQueue implements SharedReceiveQueueHandle {
    private static final String CREATE_EXTENDED = "ibv_create_srq_ex";
    private static final String GET_NUMBER = "ibv_get_srq_num";

    final long srq;
    private final FfmContext context;
    // The rdma_cm_id that it is the queue of, or 0.
    private final long id;
    private final SharedReceiveQueueAttributes granted;

    private FfmSharedReceiveQueue(FfmContext context, long srq, SharedReceiveQueueAttributes granted) {
        this(context, srq, 0, granted);
    }

    private FfmSharedReceiveQueue(FfmContext context, long srq, long id, SharedReceiveQueueAttributes granted) {
        this.context = context;
        this.srq = srq;
        this.id = id;
        this.granted = granted;
    }

    /** The one of an id (rdma_create_srq), which is looked up there. */
    static FfmSharedReceiveQueue create(
            FfmContext context, FfmCommunicationId id, long pd, SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        context.prepareForQueues();
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.cleared(IbvSrqInitAttr.SIZE);
            MemorySegment attributes = IbvSrqInitAttr.ATTR.of(init);
            IbvSrqAttr.write(attributes, wanted);
            int result = (int) Downcall.call(Imports.RDMA_CREATE_SRQ.get(), frame, id.id, pd, frame.argumentsAddress());
            Status.check(result, frame, Imports.RDMA_CREATE_SRQ, wanted.toString());
            return new FfmSharedReceiveQueue(
                    context, RdmaCmId.SRQ.get(RdmaCmId.STRUCT.at(id.id)), id.id, IbvSrqAttr.read(attributes));
        }
    }

    /** The one of an id and an XRC domain (rdma_create_srq_ex). */
    static FfmSharedReceiveQueue create(
            FfmContext context, FfmCommunicationId id, long pd, SharedReceiveQueueAttributes wanted, long xrcd, long cq)
            throws VerbsException {
        // The library calls the driver's function without a look whether there is one.
        context.requireOperation(VerbsContext.CREATE_SRQ_EX, Imports.RDMA_CREATE_SRQ_EX.name());
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = writeExtended(frame, pd, wanted, xrcd, cq);
            int result = (int) Downcall.call(Imports.RDMA_CREATE_SRQ_EX.get(), frame, id.id, frame.argumentsAddress());
            Status.check(result, frame, Imports.RDMA_CREATE_SRQ_EX, wanted.toString());
            return new FfmSharedReceiveQueue(
                    context,
                    RdmaCmId.SRQ.get(RdmaCmId.STRUCT.at(id.id)),
                    id.id,
                    IbvSrqAttr.read(IbvSrqInitAttrEx.ATTR.of(init)));
        }
    }

    /** One of the ordinary kind (ibv_create_srq). */
    static FfmSharedReceiveQueue create(FfmContext context, long pd, SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        context.prepareForQueues();
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = frame.cleared(IbvSrqInitAttr.SIZE);
            MemorySegment attributes = IbvSrqInitAttr.ATTR.of(init);
            IbvSrqAttr.write(attributes, wanted);
            long srq = Downcall.call(Imports.IBV_CREATE_SRQ.get(), frame, pd, frame.argumentsAddress());
            Status.checkPointer(srq, frame, Imports.IBV_CREATE_SRQ, wanted.toString());
            return new FfmSharedReceiveQueue(context, srq, IbvSrqAttr.read(attributes));
        }
    }

    /** One of an XRC domain (ibv_create_srq_ex). */
    static FfmSharedReceiveQueue create(
            FfmContext context, long pd, SharedReceiveQueueAttributes wanted, long xrcd, long cq)
            throws VerbsException {
        NativeFunction create = context.requireOperation(VerbsContext.CREATE_SRQ_EX, CREATE_EXTENDED);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment init = writeExtended(frame, pd, wanted, xrcd, cq);
            long srq = Downcall.call(create, frame, context.context, frame.argumentsAddress());
            if (srq == 0) {
                int errno = frame.errno();
                throw new VerbsException(CREATE_EXTENDED, wanted.toString(), errno, Cures.of(CREATE_EXTENDED, errno));
            }
            return new FfmSharedReceiveQueue(context, srq, IbvSrqAttr.read(IbvSrqInitAttrEx.ATTR.of(init)));
        }
    }

    private static MemorySegment writeExtended(
            CallFrame frame, long pd, SharedReceiveQueueAttributes wanted, long xrcd, long cq) {
        MemorySegment init = frame.cleared(IbvSrqInitAttrEx.SIZE);
        IbvSrqAttr.write(IbvSrqInitAttrEx.ATTR.of(init), wanted);
        IbvSrqInitAttrEx.COMP_MASK.set(
                init,
                IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_TYPE
                        | IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_PD
                        | IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_XRCD
                        | IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_CQ);
        IbvSrqInitAttrEx.SRQ_TYPE.set(init, IbvSrqInitAttrEx.IBV_SRQT_XRC);
        IbvSrqInitAttrEx.PD.set(init, pd);
        IbvSrqInitAttrEx.XRCD.set(init, xrcd);
        IbvSrqInitAttrEx.CQ.set(init, cq);
        return init;
    }

    @Override
    public SharedReceiveQueueAttributes granted() {
        return granted;
    }

    @Override
    public int number() throws VerbsException {
        NativeFunction getNumber = context.requireOperation(VerbsContext.GET_SRQ_NUM, GET_NUMBER);
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment number = frame.cleared(Integer.BYTES);
            int errno = Status.errno((int) Downcall.call(getNumber, frame, srq, frame.argumentsAddress()), frame);
            if (errno != 0) {
                throw new VerbsException(GET_NUMBER, "", errno, Cures.of(GET_NUMBER, errno));
            }
            return number.get(ValueLayout.JAVA_INT, 0);
        }
    }

    @Override
    public int postReceive(MemorySegment first) {
        NativeFunction post = context.postSrqRecv;
        long address = first.address();
        return post == null
                ? Errno.EOPNOTSUPP
                : (int) Downcall.callPlain(post, srq, address, address + ReceiveWorkRequestLayout.FAILED_OFFSET);
    }

    @Override
    public void modify(SharedReceiveQueueAttributes wanted, int mask) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            IbvSrqAttr.write(frame.cleared(IbvSrqAttr.SIZE), wanted);
            int result = (int) Downcall.call(Imports.IBV_MODIFY_SRQ.get(), frame, srq, frame.argumentsAddress(), mask);
            Status.check(result, frame, Imports.IBV_MODIFY_SRQ, describe(wanted, mask));
        }
    }

    private static String describe(SharedReceiveQueueAttributes wanted, int mask) {
        String size = (mask & MAX_WORK_REQUESTS) == 0 ? "" : "max_wr=" + wanted.maxWorkRequests();
        String limit = (mask & LIMIT) == 0 ? "" : "srq_limit=" + wanted.limit();
        return size + (size.isEmpty() || limit.isEmpty() ? "" : ", ") + limit;
    }

    @Override
    public SharedReceiveQueueAttributes query() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment attributes = frame.cleared(IbvSrqAttr.SIZE);
            int result = (int) Downcall.call(Imports.IBV_QUERY_SRQ.get(), frame, srq, frame.argumentsAddress());
            Status.check(result, frame, Imports.IBV_QUERY_SRQ, "");
            return IbvSrqAttr.read(attributes);
        }
    }

    @Override
    public long asyncElement() {
        return srq;
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            if (id != 0) {
                // Returns nothing; what could be in the way, the queue pairs, is gone.
                Downcall.call(Imports.RDMA_DESTROY_SRQ.get(), frame, id);
                return;
            }
            int result = (int) Downcall.call(Imports.IBV_DESTROY_SRQ.get(), frame, srq);
            Status.check(result, frame, Imports.IBV_DESTROY_SRQ, "");
        }
    }
}
