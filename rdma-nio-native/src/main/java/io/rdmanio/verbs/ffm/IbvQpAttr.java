package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_attr}: attributes of a queue pair. */
final class IbvQpAttr {
    static final Field.U32 QP_STATE = new Field.U32("qp_state", 0);
    static final Field.U32 CUR_QP_STATE = new Field.U32("cur_qp_state", 4);
    static final Field.U8 MIN_RNR_TIMER = new Field.U8("min_rnr_timer", 128);
    static final long SIZE = 144;
    static final Struct STRUCT = Struct.of("struct ibv_qp_attr", SIZE, QP_STATE, CUR_QP_STATE, MIN_RNR_TIMER);

    private IbvQpAttr() {}
}
