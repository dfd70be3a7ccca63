package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/**
 * {@code struct verbs_context}: what lies before an {@code ibv_context} whose driver is of the newer kind. It grows at
 * its beginning.
 */
final class VerbsContext {
    static final Field.U64 QUERY_PORT = new Field.U64("query_port", 0);
    static final Field.U64 QUERY_DEVICE_EX = new Field.U64("query_device_ex", 216);
    static final Field.U64 OPEN_QP = new Field.U64("open_qp", 256);
    static final Field.U64 CREATE_QP_EX = new Field.U64("create_qp_ex", 264);
    static final Field.U64 GET_SRQ_NUM = new Field.U64("get_srq_num", 272);
    static final Field.U64 CREATE_SRQ_EX = new Field.U64("create_srq_ex", 280);
    static final Field.U64 OPEN_XRCD = new Field.U64("open_xrcd", 288);
    static final Field.U64 CLOSE_XRCD = new Field.U64("close_xrcd", 296);
    static final Field.U64 SZ = new Field.U64("sz", 312);
    static final Field.Bytes CONTEXT = new Field.Bytes("context", 320, IbvContext.SIZE);
    static final long SIZE = 320 + IbvContext.SIZE;
    static final Struct STRUCT = Struct.of(
            "struct verbs_context",
            SIZE,
            QUERY_PORT,
            QUERY_DEVICE_EX,
            OPEN_QP,
            CREATE_QP_EX,
            GET_SRQ_NUM,
            CREATE_SRQ_EX,
            OPEN_XRCD,
            CLOSE_XRCD,
            SZ,
            CONTEXT);

    private VerbsContext() {}
}
