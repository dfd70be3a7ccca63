package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_port_attr}: the state of a port. */
final class IbvPortAttr {
    static final Field.U32 STATE = new Field.U32("state", 0);
    static final Field.U32 MAX_MTU = new Field.U32("max_mtu", 4);
    static final Field.U32 ACTIVE_MTU = new Field.U32("active_mtu", 8);
    static final Field.U32 GID_TBL_LEN = new Field.U32("gid_tbl_len", 12);
    static final Field.U32 PORT_CAP_FLAGS = new Field.U32("port_cap_flags", 16);
    static final Field.U32 MAX_MSG_SZ = new Field.U32("max_msg_sz", 20);
    static final Field.U32 BAD_PKEY_CNTR = new Field.U32("bad_pkey_cntr", 24);
    static final Field.U32 QKEY_VIOL_CNTR = new Field.U32("qkey_viol_cntr", 28);
    static final Field.U16 PKEY_TBL_LEN = new Field.U16("pkey_tbl_len", 32);
    static final Field.U16 LID = new Field.U16("lid", 34);
    static final Field.U16 SM_LID = new Field.U16("sm_lid", 36);
    static final Field.U8 LMC = new Field.U8("lmc", 38);
    static final Field.U8 MAX_VL_NUM = new Field.U8("max_vl_num", 39);
    static final Field.U8 SM_SL = new Field.U8("sm_sl", 40);
    static final Field.U8 SUBNET_TIMEOUT = new Field.U8("subnet_timeout", 41);
    static final Field.U8 INIT_TYPE_REPLY = new Field.U8("init_type_reply", 42);
    static final Field.U8 ACTIVE_WIDTH = new Field.U8("active_width", 43);
    static final Field.U8 ACTIVE_SPEED = new Field.U8("active_speed", 44);
    static final Field.U8 PHYS_STATE = new Field.U8("phys_state", 45);
    static final Field.U8 LINK_LAYER = new Field.U8("link_layer", 46);
    static final Field.U8 FLAGS = new Field.U8("flags", 47);
    static final Field.U16 PORT_CAP_FLAGS2 = new Field.U16("port_cap_flags2", 48);
    static final long SIZE = 52;
    static final Struct STRUCT = Struct.of(
            "struct ibv_port_attr",
            SIZE,
            STATE,
            MAX_MTU,
            ACTIVE_MTU,
            GID_TBL_LEN,
            PORT_CAP_FLAGS,
            MAX_MSG_SZ,
            BAD_PKEY_CNTR,
            QKEY_VIOL_CNTR,
            PKEY_TBL_LEN,
            LID,
            SM_LID,
            LMC,
            MAX_VL_NUM,
            SM_SL,
            SUBNET_TIMEOUT,
            INIT_TYPE_REPLY,
            ACTIVE_WIDTH,
            ACTIVE_SPEED,
            PHYS_STATE,
            LINK_LAYER,
            FLAGS,
            PORT_CAP_FLAGS2);

    private IbvPortAttr() {}
}
