package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp}: a queue pair. */
final class IbvQp {
    static final Field.U64 CONTEXT = new Field.U64("context", 0);
    static final Field.U32 QP_NUM = new Field.U32("qp_num", 52);
    static final long SIZE = (64 + PthreadTypes.MUTEX_BYTES + PthreadTypes.COND_BYTES + 4 + 7) / 8 * 8;
    static final Struct STRUCT = Struct.of("struct ibv_qp", SIZE, CONTEXT, QP_NUM);

    private IbvQp() {}
}
