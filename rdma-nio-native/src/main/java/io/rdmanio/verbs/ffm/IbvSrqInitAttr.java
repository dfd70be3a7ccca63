package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/**
 * {@code struct ibv_srq_init_attr}: how a shared receive queue is created; the sizes that were granted are written back.
 */
final class IbvSrqInitAttr {
    static final Field.U64 SRQ_CONTEXT = new Field.U64("srq_context", 0);
    static final Field.Bytes ATTR = new Field.Bytes("attr", 8, IbvSrqAttr.SIZE);
    static final long SIZE = 24;
    static final Struct STRUCT = Struct.of("struct ibv_srq_init_attr", SIZE, SRQ_CONTEXT, ATTR);

    private IbvSrqInitAttr() {}
}
