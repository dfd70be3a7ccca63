package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_context}: an open device, with the functions of its driver. */
final class IbvContext {
    static final Field.U64 DEVICE = new Field.U64("device", 0);
    static final Field.U64 OPS_ALLOC_MW = new Field.U64("ops.alloc_mw", 64);
    static final Field.U64 OPS_BIND_MW = new Field.U64("ops.bind_mw", 72);
    static final Field.U64 OPS_DEALLOC_MW = new Field.U64("ops.dealloc_mw", 80);
    static final Field.U64 OPS_POLL_CQ = new Field.U64("ops.poll_cq", 96);
    static final Field.U64 OPS_REQ_NOTIFY_CQ = new Field.U64("ops.req_notify_cq", 104);
    static final Field.U64 OPS_POST_SRQ_RECV = new Field.U64("ops.post_srq_recv", 168);
    static final Field.U64 OPS_POST_SEND = new Field.U64("ops.post_send", 208);
    static final Field.U64 OPS_POST_RECV = new Field.U64("ops.post_recv", 216);
    static final Field.U32 CMD_FD = new Field.U32("cmd_fd", 264);
    static final Field.U32 ASYNC_FD = new Field.U32("async_fd", 268);
    static final Field.U32 NUM_COMP_VECTORS = new Field.U32("num_comp_vectors", 272);
    static final Field.U64 ABI_COMPAT = new Field.U64("abi_compat", 280 + PthreadTypes.MUTEX_BYTES);
    static final long SIZE = 288 + PthreadTypes.MUTEX_BYTES;
    static final Struct STRUCT = Struct.of(
            "struct ibv_context",
            SIZE,
            DEVICE,
            OPS_ALLOC_MW,
            OPS_BIND_MW,
            OPS_DEALLOC_MW,
            OPS_POLL_CQ,
            OPS_REQ_NOTIFY_CQ,
            OPS_POST_SRQ_RECV,
            OPS_POST_SEND,
            OPS_POST_RECV,
            CMD_FD,
            ASYNC_FD,
            NUM_COMP_VECTORS,
            ABI_COMPAT);

    private IbvContext() {}
}
