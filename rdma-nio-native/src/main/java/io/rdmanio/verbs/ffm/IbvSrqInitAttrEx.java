package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/**
 * {@code struct ibv_srq_init_attr_ex}: how a shared receive queue is created; the sizes that were granted are written
 * back. It begins as {@code struct ibv_srq_init_attr} does.
 */
final class IbvSrqInitAttrEx {
    static final Field.U64 SRQ_CONTEXT = new Field.U64("srq_context", 0);
    static final Field.Bytes ATTR = new Field.Bytes("attr", 8, IbvSrqAttr.SIZE);
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 20);
    static final Field.U32 SRQ_TYPE = new Field.U32("srq_type", 24);
    static final Field.U64 PD = new Field.U64("pd", 32);
    static final Field.U64 XRCD = new Field.U64("xrcd", 40);
    static final Field.U64 CQ = new Field.U64("cq", 48);
    static final long SIZE = 64;
    static final Struct STRUCT =
            Struct.of("struct ibv_srq_init_attr_ex", SIZE, SRQ_CONTEXT, ATTR, COMP_MASK, SRQ_TYPE, PD, XRCD, CQ);

    static final int IBV_SRQT_XRC = 1;
    static final int IBV_SRQ_INIT_ATTR_TYPE = 1;
    static final int IBV_SRQ_INIT_ATTR_PD = 1 << 1;
    static final int IBV_SRQ_INIT_ATTR_XRCD = 1 << 2;
    static final int IBV_SRQ_INIT_ATTR_CQ = 1 << 3;

    private IbvSrqInitAttrEx() {}
}
