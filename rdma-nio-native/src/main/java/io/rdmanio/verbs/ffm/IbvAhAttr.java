package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_ah_attr}: a path to a peer. */
final class IbvAhAttr {
    static final Field.Bytes GRH = new Field.Bytes("grh", 0, IbvGlobalRoute.SIZE);
    static final Field.U16 DLID = new Field.U16("dlid", 24);
    static final Field.U8 SL = new Field.U8("sl", 26);
    static final Field.U8 SRC_PATH_BITS = new Field.U8("src_path_bits", 27);
    static final Field.U8 STATIC_RATE = new Field.U8("static_rate", 28);
    static final Field.U8 IS_GLOBAL = new Field.U8("is_global", 29);
    static final Field.U8 PORT_NUM = new Field.U8("port_num", 30);
    static final long SIZE = 32;
    static final Struct STRUCT =
            Struct.of("struct ibv_ah_attr", SIZE, GRH, DLID, SL, SRC_PATH_BITS, STATIC_RATE, IS_GLOBAL, PORT_NUM);

    private IbvAhAttr() {}
}
