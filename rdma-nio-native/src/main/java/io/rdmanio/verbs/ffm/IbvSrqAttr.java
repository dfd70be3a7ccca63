package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_srq_attr}: sizes and limit of a shared receive queue. */
final class IbvSrqAttr {
    static final Field.U32 MAX_WR = new Field.U32("max_wr", 0);
    static final Field.U32 MAX_SGE = new Field.U32("max_sge", 4);
    static final Field.U32 SRQ_LIMIT = new Field.U32("srq_limit", 8);
    static final long SIZE = 12;
    static final Struct STRUCT = Struct.of("struct ibv_srq_attr", SIZE, MAX_WR, MAX_SGE, SRQ_LIMIT);

    private IbvSrqAttr() {}

    static void write(MemorySegment struct, SharedReceiveQueueAttributes attributes) {
        MAX_WR.set(struct, attributes.maxWorkRequests());
        MAX_SGE.set(struct, attributes.maxSges());
        SRQ_LIMIT.set(struct, attributes.limit());
    }

    static SharedReceiveQueueAttributes read(MemorySegment struct) {
        return new SharedReceiveQueueAttributes(MAX_WR.get(struct), MAX_SGE.get(struct), SRQ_LIMIT.get(struct));
    }
}
