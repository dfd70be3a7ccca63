package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_mw}: a memory window. */
final class IbvMw {
    static final Field.U32 RKEY = new Field.U32("rkey", 16);
    static final long SIZE = 32;
    static final Struct STRUCT = Struct.of("struct ibv_mw", SIZE, RKEY);

    private IbvMw() {}
}
