package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_grh}: the header that precedes a datagram in its receive buffer. */
final class IbvGrh {
    static final Field.Net32 VERSION_TCLASS_FLOW = new Field.Net32("version_tclass_flow", 0);
    static final Field.Net16 PAYLEN = new Field.Net16("paylen", 4);
    static final Field.U8 NEXT_HDR = new Field.U8("next_hdr", 6);
    static final Field.U8 HOP_LIMIT = new Field.U8("hop_limit", 7);
    static final Field.Bytes SGID = new Field.Bytes("sgid", 8, 16);
    static final Field.Bytes DGID = new Field.Bytes("dgid", 24, 16);
    static final long SIZE = 40;
    static final Struct STRUCT =
            Struct.of("struct ibv_grh", SIZE, VERSION_TCLASS_FLOW, PAYLEN, NEXT_HDR, HOP_LIMIT, SGID, DGID);

    private IbvGrh() {}
}
