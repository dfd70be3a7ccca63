package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_init_attr_ex}: how a queue pair is created, extended. It begins as {@link IbvQpInitAttr} does. */
final class IbvQpInitAttrEx {
    static final int IBV_QP_INIT_ATTR_PD = 1;
    static final int IBV_QP_INIT_ATTR_XRCD = 1 << 1;

    static final Field.U64 QP_CONTEXT = new Field.U64("qp_context", 0);
    static final Field.U64 SEND_CQ = new Field.U64("send_cq", 8);
    static final Field.U64 RECV_CQ = new Field.U64("recv_cq", 16);
    static final Field.U64 SRQ = new Field.U64("srq", 24);
    static final Field.Bytes CAP = new Field.Bytes("cap", 32, IbvQpCap.SIZE);
    static final Field.U32 QP_TYPE = new Field.U32("qp_type", 52);
    static final Field.U32 SQ_SIG_ALL = new Field.U32("sq_sig_all", 56);
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 60);
    static final Field.U64 PD = new Field.U64("pd", 64);
    static final Field.U64 XRCD = new Field.U64("xrcd", 72);
    static final Field.U32 CREATE_FLAGS = new Field.U32("create_flags", 80);
    static final Field.U16 MAX_TSO_HEADER = new Field.U16("max_tso_header", 84);
    static final Field.U64 RWQ_IND_TBL = new Field.U64("rwq_ind_tbl", 88);
    static final Field.Bytes RX_HASH_CONF = new Field.Bytes("rx_hash_conf", 96, 24);
    static final Field.U32 SOURCE_QPN = new Field.U32("source_qpn", 120);
    static final Field.U64 SEND_OPS_FLAGS = new Field.U64("send_ops_flags", 128);
    static final long SIZE = 136;
    static final Struct STRUCT = Struct.of(
            "struct ibv_qp_init_attr_ex",
            SIZE,
            QP_CONTEXT,
            SEND_CQ,
            RECV_CQ,
            SRQ,
            CAP,
            QP_TYPE,
            SQ_SIG_ALL,
            COMP_MASK,
            PD,
            XRCD,
            CREATE_FLAGS,
            MAX_TSO_HEADER,
            RWQ_IND_TBL,
            RX_HASH_CONF,
            SOURCE_QPN,
            SEND_OPS_FLAGS);

    private IbvQpInitAttrEx() {}
}
