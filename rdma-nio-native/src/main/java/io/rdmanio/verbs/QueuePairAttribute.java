package io.rdmanio.verbs;

import java.util.EnumSet;
import java.util.Set;

/**
 * An attribute of a queue pair, or a group of them, as a bit of a mask ({@code enum ibv_qp_attr_mask},
 * ibv_modify_qp(3)). Immutable.
 */
public enum QueuePairAttribute {
    /** The state to move to ({@code IBV_QP_STATE}). */
    STATE(0, "IBV_QP_STATE"),
    /** The state it is assumed to be in ({@code IBV_QP_CUR_STATE}). */
    CURRENT_STATE(1, "IBV_QP_CUR_STATE"),
    /** Whether an event tells that the send queue is drained ({@code IBV_QP_EN_SQD_ASYNC_NOTIFY}). */
    DRAINED_NOTIFICATION(2, "IBV_QP_EN_SQD_ASYNC_NOTIFY"),
    /** What the peer may do ({@code IBV_QP_ACCESS_FLAGS}). */
    ACCESS_FLAGS(3, "IBV_QP_ACCESS_FLAGS"),
    /** Index of the partition key ({@code IBV_QP_PKEY_INDEX}). */
    PARTITION_KEY_INDEX(4, "IBV_QP_PKEY_INDEX"),
    /** The port ({@code IBV_QP_PORT}). */
    PORT(5, "IBV_QP_PORT"),
    /** The key that datagrams must carry ({@code IBV_QP_QKEY}). */
    QUEUE_KEY(6, "IBV_QP_QKEY"),
    /** The path to the peer ({@code IBV_QP_AV}). */
    ADDRESS_VECTOR(7, "IBV_QP_AV"),
    /** The MTU of the path ({@code IBV_QP_PATH_MTU}). */
    PATH_MTU(8, "IBV_QP_PATH_MTU"),
    /** How long an acknowledgement is waited for ({@code IBV_QP_TIMEOUT}). */
    TIMEOUT(9, "IBV_QP_TIMEOUT"),
    /** How often a message is repeated ({@code IBV_QP_RETRY_CNT}). */
    RETRY_COUNT(10, "IBV_QP_RETRY_CNT"),
    /** How often a message is repeated that found no receive ({@code IBV_QP_RNR_RETRY}). */
    RNR_RETRY_COUNT(11, "IBV_QP_RNR_RETRY"),
    /** The first packet number that is expected ({@code IBV_QP_RQ_PSN}). */
    RECEIVE_PACKET_NUMBER(12, "IBV_QP_RQ_PSN"),
    /** Reads and atomics that may be outstanding at the peer ({@code IBV_QP_MAX_QP_RD_ATOMIC}). */
    MAX_READ_ATOMIC(13, "IBV_QP_MAX_QP_RD_ATOMIC"),
    /** The alternate path ({@code IBV_QP_ALT_PATH}). */
    ALTERNATE_PATH(14, "IBV_QP_ALT_PATH"),
    /** How long the peer shall wait when no receive is posted ({@code IBV_QP_MIN_RNR_TIMER}). */
    MIN_RNR_TIMER(15, "IBV_QP_MIN_RNR_TIMER"),
    /** The first packet number that is sent ({@code IBV_QP_SQ_PSN}). */
    SEND_PACKET_NUMBER(16, "IBV_QP_SQ_PSN"),
    /** Reads and atomics of the peer that are held ready for ({@code IBV_QP_MAX_DEST_RD_ATOMIC}). */
    MAX_DESTINATION_READ_ATOMIC(17, "IBV_QP_MAX_DEST_RD_ATOMIC"),
    /** Whether it is ready to move to the alternate path ({@code IBV_QP_PATH_MIG_STATE}). */
    PATH_MIGRATION_STATE(18, "IBV_QP_PATH_MIG_STATE"),
    /** The sizes ({@code IBV_QP_CAP}). */
    CAPABILITIES(19, "IBV_QP_CAP"),
    /** The peer's queue pair ({@code IBV_QP_DEST_QPN}). */
    DESTINATION_NUMBER(20, "IBV_QP_DEST_QPN"),
    /** The rate of packets ({@code IBV_QP_RATE_LIMIT}). */
    RATE_LIMIT(25, "IBV_QP_RATE_LIMIT");

    private static final QueuePairAttribute[] VALUES = values();

    private final int bit;
    private final String nativeName;

    QueuePairAttribute(int bit, String nativeName) {
        this.bit = bit;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return a value with one bit set
     */
    public int value() {
        return 1 << bit;
    }

    /**
     * The C constant.
     *
     * @return its name
     */
    public String nativeName() {
        return nativeName;
    }

    /**
     * The attributes of a mask. Bits that this version does not know are left out.
     *
     * @param mask the mask
     * @return a new set
     */
    public static Set<QueuePairAttribute> of(int mask) {
        Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        for (QueuePairAttribute attribute : VALUES) {
            if ((mask & attribute.value()) != 0) {
                set.add(attribute);
            }
        }
        return set;
    }

    /**
     * The mask of attributes.
     *
     * @param attributes the attributes
     * @return their bits
     */
    public static int mask(Set<QueuePairAttribute> attributes) {
        int mask = 0;
        for (QueuePairAttribute attribute : attributes) {
            mask |= attribute.value();
        }
        return mask;
    }
}
