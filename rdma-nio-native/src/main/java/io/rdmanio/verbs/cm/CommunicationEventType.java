package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.VerbsAccess;

/**
 * What happened to a communication id ({@code enum rdma_cm_event_type}, rdma_get_cm_event(3)). An unknown C value is
 * {@code UNKNOWN}. Immutable.
 */
public enum CommunicationEventType {
    /** The destination has an address and the id a device ({@code RDMA_CM_EVENT_ADDR_RESOLVED}). */
    ADDRESS_RESOLVED(0, "RDMA_CM_EVENT_ADDR_RESOLVED"),
    /** The destination was not resolved ({@code RDMA_CM_EVENT_ADDR_ERROR}). */
    ADDRESS_ERROR(1, "RDMA_CM_EVENT_ADDR_ERROR"),
    /** The route is known ({@code RDMA_CM_EVENT_ROUTE_RESOLVED}). */
    ROUTE_RESOLVED(2, "RDMA_CM_EVENT_ROUTE_RESOLVED"),
    /** There is no route ({@code RDMA_CM_EVENT_ROUTE_ERROR}). */
    ROUTE_ERROR(3, "RDMA_CM_EVENT_ROUTE_ERROR"),
    /** A peer wants to connect to a listener ({@code RDMA_CM_EVENT_CONNECT_REQUEST}). */
    CONNECT_REQUEST(4, "RDMA_CM_EVENT_CONNECT_REQUEST"),
    /** The peer accepted, and the id has no queue pair of its own ({@code RDMA_CM_EVENT_CONNECT_RESPONSE}). */
    CONNECT_RESPONSE(5, "RDMA_CM_EVENT_CONNECT_RESPONSE"),
    /** Connecting failed ({@code RDMA_CM_EVENT_CONNECT_ERROR}). */
    CONNECT_ERROR(6, "RDMA_CM_EVENT_CONNECT_ERROR"),
    /** The peer does not answer ({@code RDMA_CM_EVENT_UNREACHABLE}). */
    UNREACHABLE(7, "RDMA_CM_EVENT_UNREACHABLE"),
    /** The peer refused ({@code RDMA_CM_EVENT_REJECTED}). */
    REJECTED(8, "RDMA_CM_EVENT_REJECTED"),
    /** The connection stands ({@code RDMA_CM_EVENT_ESTABLISHED}). */
    ESTABLISHED(9, "RDMA_CM_EVENT_ESTABLISHED"),
    /** The connection has ended ({@code RDMA_CM_EVENT_DISCONNECTED}). */
    DISCONNECTED(10, "RDMA_CM_EVENT_DISCONNECTED"),
    /** The device goes away; the id must be closed ({@code RDMA_CM_EVENT_DEVICE_REMOVAL}). */
    DEVICE_REMOVAL(11, "RDMA_CM_EVENT_DEVICE_REMOVAL"),
    /** A multicast group was joined ({@code RDMA_CM_EVENT_MULTICAST_JOIN}). */
    MULTICAST_JOIN(12, "RDMA_CM_EVENT_MULTICAST_JOIN"),
    /** A multicast group was not joined, or was lost ({@code RDMA_CM_EVENT_MULTICAST_ERROR}). */
    MULTICAST_ERROR(13, "RDMA_CM_EVENT_MULTICAST_ERROR"),
    /** The network address moved to another device ({@code RDMA_CM_EVENT_ADDR_CHANGE}). */
    ADDRESS_CHANGE(14, "RDMA_CM_EVENT_ADDR_CHANGE"),
    /** The queue pair number may be used again ({@code RDMA_CM_EVENT_TIMEWAIT_EXIT}). */
    TIME_WAIT_EXIT(15, "RDMA_CM_EVENT_TIMEWAIT_EXIT"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final CommunicationEventType[] VALUES = values();

    private final int value;
    private final String nativeName;

    CommunicationEventType(int value, String nativeName) {
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
     * The connection manager's own name of this event (rdma_event_str(3)); {@link #nativeName} tells it without a
     * library.
     *
     * @param engine whose connection manager
     * @return the name
     * @throws VerbsException when the library or its function is missing
     */
    public String eventString(RdmaEngine engine) throws VerbsException {
        return VerbsAccess.get().engine(engine).eventString(value);
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static CommunicationEventType of(int value) {
        for (CommunicationEventType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
