package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_conn_param}: how a connection is made. */
final class RdmaConnParam {
    static final Field.U64 PRIVATE_DATA = new Field.U64("private_data", 0);
    static final Field.U8 PRIVATE_DATA_LEN = new Field.U8("private_data_len", 8);
    static final Field.U8 RESPONDER_RESOURCES = new Field.U8("responder_resources", 9);
    static final Field.U8 INITIATOR_DEPTH = new Field.U8("initiator_depth", 10);
    static final Field.U8 FLOW_CONTROL = new Field.U8("flow_control", 11);
    static final Field.U8 RETRY_COUNT = new Field.U8("retry_count", 12);
    static final Field.U8 RNR_RETRY_COUNT = new Field.U8("rnr_retry_count", 13);
    static final Field.U8 SRQ = new Field.U8("srq", 14);
    static final Field.U32 QP_NUM = new Field.U32("qp_num", 16);
    static final long SIZE = 24;
    static final Struct STRUCT = Struct.of(
            "struct rdma_conn_param",
            SIZE,
            PRIVATE_DATA,
            PRIVATE_DATA_LEN,
            RESPONDER_RESOURCES,
            INITIATOR_DEPTH,
            FLOW_CONTROL,
            RETRY_COUNT,
            RNR_RETRY_COUNT,
            SRQ,
            QP_NUM);

    private RdmaConnParam() {}
}
