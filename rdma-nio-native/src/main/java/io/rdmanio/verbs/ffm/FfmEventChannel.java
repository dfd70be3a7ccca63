package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.DatagramParameters;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.TakenEvent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;

/** {@code struct rdma_event_channel}. An id's {@code context} is its token. */
final class FfmEventChannel implements EventChannelHandle {
    /**
     * Held while an event is got and while a queue pair is taken from its id, before it is destroyed: rdma_get_cm_event(3)
     * moves the queue pair of the event's id to its next state, without a lock of its own.
     */
    static final ReentrantLock DELIVERY = new ReentrantLock();

    private final FfmEngine engine;
    final long channel;
    private final int fd;

    FfmEventChannel(FfmEngine engine, long channel) {
        this.engine = engine;
        this.channel = channel;
        this.fd = RdmaEventChannel.FD.get(RdmaEventChannel.STRUCT.at(channel));
    }

    @Override
    public int fileDescriptor() {
        return fd;
    }

    @Override
    public TakenEvent takeEvent() throws VerbsException {
        DELIVERY.lock();
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_GET_CM_EVENT.get(), frame, channel, frame.argumentsAddress());
            if (result == 0) {
                return read(frame.arguments().get(ValueLayout.JAVA_LONG, 0));
            }
            if (frame.errno() != Errno.EAGAIN && frame.errno() != Errno.EINTR) {
                Status.check(result, frame, Imports.RDMA_GET_CM_EVENT, "fd=" + fd);
            }
            return null;
        } finally {
            DELIVERY.unlock();
        }
    }

    private TakenEvent read(long event) {
        MemorySegment struct = RdmaCmEvent.STRUCT.at(event);
        long id = RdmaCmEvent.ID.get(struct);
        CommunicationEventType type = CommunicationEventType.of(RdmaCmEvent.EVENT.get(struct));
        MemorySegment idStruct = RdmaCmId.STRUCT.at(id);
        boolean request = type == CommunicationEventType.CONNECT_REQUEST;
        boolean membership =
                type == CommunicationEventType.MULTICAST_JOIN || type == CommunicationEventType.MULTICAST_ERROR;
        boolean datagrams = membership || RdmaCmId.QP_TYPE.get(idStruct) == QueuePairType.UNRELIABLE_DATAGRAM.value();
        MemorySegment ud = RdmaCmEvent.PARAM_UD.of(struct);
        return new TakenEvent(
                event,
                type,
                RdmaCmEvent.STATUS.get(struct),
                RdmaCmId.CONTEXT.get(request ? RdmaCmId.STRUCT.at(RdmaCmEvent.LISTEN_ID.get(struct)) : idStruct),
                request ? new FfmCommunicationId(engine, id) : null,
                membership ? new byte[0] : privateData(ud),
                datagrams ? null : parameters(RdmaCmEvent.PARAM_CONN.of(struct)),
                datagrams ? datagramParameters(ud) : null,
                membership ? RdmaUdParam.PRIVATE_DATA.get(ud) : 0);
    }

    /** Private data lies at the same place in both kinds of parameters. */
    static byte[] privateData(MemorySegment ud) {
        long address = RdmaUdParam.PRIVATE_DATA.get(ud);
        int length = RdmaUdParam.PRIVATE_DATA_LEN.get(ud);
        return address == 0 || length == 0
                ? new byte[0]
                : Pointers.bytes(address, length).toArray(ValueLayout.JAVA_BYTE);
    }

    static DatagramParameters datagramParameters(MemorySegment ud) {
        return new DatagramParameters(
                QueuePairStructs.path(RdmaUdParam.AH_ATTR.of(ud)),
                RdmaUdParam.QP_NUM.get(ud),
                RdmaUdParam.QKEY.get(ud));
    }

    static ConnectionParameters parameters(MemorySegment conn) {
        return new ConnectionParameters(
                RdmaConnParam.RESPONDER_RESOURCES.get(conn),
                RdmaConnParam.INITIATOR_DEPTH.get(conn),
                RdmaConnParam.FLOW_CONTROL.get(conn),
                RdmaConnParam.RETRY_COUNT.get(conn),
                RdmaConnParam.RNR_RETRY_COUNT.get(conn),
                RdmaConnParam.SRQ.get(conn) != 0,
                RdmaConnParam.QP_NUM.get(conn));
    }

    @Override
    public void acknowledge(TakenEvent event) {
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(Imports.RDMA_ACK_CM_EVENT.get(), frame, event.key());
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public CommunicationIdHandle createId(PortSpace space, long token) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(
                    Imports.RDMA_CREATE_ID.get(), frame, channel, frame.argumentsAddress(), token, space.value());
            Status.check(result, frame, Imports.RDMA_CREATE_ID, space.name());
            return new FfmCommunicationId(engine, frame.arguments().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(Imports.RDMA_DESTROY_EVENT_CHANNEL.get(), frame, channel);
        }
    }
}
