package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/**
 * {@code struct verbs_context}: what lies before an {@code ibv_context} whose driver is of the newer kind. It grows at
 * its beginning.
 */
final class VerbsContext {
    static final Field.U64 QUERY_PORT = new Field.U64("query_port", 0);
    static final Field.U64 SZ = new Field.U64("sz", 312);
    static final Field.Bytes CONTEXT = new Field.Bytes("context", 320, IbvContext.SIZE);
    static final long SIZE = 320 + IbvContext.SIZE;
    static final Struct STRUCT = Struct.of("struct verbs_context", SIZE, QUERY_PORT, SZ, CONTEXT);

    private VerbsContext() {}
}
