package io.rdmanio.verbs;

/** What a send work request does ({@code enum ibv_wr_opcode}, ibv_post_send(3)), as C values. */
public final class SendOpcode {
    /** Write to remote memory ({@code IBV_WR_RDMA_WRITE}). */
    public static final int WRITE = 0;

    /**
     * Write to remote memory, and complete a receive there with immediate data; not on iWARP
     * ({@code IBV_WR_RDMA_WRITE_WITH_IMM}).
     */
    public static final int WRITE_WITH_IMM = 1;

    /** Send a message ({@code IBV_WR_SEND}). */
    public static final int SEND = 2;

    /** Send a message with immediate data ({@code IBV_WR_SEND_WITH_IMM}). */
    public static final int SEND_WITH_IMM = 3;

    /** Read remote memory ({@code IBV_WR_RDMA_READ}). */
    public static final int READ = 4;

    /** Compare and swap 8 bytes of remote memory ({@code IBV_WR_ATOMIC_CMP_AND_SWP}). */
    public static final int COMPARE_AND_SWAP = 5;

    /** Add to 8 bytes of remote memory ({@code IBV_WR_ATOMIC_FETCH_AND_ADD}). */
    public static final int FETCH_AND_ADD = 6;

    /** Invalidate a local key ({@code IBV_WR_LOCAL_INV}). */
    public static final int LOCAL_INVALIDATE = 7;

    /** Bind a memory window ({@code IBV_WR_BIND_MW}). */
    public static final int BIND_MEMORY_WINDOW = 8;

    /** Send a message and invalidate a key of the peer ({@code IBV_WR_SEND_WITH_INV}). */
    public static final int SEND_WITH_INVALIDATE = 9;

    /** Send a message that the device cuts into segments with headers of their own ({@code IBV_WR_TSO}). */
    public static final int TCP_SEGMENTATION = 10;

    private SendOpcode() {}
}
