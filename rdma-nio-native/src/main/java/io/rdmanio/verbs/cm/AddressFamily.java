package io.rdmanio.verbs.cm;

/** The kind of an address ({@code AF_INET} and its like). An unknown C value is {@code UNKNOWN}. Immutable. */
public enum AddressFamily {
    /** Any ({@code AF_UNSPEC}). */
    UNSPECIFIED(0, "AF_UNSPEC"),
    /** IPv4 ({@code AF_INET}). */
    INET(2, "AF_INET"),
    /** IPv6 ({@code AF_INET6}). */
    INET6(10, "AF_INET6"),
    /** InfiniBand's own ({@code AF_IB}). */
    INFINIBAND(27, "AF_IB"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final AddressFamily[] VALUES = values();

    private final int value;
    private final String nativeName;

    AddressFamily(int value, String nativeName) {
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
    public static AddressFamily of(int value) {
        for (AddressFamily constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
