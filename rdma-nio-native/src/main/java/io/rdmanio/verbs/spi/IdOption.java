package io.rdmanio.verbs.spi;

/** Options of a communication id (rdma_set_option(3)). */
public enum IdOption {
    /** Type of service, as in the IP header; one byte. */
    TYPE_OF_SERVICE(0, 1, "RDMA_OPTION_ID_TOS"),
    /** Whether an address may be bound again, 0 or 1. */
    REUSE_ADDRESS(1, 4, "RDMA_OPTION_ID_REUSEADDR"),
    /** Whether an IPv6 wildcard leaves IPv4 alone, 0 or 1. */
    ADDRESS_FAMILY_ONLY(2, 4, "RDMA_OPTION_ID_AFONLY"),
    /** How long an acknowledgement is waited for, an exponent; one byte. */
    ACKNOWLEDGEMENT_TIMEOUT(3, 1, "RDMA_OPTION_ID_ACK_TIMEOUT");

    private final int value;
    private final int sizeBytes;
    private final String nativeName;

    IdOption(int value, int sizeBytes, String nativeName) {
        this.value = value;
        this.sizeBytes = sizeBytes;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return the value
     */
    public int value() {
        return value;
    }

    /**
     * How large the option's value is in C.
     *
     * @return bytes
     */
    public int sizeBytes() {
        return sizeBytes;
    }

    /**
     * The C constant.
     *
     * @return its name
     */
    public String nativeName() {
        return nativeName;
    }
}
