package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.QueriedQueuePair;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_qp}, destroyed by the library that made it. */
final class FfmQueuePair implements QueuePairHandle {
    private final FfmContext context;
    // The rdma_cm_id that it belongs to; 0 when it was made without one.
    private final long id;
    final long qp;
    private final int number;
    private final QueuePairCapabilities capabilities;

    /** One that ibv_create_qp or a function like it made. */
    FfmQueuePair(FfmContext context, long qp, QueuePairCapabilities capabilities) {
        this(context, 0, qp, capabilities);
    }

    /** One that rdma_create_qp made. */
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
        long address = first.address();
        return post == null
                ? Errno.EOPNOTSUPP
                : (int) Downcall.callPlain(post, qp, address, address + SendWorkRequestLayout.FAILED_OFFSET);
    }

    @Override
    public int postReceive(MemorySegment first) {
        NativeFunction post = context.postRecv;
        long address = first.address();
        return post == null
                ? Errno.EOPNOTSUPP
                : (int) Downcall.callPlain(post, qp, address, address + ReceiveWorkRequestLayout.FAILED_OFFSET);
    }

    @Override
    public void modify(QueuePairAttributes attributes) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            QueuePairStructs.write(attributes, frame.arguments());
            int result = (int)
                    Downcall.call(Imports.IBV_MODIFY_QP.get(), frame, qp, frame.argumentsAddress(), attributes.mask());
            Status.check(result, frame, Imports.IBV_MODIFY_QP, "queuePair=" + number + ", " + attributes);
        }
    }

    @Override
    public QueriedQueuePair query(int mask) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment memory = frame.cleared(IbvQpAttr.SIZE + IbvQpInitAttr.SIZE);
            long attributes = frame.argumentsAddress();
            int result = (int)
                    Downcall.call(Imports.IBV_QUERY_QP.get(), frame, qp, attributes, mask, attributes + IbvQpAttr.SIZE);
            Status.check(result, frame, Imports.IBV_QUERY_QP, "queuePair=" + number);
            MemorySegment init = memory.asSlice(IbvQpAttr.SIZE, IbvQpInitAttr.SIZE);
            return new QueriedQueuePair(
                    QueuePairStructs.attributes(memory, mask),
                    QueuePairStructs.capabilities(IbvQpInitAttr.CAP.of(init)),
                    IbvQpInitAttr.SQ_SIG_ALL.get(init) != 0);
        }
    }

    @Override
    public void attachMulticast(Gid group, int localId) throws VerbsException {
        multicast(Imports.IBV_ATTACH_MCAST, group, localId);
    }

    @Override
    public void detachMulticast(Gid group, int localId) throws VerbsException {
        multicast(Imports.IBV_DETACH_MCAST, group, localId);
    }

    private void multicast(ImportedFunction function, Gid group, int localId) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            QueuePairStructs.write(group, frame.arguments());
            int result = (int) Downcall.call(function.get(), frame, qp, frame.argumentsAddress(), localId);
            Status.check(result, frame, function, "queuePair=" + number + ", group=" + group + ", localId=" + localId);
        }
    }

    @Override
    public long asyncElement() {
        return qp;
    }

    /**
     * For one that an id has, what rdma_destroy_qp(3) does, in two steps: over iWARP the kernel waits until the peer has answered a
     * request to connect, for ten seconds at most, and the peer may be this process, which would take no event meanwhile.
     */
    @Override
    public void destroy() throws VerbsException {
        if (id != 0) {
            leaveId();
        }
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DESTROY_QP.get(), frame, qp);
            Status.check(result, frame, Imports.IBV_DESTROY_QP, "queuePair=" + number);
        }
    }

    /** From now on an event changes its state no longer. The queues, which rdma_destroy_qp would destroy, are always of our making. */
    private void leaveId() {
        FfmEventChannel.DELIVERY.lock();
        try {
            MemorySegment struct = RdmaCmId.STRUCT.at(id);
            // Else it is closed once more, and the id has another by now.
            if (RdmaCmId.QP.get(struct) == qp) {
                RdmaCmId.QP.set(struct, 0L);
            }
        } finally {
            FfmEventChannel.DELIVERY.unlock();
        }
    }
}
