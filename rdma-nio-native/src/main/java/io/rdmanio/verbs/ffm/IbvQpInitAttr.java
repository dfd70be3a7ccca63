package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_init_attr}: how a queue pair is created; the sizes that were granted are written back. */
final class IbvQpInitAttr {
    static final Field.U64 SEND_CQ = new Field.U64("send_cq", 8);
    static final Field.U64 RECV_CQ = new Field.U64("recv_cq", 16);
    static final Field.U64 SRQ = new Field.U64("srq", 24);
    static final Field.U32 CAP_MAX_SEND_WR = new Field.U32("cap.max_send_wr", 32);
    static final Field.U32 CAP_MAX_RECV_WR = new Field.U32("cap.max_recv_wr", 36);
    static final Field.U32 CAP_MAX_SEND_SGE = new Field.U32("cap.max_send_sge", 40);
    static final Field.U32 CAP_MAX_RECV_SGE = new Field.U32("cap.max_recv_sge", 44);
    static final Field.U32 CAP_MAX_INLINE_DATA = new Field.U32("cap.max_inline_data", 48);
    static final Field.U32 QP_TYPE = new Field.U32("qp_type", 52);
    static final Field.U32 SQ_SIG_ALL = new Field.U32("sq_sig_all", 56);
    static final long SIZE = 64;
    static final Struct STRUCT = Struct.of(
            "struct ibv_qp_init_attr",
            SIZE,
            SEND_CQ,
            RECV_CQ,
            SRQ,
            CAP_MAX_SEND_WR,
            CAP_MAX_RECV_WR,
            CAP_MAX_SEND_SGE,
            CAP_MAX_RECV_SGE,
            CAP_MAX_INLINE_DATA,
            QP_TYPE,
            SQ_SIG_ALL);

    private IbvQpInitAttr() {}
}
