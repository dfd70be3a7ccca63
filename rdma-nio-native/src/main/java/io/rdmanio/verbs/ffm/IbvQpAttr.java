package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_qp_attr}: attributes of a queue pair. */
final class IbvQpAttr {
    static final Field.U32 QP_STATE = new Field.U32("qp_state", 0);
    static final Field.U32 CUR_QP_STATE = new Field.U32("cur_qp_state", 4);
    static final Field.U32 PATH_MTU = new Field.U32("path_mtu", 8);
    static final Field.U32 PATH_MIG_STATE = new Field.U32("path_mig_state", 12);
    static final Field.U32 QKEY = new Field.U32("qkey", 16);
    static final Field.U32 RQ_PSN = new Field.U32("rq_psn", 20);
    static final Field.U32 SQ_PSN = new Field.U32("sq_psn", 24);
    static final Field.U32 DEST_QP_NUM = new Field.U32("dest_qp_num", 28);
    static final Field.U32 QP_ACCESS_FLAGS = new Field.U32("qp_access_flags", 32);
    static final Field.Bytes CAP = new Field.Bytes("cap", 36, IbvQpCap.SIZE);
    static final Field.Bytes AH_ATTR = new Field.Bytes("ah_attr", 56, IbvAhAttr.SIZE);
    static final Field.Bytes ALT_AH_ATTR = new Field.Bytes("alt_ah_attr", 88, IbvAhAttr.SIZE);
    static final Field.U16 PKEY_INDEX = new Field.U16("pkey_index", 120);
    static final Field.U16 ALT_PKEY_INDEX = new Field.U16("alt_pkey_index", 122);
    static final Field.U8 EN_SQD_ASYNC_NOTIFY = new Field.U8("en_sqd_async_notify", 124);
    static final Field.U8 SQ_DRAINING = new Field.U8("sq_draining", 125);
    static final Field.U8 MAX_RD_ATOMIC = new Field.U8("max_rd_atomic", 126);
    static final Field.U8 MAX_DEST_RD_ATOMIC = new Field.U8("max_dest_rd_atomic", 127);
    static final Field.U8 MIN_RNR_TIMER = new Field.U8("min_rnr_timer", 128);
    static final Field.U8 PORT_NUM = new Field.U8("port_num", 129);
    static final Field.U8 TIMEOUT = new Field.U8("timeout", 130);
    static final Field.U8 RETRY_CNT = new Field.U8("retry_cnt", 131);
    static final Field.U8 RNR_RETRY = new Field.U8("rnr_retry", 132);
    static final Field.U8 ALT_PORT_NUM = new Field.U8("alt_port_num", 133);
    static final Field.U8 ALT_TIMEOUT = new Field.U8("alt_timeout", 134);
    static final Field.U32 RATE_LIMIT = new Field.U32("rate_limit", 136);
    static final long SIZE = 144;
    static final Struct STRUCT = Struct.of(
            "struct ibv_qp_attr",
            SIZE,
            QP_STATE,
            CUR_QP_STATE,
            PATH_MTU,
            PATH_MIG_STATE,
            QKEY,
            RQ_PSN,
            SQ_PSN,
            DEST_QP_NUM,
            QP_ACCESS_FLAGS,
            CAP,
            AH_ATTR,
            ALT_AH_ATTR,
            PKEY_INDEX,
            ALT_PKEY_INDEX,
            EN_SQD_ASYNC_NOTIFY,
            SQ_DRAINING,
            MAX_RD_ATOMIC,
            MAX_DEST_RD_ATOMIC,
            MIN_RNR_TIMER,
            PORT_NUM,
            TIMEOUT,
            RETRY_CNT,
            RNR_RETRY,
            ALT_PORT_NUM,
            ALT_TIMEOUT,
            RATE_LIMIT);

    private IbvQpAttr() {}
}
