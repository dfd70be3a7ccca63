package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GlobalRoute;
import io.rdmanio.verbs.PathMigrationState;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.spi.QueuePairRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** From the values that describe queue pairs and paths to their structs, and back. */
final class QueuePairStructs {
    // Widths of coded values in bytes of their own; what a driver leaves above them means nothing.
    private static final int FIVE_BITS = 31;
    private static final int THREE_BITS = 7;

    private QueuePairStructs() {}

    /** Writes a whole ibv_qp_init_attr. */
    static void write(QueuePairRequest from, MemorySegment to) {
        to.asSlice(0, IbvQpInitAttr.SIZE).fill((byte) 0);
        IbvQpInitAttr.SEND_CQ.set(to, from.sendQueue() == null ? 0 : ((FfmCompletionQueue) from.sendQueue()).cq);
        IbvQpInitAttr.RECV_CQ.set(to, from.receiveQueue() == null ? 0 : ((FfmCompletionQueue) from.receiveQueue()).cq);
        IbvQpInitAttr.SRQ.set(
                to, from.sharedReceiveQueue() == null ? 0 : ((FfmSharedReceiveQueue) from.sharedReceiveQueue()).srq);
        write(from.capabilities(), IbvQpInitAttr.CAP.of(to));
        IbvQpInitAttr.QP_TYPE.set(to, from.type().value());
        IbvQpInitAttr.SQ_SIG_ALL.set(to, from.signalAll() ? 1 : 0);
    }

    /** Writes a whole ibv_qp_cap. */
    static void write(QueuePairCapabilities from, MemorySegment to) {
        IbvQpCap.MAX_SEND_WR.set(to, from.maxSendWorkRequests());
        IbvQpCap.MAX_RECV_WR.set(to, from.maxReceiveWorkRequests());
        IbvQpCap.MAX_SEND_SGE.set(to, from.maxSendSges());
        IbvQpCap.MAX_RECV_SGE.set(to, from.maxReceiveSges());
        IbvQpCap.MAX_INLINE_DATA.set(to, from.maxInlineBytes());
    }

    /** Reads an ibv_qp_cap. */
    static QueuePairCapabilities capabilities(MemorySegment from) {
        return new QueuePairCapabilities(
                IbvQpCap.MAX_SEND_WR.get(from),
                IbvQpCap.MAX_RECV_WR.get(from),
                IbvQpCap.MAX_SEND_SGE.get(from),
                IbvQpCap.MAX_RECV_SGE.get(from),
                IbvQpCap.MAX_INLINE_DATA.get(from));
    }

    /** Writes a whole ibv_ah_attr. */
    static void write(AddressHandleAttributes from, MemorySegment to) {
        to.asSlice(0, IbvAhAttr.SIZE).fill((byte) 0);
        GlobalRoute route = from.route();
        if (route != null) {
            MemorySegment grh = IbvAhAttr.GRH.of(to);
            write(route.destination(), IbvGlobalRoute.DGID.of(grh));
            IbvGlobalRoute.FLOW_LABEL.set(grh, route.flowLabel());
            IbvGlobalRoute.SGID_INDEX.set(grh, route.sourceGidIndex());
            IbvGlobalRoute.HOP_LIMIT.set(grh, route.hopLimit());
            IbvGlobalRoute.TRAFFIC_CLASS.set(grh, route.trafficClass());
            IbvAhAttr.IS_GLOBAL.set(to, 1);
        }
        IbvAhAttr.DLID.set(to, from.destinationLocalId());
        IbvAhAttr.SL.set(to, from.serviceLevel());
        IbvAhAttr.SRC_PATH_BITS.set(to, from.sourcePathBits());
        IbvAhAttr.STATIC_RATE.set(to, from.staticRate());
        IbvAhAttr.PORT_NUM.set(to, from.portNumber());
    }

