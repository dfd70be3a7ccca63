package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_cm_event}: an event. */
final class RdmaCmEvent {
    static final Field.U64 ID = new Field.U64("id", 0);
    static final Field.U64 LISTEN_ID = new Field.U64("listen_id", 8);
    static final Field.U32 EVENT = new Field.U32("event", 16);
    static final Field.U32 STATUS = new Field.U32("status", 20);
    static final Field.Bytes PARAM_CONN = new Field.Bytes("param.conn", 24, RdmaConnParam.SIZE);
    static final Field.Bytes PARAM_UD = new Field.Bytes("param.ud", 24, RdmaUdParam.SIZE);
    static final long SIZE = 80;
    static final Struct STRUCT =
            Struct.of("struct rdma_cm_event", SIZE, ID, LISTEN_ID, EVENT, STATUS, PARAM_CONN, PARAM_UD);

    private RdmaCmEvent() {}
}
