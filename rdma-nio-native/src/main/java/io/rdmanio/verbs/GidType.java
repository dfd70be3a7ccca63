package io.rdmanio.verbs;

/**
 * What a GID means on the wire ({@code enum ibv_gid_type}, ibv_query_gid_ex(3)). An unknown C value is {@code UNKNOWN}.
 * Immutable.
 */
public enum GidType {
    /** InfiniBand, and iWARP ({@code IBV_GID_TYPE_IB}). */
    IB(0, "IBV_GID_TYPE_IB"),
    /** RoCE within an Ethernet segment ({@code IBV_GID_TYPE_ROCE_V1}). */
    ROCE_V1(1, "IBV_GID_TYPE_ROCE_V1"),
    /** RoCE over UDP ({@code IBV_GID_TYPE_ROCE_V2}). */
    ROCE_V2(2, "IBV_GID_TYPE_ROCE_V2"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final GidType[] VALUES = values();

    private final int value;
    private final String nativeName;

    GidType(int value, String nativeName) {
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
    public static GidType of(int value) {
        for (GidType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
