package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_cm_join_mc_attr_ex}: how a multicast group is joined. */
final class RdmaCmJoinMcAttrEx {
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 0);
    static final Field.U32 JOIN_FLAGS = new Field.U32("join_flags", 4);
    static final Field.U64 ADDR = new Field.U64("addr", 8);
    static final long SIZE = 16;
    static final Struct STRUCT = Struct.of("struct rdma_cm_join_mc_attr_ex", SIZE, COMP_MASK, JOIN_FLAGS, ADDR);

    private RdmaCmJoinMcAttrEx() {}
}