    /** Reads an ibv_ah_attr. */
    static AddressHandleAttributes path(MemorySegment from) {
        GlobalRoute route = null;
        if (IbvAhAttr.IS_GLOBAL.get(from) != 0) {
            MemorySegment grh = IbvAhAttr.GRH.of(from);
            route = new GlobalRoute(
                    gid(IbvGlobalRoute.DGID.of(grh)),
                    IbvGlobalRoute.FLOW_LABEL.get(grh),
                    IbvGlobalRoute.SGID_INDEX.get(grh),
                    IbvGlobalRoute.HOP_LIMIT.get(grh),
                    IbvGlobalRoute.TRAFFIC_CLASS.get(grh));
        }
        return new AddressHandleAttributes(
                route,
                IbvAhAttr.DLID.get(from),
                IbvAhAttr.SL.get(from),
                IbvAhAttr.SRC_PATH_BITS.get(from),
                IbvAhAttr.STATIC_RATE.get(from),
                IbvAhAttr.PORT_NUM.get(from));
    }

    /** Writes the 16 bytes of an ibv_gid. */
    static void write(Gid from, MemorySegment to) {
        MemorySegment.copy(from.bytes(), 0, to, ValueLayout.JAVA_BYTE, 0, Gid.BYTES);
    }

    /** Reads the 16 bytes of an ibv_gid. */
    static Gid gid(MemorySegment from) {
        return Gid.of(from.asSlice(0, Gid.BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Writes a whole ibv_qp_attr: the marked attributes, the rest zero. */
    static void write(QueuePairAttributes from, MemorySegment to) {
        to.asSlice(0, IbvQpAttr.SIZE).fill((byte) 0);
        for (QueuePairAttribute attribute : from.marked()) {
            write(attribute, from, to);
        }
    }

    private static void write(QueuePairAttribute attribute, QueuePairAttributes from, MemorySegment to) {
        switch (attribute) {
            case STATE -> IbvQpAttr.QP_STATE.set(to, from.state().value());
            case CURRENT_STATE ->
                IbvQpAttr.CUR_QP_STATE.set(to, from.currentState().value());
            case DRAINED_NOTIFICATION -> IbvQpAttr.EN_SQD_ASYNC_NOTIFY.set(to, from.drainedNotification() ? 1 : 0);
            case ACCESS_FLAGS -> IbvQpAttr.QP_ACCESS_FLAGS.set(to, from.accessFlags());
            case PARTITION_KEY_INDEX -> IbvQpAttr.PKEY_INDEX.set(to, from.partitionKeyIndex());
            case PORT -> IbvQpAttr.PORT_NUM.set(to, from.portNumber());
            case QUEUE_KEY -> IbvQpAttr.QKEY.set(to, from.queueKey());
            case ADDRESS_VECTOR -> write(from.addressVector(), IbvQpAttr.AH_ATTR.of(to));
            case PATH_MTU -> IbvQpAttr.PATH_MTU.set(to, Attributes.mtuCode(from.pathMtuBytes()));
            case TIMEOUT -> IbvQpAttr.TIMEOUT.set(to, from.timeout());
            case RETRY_COUNT -> IbvQpAttr.RETRY_CNT.set(to, from.retryCount());
            case RNR_RETRY_COUNT -> IbvQpAttr.RNR_RETRY.set(to, from.rnrRetryCount());
            case RECEIVE_PACKET_NUMBER -> IbvQpAttr.RQ_PSN.set(to, from.receivePacketNumber());
            case MAX_READ_ATOMIC -> IbvQpAttr.MAX_RD_ATOMIC.set(to, from.maxReadAtomic());
            case ALTERNATE_PATH -> {
                write(from.alternateAddressVector(), IbvQpAttr.ALT_AH_ATTR.of(to));
                IbvQpAttr.ALT_PKEY_INDEX.set(to, from.alternatePartitionKeyIndex());
                IbvQpAttr.ALT_PORT_NUM.set(to, from.alternatePortNumber());
                IbvQpAttr.ALT_TIMEOUT.set(to, from.alternateTimeout());
            }
            case MIN_RNR_TIMER -> IbvQpAttr.MIN_RNR_TIMER.set(to, from.minRnrTimer());
            case SEND_PACKET_NUMBER -> IbvQpAttr.SQ_PSN.set(to, from.sendPacketNumber());
            case MAX_DESTINATION_READ_ATOMIC -> IbvQpAttr.MAX_DEST_RD_ATOMIC.set(to, from.maxDestinationReadAtomic());
            case PATH_MIGRATION_STATE ->
                IbvQpAttr.PATH_MIG_STATE.set(to, from.pathMigrationState().value());
            case CAPABILITIES -> write(from.capabilities(), IbvQpAttr.CAP.of(to));
            case DESTINATION_NUMBER -> IbvQpAttr.DEST_QP_NUM.set(to, from.destinationNumber());
            case RATE_LIMIT -> IbvQpAttr.RATE_LIMIT.set(to, from.rateLimitKbps());
        }
    }

    /** Reads an ibv_qp_attr: every field, of which those of the mask are marked. */
    static QueuePairAttributes attributes(MemorySegment from, int mask) {
        QueuePairAttributes to = new QueuePairAttributes()
                .state(QueuePairState.of(IbvQpAttr.QP_STATE.get(from)))
                .currentState(QueuePairState.of(IbvQpAttr.CUR_QP_STATE.get(from)))
                .pathMigrationState(PathMigrationState.of(IbvQpAttr.PATH_MIG_STATE.get(from)))
                .queueKey(IbvQpAttr.QKEY.get(from))
                .receivePacketNumber(IbvQpAttr.RQ_PSN.get(from))
                .sendPacketNumber(IbvQpAttr.SQ_PSN.get(from))
                .destinationNumber(IbvQpAttr.DEST_QP_NUM.get(from))
                .accessFlags(IbvQpAttr.QP_ACCESS_FLAGS.get(from))
                .capabilities(capabilities(IbvQpAttr.CAP.of(from)))
                .addressVector(path(IbvQpAttr.AH_ATTR.of(from)))
                .alternatePath(
                        path(IbvQpAttr.ALT_AH_ATTR.of(from)),
                        IbvQpAttr.ALT_PKEY_INDEX.get(from),
                        IbvQpAttr.ALT_PORT_NUM.get(from),
                        IbvQpAttr.ALT_TIMEOUT.get(from) & FIVE_BITS)
                .partitionKeyIndex(IbvQpAttr.PKEY_INDEX.get(from))
                .drainedNotification(IbvQpAttr.EN_SQD_ASYNC_NOTIFY.get(from) != 0)
                .draining(IbvQpAttr.SQ_DRAINING.get(from) != 0)
                .maxReadAtomic(IbvQpAttr.MAX_RD_ATOMIC.get(from))
                .maxDestinationReadAtomic(IbvQpAttr.MAX_DEST_RD_ATOMIC.get(from))
                .minRnrTimer(IbvQpAttr.MIN_RNR_TIMER.get(from) & FIVE_BITS)
                .portNumber(IbvQpAttr.PORT_NUM.get(from))
                .timeout(IbvQpAttr.TIMEOUT.get(from) & FIVE_BITS)
                .retryCount(IbvQpAttr.RETRY_CNT.get(from) & THREE_BITS)
                .rnrRetryCount(IbvQpAttr.RNR_RETRY.get(from) & THREE_BITS)
                .rateLimitKbps(IbvQpAttr.RATE_LIMIT.get(from));
        int known = mask;
        int mtuBytes = Attributes.mtuBytes(IbvQpAttr.PATH_MTU.get(from));
        if (mtuBytes != 0) {
            to.pathMtuBytes(mtuBytes);
        } else {
            known &= ~QueuePairAttribute.PATH_MTU.value();
        }
        return to.mark(QueuePairAttribute.of(known));
    }
}
