package io.rdmanio.verbs;

/**
 * Link layer of a port ({@code IBV_LINK_LAYER_*}, ibv_query_port(3)). An unknown C value is {@code UNKNOWN}. Immutable.
 */
public enum LinkLayer {
    /** Not told; InfiniBand by tradition ({@code IBV_LINK_LAYER_UNSPECIFIED}). */
    UNSPECIFIED(0, "IBV_LINK_LAYER_UNSPECIFIED"),
    /** InfiniBand ({@code IBV_LINK_LAYER_INFINIBAND}). */
    INFINIBAND(1, "IBV_LINK_LAYER_INFINIBAND"),
    /** Ethernet: RoCE or iWARP ({@code IBV_LINK_LAYER_ETHERNET}). */
    ETHERNET(2, "IBV_LINK_LAYER_ETHERNET"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final LinkLayer[] VALUES = values();

    private final int value;
    private final String nativeName;

    LinkLayer(int value, String nativeName) {
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
    public static LinkLayer of(int value) {
        for (LinkLayer constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
