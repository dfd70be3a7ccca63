package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_mw_bind}: how a window of type 1 is bound. */
final class IbvMwBind {
    static final Field.U64 WR_ID = new Field.U64("wr_id", 0);
    static final Field.U32 SEND_FLAGS = new Field.U32("send_flags", 8);
    static final Field.U64 BIND_INFO_MR = new Field.U64("bind_info.mr", 16);
    static final Field.U64 BIND_INFO_ADDR = new Field.U64("bind_info.addr", 24);
    static final Field.U64 BIND_INFO_LENGTH = new Field.U64("bind_info.length", 32);
    static final Field.U32 BIND_INFO_MW_ACCESS_FLAGS = new Field.U32("bind_info.mw_access_flags", 40);
    static final long SIZE = 48;
    static final Struct STRUCT = Struct.of(
            "struct ibv_mw_bind",
            SIZE,
            WR_ID,
            SEND_FLAGS,
            BIND_INFO_MR,
            BIND_INFO_ADDR,
            BIND_INFO_LENGTH,
            BIND_INFO_MW_ACCESS_FLAGS);

    private IbvMwBind() {}
}
