package io.rdmanio.verbs.cm;

/** Flags of {@link AddressInfo} and its hints (rdma_getaddrinfo(3)), to be or-ed together. */
public final class AddressInfoFlags {
    /** The address is to listen at, not to connect to ({@code RAI_PASSIVE}). */
    public static final int PASSIVE = 1;
    /** The node is a number, so no name service is asked ({@code RAI_NUMERICHOST}). */
    public static final int NUMERIC_HOST = 2;
    /** No route is looked for ({@code RAI_NOROUTE}). */
    public static final int NO_ROUTE = 4;
    /** The node is to be understood as of the hints' family ({@code RAI_FAMILY}). */
    public static final int FAMILY = 8;

    private AddressInfoFlags() {}
}
