package io.rdmanio.verbs;

/**
 * State of a port ({@code enum ibv_port_state}, ibv_query_port(3)). An unknown C value is {@code UNKNOWN}. Immutable.
 */
public enum PortState {
    /** No state change ({@code IBV_PORT_NOP}). */
    NOP(0, "IBV_PORT_NOP"),
    /** Down ({@code IBV_PORT_DOWN}). */
    DOWN(1, "IBV_PORT_DOWN"),
    /** Link is up, not configured ({@code IBV_PORT_INIT}). */
    INITIALIZE(2, "IBV_PORT_INIT"),
    /** Configured, not active ({@code IBV_PORT_ARMED}). */
    ARMED(3, "IBV_PORT_ARMED"),
    /** Active ({@code IBV_PORT_ACTIVE}). */
    ACTIVE(4, "IBV_PORT_ACTIVE"),
    /** Active, link lost for the moment ({@code IBV_PORT_ACTIVE_DEFER}). */
    ACTIVE_DEFERRED(5, "IBV_PORT_ACTIVE_DEFER"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final PortState[] VALUES = values();

    private final int value;
    private final String nativeName;

    PortState(int value, String nativeName) {
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
    public static PortState of(int value) {
        for (PortState constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
