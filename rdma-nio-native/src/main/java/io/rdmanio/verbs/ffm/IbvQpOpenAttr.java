package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_open_attr}: which queue pair of an XRC domain is opened. */
final class IbvQpOpenAttr {
    static final int IBV_QP_OPEN_ATTR_NUM = 1;
    static final int IBV_QP_OPEN_ATTR_XRCD = 1 << 1;
    static final int IBV_QP_OPEN_ATTR_TYPE = 1 << 3;

    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 0);
    static final Field.U32 QP_NUM = new Field.U32("qp_num", 4);
    static final Field.U64 XRCD = new Field.U64("xrcd", 8);
    static final Field.U64 QP_CONTEXT = new Field.U64("qp_context", 16);
    static final Field.U32 QP_TYPE = new Field.U32("qp_type", 24);
    static final long SIZE = 32;
    static final Struct STRUCT =
            Struct.of("struct ibv_qp_open_attr", SIZE, COMP_MASK, QP_NUM, XRCD, QP_CONTEXT, QP_TYPE);

    private IbvQpOpenAttr() {}
}
