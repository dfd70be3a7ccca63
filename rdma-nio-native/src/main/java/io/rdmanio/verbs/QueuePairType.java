package io.rdmanio.verbs;

/**
 * The transport service of a queue pair ({@code enum ibv_qp_type}, ibv_create_qp(3)). An unknown C value is {@code UNKNOWN}. Immutable.
 */
public enum QueuePairType {
    /** Two queue pairs, acknowledged and in order: everything is possible ({@code IBV_QPT_RC}). */
    RELIABLE_CONNECTED(2, "IBV_QPT_RC"),
    /** Two queue pairs, without acknowledgements: sends and writes ({@code IBV_QPT_UC}). */
    UNRELIABLE_CONNECTED(3, "IBV_QPT_UC"),
    /** Single messages up to the MTU to any queue pair and to multicast groups ({@code IBV_QPT_UD}). */
    UNRELIABLE_DATAGRAM(4, "IBV_QPT_UD"),
    /** Ethernet frames ({@code IBV_QPT_RAW_PACKET}). */
    RAW_PACKET(8, "IBV_QPT_RAW_PACKET"),
    /** The sending side of an extended reliable connection ({@code IBV_QPT_XRC_SEND}). */
    XRC_SEND(9, "IBV_QPT_XRC_SEND"),
    /** The receiving side of an extended reliable connection, which processes may share ({@code IBV_QPT_XRC_RECV}). */
    XRC_RECEIVE(10, "IBV_QPT_XRC_RECV"),
    /** A vendor's own service ({@code IBV_QPT_DRIVER}). */
    DRIVER(0xFF, "IBV_QPT_DRIVER"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final QueuePairType[] VALUES = values();

    private final int value;
    private final String nativeName;

    QueuePairType(int value, String nativeName) {
        this.value = value;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return the value; it means nothing for {@code UNKNOWN}
     */
    public int value() {
        return value;
    }

    /**
     * The C constant.
     *
     * @return its name; null for {@code UNKNOWN}
     */
    public String nativeName() {
        return nativeName;
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static QueuePairType of(int value) {
        for (QueuePairType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
