package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_cap}: sizes of a queue pair. */
final class IbvQpCap {
    static final Field.U32 MAX_SEND_WR = new Field.U32("max_send_wr", 0);
    static final Field.U32 MAX_RECV_WR = new Field.U32("max_recv_wr", 4);
    static final Field.U32 MAX_SEND_SGE = new Field.U32("max_send_sge", 8);
    static final Field.U32 MAX_RECV_SGE = new Field.U32("max_recv_sge", 12);
    static final Field.U32 MAX_INLINE_DATA = new Field.U32("max_inline_data", 16);
    static final long SIZE = 20;
    static final Struct STRUCT =
            Struct.of("struct ibv_qp_cap", SIZE, MAX_SEND_WR, MAX_RECV_WR, MAX_SEND_SGE, MAX_RECV_SGE, MAX_INLINE_DATA);

    private IbvQpCap() {}
}
