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
    static final Field.U64 PARAM_UD_PRIVATE_DATA = new Field.U64("param.ud.private_data", 24);
    static final Field.U8 PARAM_UD_PRIVATE_DATA_LEN = new Field.U8("param.ud.private_data_len", 32);
    static final long SIZE = 80;
    static final Struct STRUCT = Struct.of(
            "struct rdma_cm_event",
            SIZE,
            ID,
            LISTEN_ID,
            EVENT,
            STATUS,
            PARAM_CONN,
            PARAM_UD_PRIVATE_DATA,
            PARAM_UD_PRIVATE_DATA_LEN);

    private RdmaCmEvent() {}
}
