package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_global_route}: the global part of a path. */
final class IbvGlobalRoute {
    static final Field.Bytes DGID = new Field.Bytes("dgid", 0, 16);
    static final Field.U32 FLOW_LABEL = new Field.U32("flow_label", 16);
    static final Field.U8 SGID_INDEX = new Field.U8("sgid_index", 20);
    static final Field.U8 HOP_LIMIT = new Field.U8("hop_limit", 21);
    static final Field.U8 TRAFFIC_CLASS = new Field.U8("traffic_class", 22);
    static final long SIZE = 24;
    static final Struct STRUCT =
            Struct.of("struct ibv_global_route", SIZE, DGID, FLOW_LABEL, SGID_INDEX, HOP_LIMIT, TRAFFIC_CLASS);

    private IbvGlobalRoute() {}
}
