package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_cm_id}: a communication id. */
final class RdmaCmId {
    static final Field.U64 VERBS = new Field.U64("verbs", 0);
    static final Field.U64 CHANNEL = new Field.U64("channel", 8);
    static final Field.U64 CONTEXT = new Field.U64("context", 16);
    static final Field.U64 QP = new Field.U64("qp", 24);
    static final Field.Bytes ROUTE_ADDR_SRC_ADDR = new Field.Bytes("route.addr.src_storage", 32, 128);
    static final Field.Bytes ROUTE_ADDR_DST_ADDR = new Field.Bytes("route.addr.dst_storage", 160, 128);
    static final Field.U32 PS = new Field.U32("ps", 344);
    static final Field.U8 PORT_NUM = new Field.U8("port_num", 348);
    static final Field.U64 EVENT = new Field.U64("event", 352);
    static final Field.U64 SRQ = new Field.U64("srq", 392);
    static final Field.U64 PD = new Field.U64("pd", 400);
    static final Field.U32 QP_TYPE = new Field.U32("qp_type", 408);
    static final long SIZE = 416;
    static final Struct STRUCT = Struct.of(
            "struct rdma_cm_id",
            SIZE,
            VERBS,
            CHANNEL,
            CONTEXT,
            QP,
            ROUTE_ADDR_SRC_ADDR,
            ROUTE_ADDR_DST_ADDR,
            PS,
            PORT_NUM,
            EVENT,
            SRQ,
            PD,
            QP_TYPE);

    private RdmaCmId() {}
}
