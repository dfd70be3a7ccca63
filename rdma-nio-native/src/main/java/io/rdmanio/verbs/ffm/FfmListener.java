package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ListenerHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A {@code struct rdma_cm_id} that rdma_create_ep(3) made to listen: it has an event channel of its own, whose descriptor
 * is non-blocking here, so that rdma_get_request(3) never waits.
 */
final class FfmListener implements ListenerHandle {
    private final FfmEngine engine;
    private final FfmCommunicationId id;
    private final int fd;

    FfmListener(FfmEngine engine, FfmCommunicationId id) throws VerbsException {
        this.engine = engine;
        this.id = id;
        this.fd = id.channelDescriptor();
        FfmEngine.setFlags(fd);
    }

    @Override
    public CommunicationIdHandle id() {
        return id;
    }

    @Override
    public int fileDescriptor() {
        return fd;
    }

    @Override
    public TakenRequest takeRequest() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.RDMA_GET_REQUEST.get(), frame, id.id, frame.argumentsAddress());
            if (result != 0) {
                if (frame.errno() == Errno.EAGAIN || frame.errno() == Errno.EINTR) {
                    return null;
                }
                Status.check(result, frame, Imports.RDMA_GET_REQUEST, "listener=" + id.localAddress());
            }
            return read(frame.arguments().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /** The new id keeps its event until it is moved to a channel. */
    private TakenRequest read(long newId) {
        MemorySegment struct = RdmaCmId.STRUCT.at(newId);
        MemorySegment event = RdmaCmEvent.STRUCT.at(RdmaCmId.EVENT.get(struct));
        boolean datagrams = RdmaCmId.QP_TYPE.get(struct) == QueuePairType.UNRELIABLE_DATAGRAM.value();
        MemorySegment ud = RdmaCmEvent.PARAM_UD.of(event);
        return new TakenRequest(
                new FfmCommunicationId(engine, newId),
                FfmEventChannel.privateData(ud),
                datagrams ? null : FfmEventChannel.parameters(RdmaCmEvent.PARAM_CONN.of(event)),
                datagrams ? FfmEventChannel.datagramParameters(ud) : null);
    }
}
