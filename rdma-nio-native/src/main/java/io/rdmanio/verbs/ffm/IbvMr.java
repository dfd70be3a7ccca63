package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_mr}: a memory region. */
final class IbvMr {
    static final Field.U32 LKEY = new Field.U32("lkey", 36);
    static final Field.U32 RKEY = new Field.U32("rkey", 40);
    static final long SIZE = 48;
    static final Struct STRUCT = Struct.of("struct ibv_mr", SIZE, LKEY, RKEY);

    private IbvMr() {}
}
