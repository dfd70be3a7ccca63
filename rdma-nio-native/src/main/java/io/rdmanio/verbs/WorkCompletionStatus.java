package io.rdmanio.verbs;

/**
 * How a work request ended ({@code enum ibv_wc_status}, ibv_poll_cq(3)). An unknown C value is {@code UNKNOWN}.
 * Immutable.
 */
public enum WorkCompletionStatus {
    /** Done ({@code IBV_WC_SUCCESS}). */
    SUCCESS(0, "IBV_WC_SUCCESS"),
    /** A receive was too small for its message, or a send too large ({@code IBV_WC_LOC_LEN_ERR}). */
    LOCAL_LENGTH_ERROR(1, "IBV_WC_LOC_LEN_ERR"),
    /** The queue pair could not carry the request out ({@code IBV_WC_LOC_QP_OP_ERR}). */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2, "IBV_WC_LOC_QP_OP_ERR"),
    /** The end-to-end context could not carry it out ({@code IBV_WC_LOC_EEC_OP_ERR}). */
    LOCAL_EE_CONTEXT_OPERATION_ERROR(3, "IBV_WC_LOC_EEC_OP_ERR"),
    /** A local buffer does not lie in the memory of its key ({@code IBV_WC_LOC_PROT_ERR}). */
    LOCAL_PROTECTION_ERROR(4, "IBV_WC_LOC_PROT_ERR"),
    /** The queue pair had failed or was set to ERROR before ({@code IBV_WC_WR_FLUSH_ERR}). */
    FLUSHED(5, "IBV_WC_WR_FLUSH_ERR"),
    /** A memory window was not bound ({@code IBV_WC_MW_BIND_ERR}). */
    MEMORY_WINDOW_BIND_ERROR(6, "IBV_WC_MW_BIND_ERR"),
    /** The peer answered with an unexpected opcode ({@code IBV_WC_BAD_RESP_ERR}). */
    BAD_RESPONSE(7, "IBV_WC_BAD_RESP_ERR"),
    /** Received data met memory without the right to be written ({@code IBV_WC_LOC_ACCESS_ERR}). */
    LOCAL_ACCESS_ERROR(8, "IBV_WC_LOC_ACCESS_ERR"),
    /** The peer found the request invalid ({@code IBV_WC_REM_INV_REQ_ERR}). */
    REMOTE_INVALID_REQUEST(9, "IBV_WC_REM_INV_REQ_ERR"),
    /** The peer's memory does not allow the access ({@code IBV_WC_REM_ACCESS_ERR}). */
    REMOTE_ACCESS_ERROR(10, "IBV_WC_REM_ACCESS_ERR"),
    /** The peer could not complete the request ({@code IBV_WC_REM_OP_ERR}). */
    REMOTE_OPERATION_ERROR(11, "IBV_WC_REM_OP_ERR"),
    /** The peer did not answer ({@code IBV_WC_RETRY_EXC_ERR}). */
    RETRY_EXCEEDED(12, "IBV_WC_RETRY_EXC_ERR"),
    /** The peer had no receive posted ({@code IBV_WC_RNR_RETRY_EXC_ERR}). */
    RECEIVER_NOT_READY_RETRY_EXCEEDED(13, "IBV_WC_RNR_RETRY_EXC_ERR"),
    /** Reliable datagram domains differ ({@code IBV_WC_LOC_RDD_VIOL_ERR}). */
    LOCAL_RDD_VIOLATION(14, "IBV_WC_LOC_RDD_VIOL_ERR"),
    /** The peer found the reliable datagram request invalid ({@code IBV_WC_REM_INV_RD_REQ_ERR}). */
    REMOTE_INVALID_READ_REQUEST(15, "IBV_WC_REM_INV_RD_REQ_ERR"),
    /** The peer aborted the operation ({@code IBV_WC_REM_ABORT_ERR}). */
    REMOTE_ABORTED(16, "IBV_WC_REM_ABORT_ERR"),
    /** There is no such end-to-end context ({@code IBV_WC_INV_EECN_ERR}). */
    INVALID_EE_CONTEXT_NUMBER(17, "IBV_WC_INV_EECN_ERR"),
    /** The end-to-end context is in the wrong state ({@code IBV_WC_INV_EEC_STATE_ERR}). */
    INVALID_EE_CONTEXT_STATE(18, "IBV_WC_INV_EEC_STATE_ERR"),
    /** The device failed ({@code IBV_WC_FATAL_ERR}). */
    FATAL_ERROR(19, "IBV_WC_FATAL_ERR"),
    /** The peer's response timed out ({@code IBV_WC_RESP_TIMEOUT_ERR}). */
    RESPONSE_TIMEOUT(20, "IBV_WC_RESP_TIMEOUT_ERR"),
    /** Some other error ({@code IBV_WC_GENERAL_ERR}). */
    GENERAL_ERROR(21, "IBV_WC_GENERAL_ERR"),
    /** Tag matching failed ({@code IBV_WC_TM_ERR}). */
    TAG_MATCHING_ERROR(22, "IBV_WC_TM_ERR"),
    /** Tag matching wants a software rendezvous ({@code IBV_WC_TM_RNDV_INCOMPLETE}). */
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE(23, "IBV_WC_TM_RNDV_INCOMPLETE"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final WorkCompletionStatus[] VALUES = values();

    private final int value;
    private final String nativeName;

    WorkCompletionStatus(int value, String nativeName) {
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
    public static WorkCompletionStatus of(int value) {
        for (WorkCompletionStatus constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
