package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.QueuePairHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** {@code struct ibv_qp}, made by the connection manager and destroyed by it. */
final class FfmQueuePair implements QueuePairHandle {
    static final int IBV_QP_STATE = 1;
    static final int IBV_QP_MIN_RNR_TIMER = 1 << 15;

    // Drivers store the request that failed there; which one it was is not reported, so all may share it.
    private static final long BAD_WR_SINK =
            Arena.global().allocate(ValueLayout.JAVA_LONG).address();

    private final FfmContext context;
    private final long id;
    final long qp;
    private final int number;
    private final QueuePairCapabilities capabilities;

    FfmQueuePair(FfmContext context, long id, long qp, QueuePairCapabilities capabilities) {
        this.context = context;
        this.id = id;
        this.qp = qp;
        this.number = IbvQp.QP_NUM.get(IbvQp.STRUCT.at(qp));
        this.capabilities = capabilities;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public int postSend(MemorySegment first) {
        NativeFunction post = context.postSend;
        return post == null ? Errno.EOPNOTSUPP : (int) Downcall.callPlain(post, qp, first.address(), BAD_WR_SINK);
    }

    @Override
    public int postReceive(MemorySegment first) {
        NativeFunction post = context.postRecv;
        return post == null ? Errno.EOPNOTSUPP : (int) Downcall.callPlain(post, qp, first.address(), BAD_WR_SINK);
    }

    @Override
    public void setMinRnrTimer(int code) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            IbvQpAttr.MIN_RNR_TIMER.set(frame.cleared(IbvQpAttr.SIZE), code);
            modify(frame, IBV_QP_MIN_RNR_TIMER, "min_rnr_timer=" + code);
        }
    }

    @Override
    public void setState(QueuePairState state) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            IbvQpAttr.QP_STATE.set(frame.cleared(IbvQpAttr.SIZE), state.value());
            modify(frame, IBV_QP_STATE, "qp_state=" + state);
        }
    }

    private void modify(CallFrame frame, int mask, String arguments) throws VerbsException {
        int result = (int) Downcall.call(Imports.IBV_MODIFY_QP.get(), frame, qp, frame.argumentsAddress(), mask);
        Status.check(result, frame, Imports.IBV_MODIFY_QP, "queuePair=" + number + ", " + arguments);
    }

    @Override
    public QueuePairState queryState() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment memory = frame.cleared(IbvQpAttr.SIZE + IbvQpInitAttr.SIZE);
            long attributes = frame.argumentsAddress();
            int result = (int) Downcall.call(
                    Imports.IBV_QUERY_QP.get(), frame, qp, attributes, IBV_QP_STATE, attributes + IbvQpAttr.SIZE);
            Status.check(result, frame, Imports.IBV_QUERY_QP, "queuePair=" + number);
            return QueuePairState.of(IbvQpAttr.QP_STATE.get(memory));
        }
    }

    @Override
    public long asyncElement() {
        return qp;
    }

    @Override
    public void destroy() throws VerbsException {
        FfmEventChannel.DELIVERY.lock();
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(Imports.RDMA_DESTROY_QP.get(), frame, id);
        } finally {
            FfmEventChannel.DELIVERY.unlock();
        }
    }
}
