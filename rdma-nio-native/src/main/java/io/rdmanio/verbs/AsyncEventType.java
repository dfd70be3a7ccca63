package io.rdmanio.verbs;

/**
 * What happened to a device or to something made from it ({@code enum ibv_event_type}, ibv_get_async_event(3)). An
 * unknown C value is {@code UNKNOWN}. Immutable.
 */
public enum AsyncEventType {
    /** A completion queue overran or failed ({@code IBV_EVENT_CQ_ERR}). */
    COMPLETION_QUEUE_ERROR(0, "IBV_EVENT_CQ_ERR", Subject.COMPLETION_QUEUE),
    /** A queue pair failed, without a completion that could tell ({@code IBV_EVENT_QP_FATAL}). */
    QUEUE_PAIR_FATAL(1, "IBV_EVENT_QP_FATAL", Subject.QUEUE_PAIR),
    /** The peer sent a queue pair an invalid request ({@code IBV_EVENT_QP_REQ_ERR}). */
    QUEUE_PAIR_REQUEST_ERROR(2, "IBV_EVENT_QP_REQ_ERR", Subject.QUEUE_PAIR),
    /** The peer of a queue pair violated a right of access ({@code IBV_EVENT_QP_ACCESS_ERR}). */
    QUEUE_PAIR_ACCESS_ERROR(3, "IBV_EVENT_QP_ACCESS_ERR", Subject.QUEUE_PAIR),
    /** A queue pair in READY_TO_RECEIVE got its first packet ({@code IBV_EVENT_COMM_EST}). */
    COMMUNICATION_ESTABLISHED(4, "IBV_EVENT_COMM_EST", Subject.QUEUE_PAIR),
    /** A send queue has been drained ({@code IBV_EVENT_SQ_DRAINED}). */
    SEND_QUEUE_DRAINED(5, "IBV_EVENT_SQ_DRAINED", Subject.QUEUE_PAIR),
    /** A queue pair went over to its alternate path ({@code IBV_EVENT_PATH_MIG}). */
    PATH_MIGRATED(6, "IBV_EVENT_PATH_MIG", Subject.QUEUE_PAIR),
    /** A queue pair could not go over to its alternate path ({@code IBV_EVENT_PATH_MIG_ERR}). */
    PATH_MIGRATION_ERROR(7, "IBV_EVENT_PATH_MIG_ERR", Subject.QUEUE_PAIR),
    /** The device failed: nothing made from it works any longer, close it all ({@code IBV_EVENT_DEVICE_FATAL}). */
    DEVICE_FATAL(8, "IBV_EVENT_DEVICE_FATAL", Subject.DEVICE),
    /** A port came up ({@code IBV_EVENT_PORT_ACTIVE}). */
    PORT_ACTIVE(9, "IBV_EVENT_PORT_ACTIVE", Subject.PORT),
    /** A port went down ({@code IBV_EVENT_PORT_ERR}). */
    PORT_ERROR(10, "IBV_EVENT_PORT_ERR", Subject.PORT),
    /** A port's LID changed ({@code IBV_EVENT_LID_CHANGE}). */
    LID_CHANGE(11, "IBV_EVENT_LID_CHANGE", Subject.PORT),
    /** A port's table of partition keys changed ({@code IBV_EVENT_PKEY_CHANGE}). */
    PARTITION_KEY_CHANGE(12, "IBV_EVENT_PKEY_CHANGE", Subject.PORT),
    /** A port has another subnet manager ({@code IBV_EVENT_SM_CHANGE}). */
    SUBNET_MANAGER_CHANGE(13, "IBV_EVENT_SM_CHANGE", Subject.PORT),
    /** A shared receive queue failed ({@code IBV_EVENT_SRQ_ERR}). */
    SHARED_RECEIVE_QUEUE_ERROR(14, "IBV_EVENT_SRQ_ERR", Subject.SHARED_RECEIVE_QUEUE),
    /** Fewer receives are left than the limit of a shared receive queue ({@code IBV_EVENT_SRQ_LIMIT_REACHED}). */
    SHARED_RECEIVE_QUEUE_LIMIT_REACHED(15, "IBV_EVENT_SRQ_LIMIT_REACHED", Subject.SHARED_RECEIVE_QUEUE),
    /** A queue pair in ERROR took its last receive of a shared queue ({@code IBV_EVENT_QP_LAST_WQE_REACHED}). */
    LAST_RECEIVE_REACHED(16, "IBV_EVENT_QP_LAST_WQE_REACHED", Subject.QUEUE_PAIR),
    /** The subnet manager wants a port's subscriptions anew ({@code IBV_EVENT_CLIENT_REREGISTER}). */
    CLIENT_REREGISTER(17, "IBV_EVENT_CLIENT_REREGISTER", Subject.PORT),
    /** A port's GID table changed, an address having come or gone ({@code IBV_EVENT_GID_CHANGE}). */
    GID_CHANGE(18, "IBV_EVENT_GID_CHANGE", Subject.PORT),
    /** A work queue failed; this library makes none ({@code IBV_EVENT_WQ_FATAL}). */
    WORK_QUEUE_FATAL(19, "IBV_EVENT_WQ_FATAL", Subject.WORK_QUEUE),
    /** A value that this version does not know. */
    UNKNOWN(-1, null, Subject.PORT);

    /** What an event is about. */
    public enum Subject {
        /** The device itself. */
        DEVICE,
        /** A port of the device. */
        PORT,
        /** A completion queue. */
        COMPLETION_QUEUE,
        /** A queue pair. */
        QUEUE_PAIR,
        /** A shared receive queue. */
        SHARED_RECEIVE_QUEUE,
        /** A work queue, of which this library makes none. */
        WORK_QUEUE;

        /**
         * Tells whether events of this kind name an object, which is not destroyed before they are acknowledged.
         *
         * @return false for the device and its ports
         */
        public boolean isObject() {
            return this != DEVICE && this != PORT;
        }
    }

    private static final AsyncEventType[] VALUES = values();

    private final int value;
    private final String nativeName;
    private final Subject subject;

    AsyncEventType(int value, String nativeName, Subject subject) {
        this.value = value;
        this.nativeName = nativeName;
        this.subject = subject;
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
     * What events of this type are about.
     *
     * @return the kind of thing; PORT for {@code UNKNOWN}, as C has it
     */
    public Subject subject() {
        return subject;
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static AsyncEventType of(int value) {
        for (AsyncEventType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
