package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_xrcd_init_attr}: which domain of extended reliable connections is opened. */
final class IbvXrcdInitAttr {
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 0);
    static final Field.U32 FD = new Field.U32("fd", 4);
    static final Field.U32 OFLAGS = new Field.U32("oflags", 8);
    static final long SIZE = 12;
    static final Struct STRUCT = Struct.of("struct ibv_xrcd_init_attr", SIZE, COMP_MASK, FD, OFLAGS);

    static final int IBV_XRCD_INIT_ATTR_FD = 1;
    static final int IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1;

    private IbvXrcdInitAttr() {}
}
