package io.rdmanio.verbs;

/** What {@link MemoryRegion#reregister} changes ({@code enum ibv_rereg_mr_flags}, ibv_rereg_mr(3)). */
public final class ReregisterFlags {
    /** The memory ({@code IBV_REREG_MR_CHANGE_TRANSLATION}). */
    public static final int TRANSLATION = 1;

    /** The protection domain ({@code IBV_REREG_MR_CHANGE_PD}). */
    public static final int PROTECTION_DOMAIN = 1 << 1;

    /** The access flags ({@code IBV_REREG_MR_CHANGE_ACCESS}). */
    public static final int ACCESS = 1 << 2;

    private ReregisterFlags() {}
}
