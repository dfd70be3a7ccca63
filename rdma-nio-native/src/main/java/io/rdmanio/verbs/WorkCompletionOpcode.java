package io.rdmanio.verbs;

/**
 * What completed ({@code enum ibv_wc_opcode}, ibv_poll_cq(3)), as C values. Only defined for a completion that
 * succeeded.
 */
public final class WorkCompletionOpcode {
    /** A send ({@code IBV_WC_SEND}). */
    public static final int SEND = 0;

    /** A write ({@code IBV_WC_RDMA_WRITE}). */
    public static final int WRITE = 1;

    /** A read ({@code IBV_WC_RDMA_READ}). */
    public static final int READ = 2;

    /** A compare-and-swap ({@code IBV_WC_COMP_SWAP}). */
    public static final int COMPARE_AND_SWAP = 3;

    /** A fetch-and-add ({@code IBV_WC_FETCH_ADD}). */
    public static final int FETCH_AND_ADD = 4;

    /** A bind of a memory window ({@code IBV_WC_BIND_MW}). */
    public static final int BIND_MEMORY_WINDOW = 5;

    /** A local invalidation ({@code IBV_WC_LOCAL_INV}). */
    public static final int LOCAL_INVALIDATE = 6;

    /** A segmented send ({@code IBV_WC_TSO}). */
    public static final int TCP_SEGMENTATION_OFFLOAD = 7;

    /** A receive; every receive opcode has this bit ({@code IBV_WC_RECV}). */
    public static final int RECEIVE = 128;

    /** A receive that a write with immediate data completed ({@code IBV_WC_RECV_RDMA_WITH_IMM}). */
    public static final int RECEIVE_WRITE_WITH_IMM = 129;

    private WorkCompletionOpcode() {}

    /**
     * Tells whether an opcode is that of a receive.
     *
     * @param opcode the C value
     * @return true for receives of any kind
     */
    public static boolean isReceive(int opcode) {
        return (opcode & RECEIVE) != 0;
    }
}
