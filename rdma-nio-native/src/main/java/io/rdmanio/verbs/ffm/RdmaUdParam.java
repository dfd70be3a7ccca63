package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_ud_param}: where datagrams go, in an event. */
final class RdmaUdParam {
    static final Field.U64 PRIVATE_DATA = new Field.U64("private_data", 0);
    static final Field.U8 PRIVATE_DATA_LEN = new Field.U8("private_data_len", 8);
    static final Field.Bytes AH_ATTR = new Field.Bytes("ah_attr", 16, 32);
    static final Field.U32 QP_NUM = new Field.U32("qp_num", 48);
    static final Field.U32 QKEY = new Field.U32("qkey", 52);
    static final long SIZE = 56;
    static final Struct STRUCT =
            Struct.of("struct rdma_ud_param", SIZE, PRIVATE_DATA, PRIVATE_DATA_LEN, AH_ATTR, QP_NUM, QKEY);

    private RdmaUdParam() {}
}
