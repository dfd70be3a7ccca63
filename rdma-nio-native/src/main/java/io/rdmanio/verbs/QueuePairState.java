package io.rdmanio.verbs;

/**
 * State of a queue pair ({@code enum ibv_qp_state}, ibv_modify_qp(3)). An unknown C value is {@code UNKNOWN}.
 * Immutable.
 */
public enum QueuePairState {
    /** Just created ({@code IBV_QPS_RESET}). */
    RESET(0, "IBV_QPS_RESET"),
    /** Receives may be posted ({@code IBV_QPS_INIT}). */
    INITIALIZED(1, "IBV_QPS_INIT"),
    /** Receives are processed ({@code IBV_QPS_RTR}). */
    READY_TO_RECEIVE(2, "IBV_QPS_RTR"),
    /** Sends are processed too ({@code IBV_QPS_RTS}). */
    READY_TO_SEND(3, "IBV_QPS_RTS"),
    /** Sends wait ({@code IBV_QPS_SQD}). */
    SEND_QUEUE_DRAINED(4, "IBV_QPS_SQD"),
    /** The send queue failed ({@code IBV_QPS_SQE}). */
    SEND_QUEUE_ERROR(5, "IBV_QPS_SQE"),
    /** All work is flushed ({@code IBV_QPS_ERR}). */
    ERROR(6, "IBV_QPS_ERR"),
    /** A value that this version does not know. */
    UNKNOWN(7, null);

    private static final QueuePairState[] VALUES = values();

    private final int value;
    private final String nativeName;

    QueuePairState(int value, String nativeName) {
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
    public static QueuePairState of(int value) {
        for (QueuePairState constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
