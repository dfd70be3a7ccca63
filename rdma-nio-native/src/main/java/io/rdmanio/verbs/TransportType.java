package io.rdmanio.verbs;

/**
 * What a device speaks on the wire ({@code enum ibv_transport_type}, ibv_get_device_list(3)). An unknown C value is
 * {@code UNKNOWN}. Immutable.
 */
public enum TransportType {
    /** InfiniBand, and RoCE ({@code IBV_TRANSPORT_IB}). */
    IB(0, "IBV_TRANSPORT_IB"),
    /** iWARP ({@code IBV_TRANSPORT_IWARP}). */
    IWARP(1, "IBV_TRANSPORT_IWARP"),
    /** Cisco usNIC ({@code IBV_TRANSPORT_USNIC}). */
    USNIC(2, "IBV_TRANSPORT_USNIC"),
    /** Cisco usNIC over UDP ({@code IBV_TRANSPORT_USNIC_UDP}). */
    USNIC_UDP(3, "IBV_TRANSPORT_USNIC_UDP"),
    /** A protocol of its own ({@code IBV_TRANSPORT_UNSPECIFIED}). */
    UNSPECIFIED(4, "IBV_TRANSPORT_UNSPECIFIED"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final TransportType[] VALUES = values();

    private final int value;
    private final String nativeName;

    TransportType(int value, String nativeName) {
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
    public static TransportType of(int value) {
        for (TransportType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
