package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_init_attr}: how a queue pair is created; the sizes that were granted are written back. */
final class IbvQpInitAttr {
    static final Field.U64 QP_CONTEXT = new Field.U64("qp_context", 0);
    static final Field.U64 SEND_CQ = new Field.U64("send_cq", 8);
    static final Field.U64 RECV_CQ = new Field.U64("recv_cq", 16);
    static final Field.U64 SRQ = new Field.U64("srq", 24);
    static final Field.Bytes CAP = new Field.Bytes("cap", 32, IbvQpCap.SIZE);
    static final Field.U32 QP_TYPE = new Field.U32("qp_type", 52);
    static final Field.U32 SQ_SIG_ALL = new Field.U32("sq_sig_all", 56);
    static final long SIZE = 64;
    static final Struct STRUCT =
            Struct.of("struct ibv_qp_init_attr", SIZE, QP_CONTEXT, SEND_CQ, RECV_CQ, SRQ, CAP, QP_TYPE, SQ_SIG_ALL);

    private IbvQpInitAttr() {}
}
