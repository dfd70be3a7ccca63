package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_cq}: a completion queue. */
final class IbvCq {
    static final Field.U64 CONTEXT = new Field.U64("context", 0);
    static final Field.U32 CQE = new Field.U32("cqe", 28);
    static final long SIZE = (32 + PthreadTypes.MUTEX_BYTES + PthreadTypes.COND_BYTES + 8 + 7) / 8 * 8;
    static final Struct STRUCT = Struct.of("struct ibv_cq", SIZE, CONTEXT, CQE);

    private IbvCq() {}
}
