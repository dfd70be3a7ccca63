package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_srq}: a shared receive queue. */
final class IbvSrq {
    static final Field.U64 CONTEXT = new Field.U64("context", 0);
    static final Field.U64 SRQ_CONTEXT = new Field.U64("srq_context", 8);
    static final long SIZE = (32 + PthreadTypes.MUTEX_BYTES + PthreadTypes.COND_BYTES + 4 + 7) / 8 * 8;
    static final Struct STRUCT = Struct.of("struct ibv_srq", SIZE, CONTEXT, SRQ_CONTEXT);

    private IbvSrq() {}
}
