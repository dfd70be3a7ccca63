package io.rdmanio.verbs;

/**
 * What may be done with registered memory ({@code enum ibv_access_flags}, ibv_reg_mr(3)). Reading it locally is always
 * allowed.
 */
public final class AccessFlags {
    /** The device may write on behalf of local requests: receives, reads ({@code IBV_ACCESS_LOCAL_WRITE}). */
    public static final int LOCAL_WRITE = 1;

    /** Peers may write; needs LOCAL_WRITE ({@code IBV_ACCESS_REMOTE_WRITE}). */
    public static final int REMOTE_WRITE = 1 << 1;

    /** Peers may read ({@code IBV_ACCESS_REMOTE_READ}). */
    public static final int REMOTE_READ = 1 << 2;

    /** Peers may use atomic operations; needs LOCAL_WRITE ({@code IBV_ACCESS_REMOTE_ATOMIC}). */
    public static final int REMOTE_ATOMIC = 1 << 3;

    /** Memory windows may be bound ({@code IBV_ACCESS_MW_BIND}). */
    public static final int MEMORY_WINDOW_BIND = 1 << 4;

    /** Addresses count from the beginning of the region ({@code IBV_ACCESS_ZERO_BASED}). */
    public static final int ZERO_BASED = 1 << 5;

    /** Pages are not pinned ({@code IBV_ACCESS_ON_DEMAND}). */
    public static final int ON_DEMAND = 1 << 6;

    /** The memory lies in huge pages ({@code IBV_ACCESS_HUGETLB}). */
    public static final int HUGE_PAGES = 1 << 7;

    /** The device may reorder its writes ({@code IBV_ACCESS_RELAXED_ORDERING}). */
    public static final int RELAXED_ORDERING = 1 << 20;

    private AccessFlags() {}
}
