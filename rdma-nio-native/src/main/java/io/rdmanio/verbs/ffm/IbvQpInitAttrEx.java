package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_init_attr_ex}: how a queue pair is created; it begins as {@code struct ibv_qp_init_attr} does. */
final class IbvQpInitAttrEx {
    static final Field.Bytes CAP = new Field.Bytes("cap", 32, IbvQpCap.SIZE);
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 60);
    static final Field.U64 PD = new Field.U64("pd", 64);
    static final Field.U64 XRCD = new Field.U64("xrcd", 72);
    static final long SIZE = 136;
    static final Struct STRUCT = Struct.of("struct ibv_qp_init_attr_ex", SIZE, CAP, COMP_MASK, PD, XRCD);

    static final int IBV_QP_INIT_ATTR_PD = 1;
    static final int IBV_QP_INIT_ATTR_XRCD = 1 << 1;

    private IbvQpInitAttrEx() {}
}
