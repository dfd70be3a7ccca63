package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_comp_channel}: a completion channel. */
final class IbvCompChannel {
    static final Field.U64 CONTEXT = new Field.U64("context", 0);
    static final Field.U32 FD = new Field.U32("fd", 8);
    static final long SIZE = 16;
    static final Struct STRUCT = Struct.of("struct ibv_comp_channel", SIZE, CONTEXT, FD);

    private IbvCompChannel() {}
}
