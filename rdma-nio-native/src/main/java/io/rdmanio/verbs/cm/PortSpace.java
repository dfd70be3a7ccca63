package io.rdmanio.verbs.cm;

/**
 * Port space of a communication id ({@code enum rdma_port_space}, rdma_create_id(3)). An unknown C value is
 * {@code UNKNOWN}. Immutable.
 */
public enum PortSpace {
    /** Reliable connections ({@code RDMA_PS_TCP}). */
    TCP(262, "RDMA_PS_TCP"),
    /** Unreliable datagrams ({@code RDMA_PS_UDP}). */
    UDP(273, "RDMA_PS_UDP"),
    /** Datagrams that share IPoIB's multicast groups ({@code RDMA_PS_IPOIB}). */
    IPOIB(2, "RDMA_PS_IPOIB"),
    /** Any service, with InfiniBand addressing ({@code RDMA_PS_IB}). */
    IB(319, "RDMA_PS_IB"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final PortSpace[] VALUES = values();

    private final int value;
    private final String nativeName;

    PortSpace(int value, String nativeName) {
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
    public static PortSpace of(int value) {
        for (PortSpace constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
