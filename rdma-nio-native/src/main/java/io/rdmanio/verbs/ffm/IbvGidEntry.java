package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_gid_entry}: an entry of a GID table. */
final class IbvGidEntry {
    static final Field.Bytes GID = new Field.Bytes("gid", 0, 16);
    static final Field.U32 GID_INDEX = new Field.U32("gid_index", 16);
    static final Field.U32 PORT_NUM = new Field.U32("port_num", 20);
    static final Field.U32 GID_TYPE = new Field.U32("gid_type", 24);
    static final Field.U32 NDEV_IFINDEX = new Field.U32("ndev_ifindex", 28);
    static final long SIZE = 32;
    static final Struct STRUCT =
            Struct.of("struct ibv_gid_entry", SIZE, GID, GID_INDEX, PORT_NUM, GID_TYPE, NDEV_IFINDEX);

    private IbvGidEntry() {}
}
