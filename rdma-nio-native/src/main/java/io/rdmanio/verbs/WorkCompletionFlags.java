package io.rdmanio.verbs;

/** Flags of a work completion ({@code enum ibv_wc_flags}, ibv_poll_cq(3)). */
public final class WorkCompletionFlags {
    /** The datagram begins with a global route header ({@code IBV_WC_GRH}). */
    public static final int GLOBAL_ROUTE_HEADER = 1;

    /** There is immediate data ({@code IBV_WC_WITH_IMM}). */
    public static final int WITH_IMMEDIATE = 1 << 1;

    /** The device verified the checksums ({@code IBV_WC_IP_CSUM_OK}). */
    public static final int IP_CHECKSUM_OK = 1 << 2;

    /** A local key was invalidated ({@code IBV_WC_WITH_INV}). */
    public static final int WITH_INVALIDATE = 1 << 3;

    private WorkCompletionFlags() {}
}
