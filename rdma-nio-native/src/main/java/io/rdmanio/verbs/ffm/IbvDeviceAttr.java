package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_device_attr}: what a device can do. */
final class IbvDeviceAttr {
    static final Field.Bytes FW_VER = new Field.Bytes("fw_ver", 0, 64);
    static final Field.Net64 NODE_GUID = new Field.Net64("node_guid", 64);
    static final Field.Net64 SYS_IMAGE_GUID = new Field.Net64("sys_image_guid", 72);
    static final Field.U64 MAX_MR_SIZE = new Field.U64("max_mr_size", 80);
    static final Field.U64 PAGE_SIZE_CAP = new Field.U64("page_size_cap", 88);
    static final Field.U32 VENDOR_ID = new Field.U32("vendor_id", 96);
    static final Field.U32 VENDOR_PART_ID = new Field.U32("vendor_part_id", 100);
    static final Field.U32 HW_VER = new Field.U32("hw_ver", 104);
    static final Field.U32 MAX_QP = new Field.U32("max_qp", 108);
    static final Field.U32 MAX_QP_WR = new Field.U32("max_qp_wr", 112);
    static final Field.U32 DEVICE_CAP_FLAGS = new Field.U32("device_cap_flags", 116);
    static final Field.U32 MAX_SGE = new Field.U32("max_sge", 120);
    static final Field.U32 MAX_SGE_RD = new Field.U32("max_sge_rd", 124);
    static final Field.U32 MAX_CQ = new Field.U32("max_cq", 128);
    static final Field.U32 MAX_CQE = new Field.U32("max_cqe", 132);
    static final Field.U32 MAX_MR = new Field.U32("max_mr", 136);
    static final Field.U32 MAX_PD = new Field.U32("max_pd", 140);
    static final Field.U32 MAX_QP_RD_ATOM = new Field.U32("max_qp_rd_atom", 144);
    static final Field.U32 MAX_EE_RD_ATOM = new Field.U32("max_ee_rd_atom", 148);
    static final Field.U32 MAX_RES_RD_ATOM = new Field.U32("max_res_rd_atom", 152);
    static final Field.U32 MAX_QP_INIT_RD_ATOM = new Field.U32("max_qp_init_rd_atom", 156);
    static final Field.U32 MAX_EE_INIT_RD_ATOM = new Field.U32("max_ee_init_rd_atom", 160);
    static final Field.U32 ATOMIC_CAP = new Field.U32("atomic_cap", 164);
    static final Field.U32 MAX_EE = new Field.U32("max_ee", 168);
    static final Field.U32 MAX_RDD = new Field.U32("max_rdd", 172);
    static final Field.U32 MAX_MW = new Field.U32("max_mw", 176);
    static final Field.U32 MAX_RAW_IPV6_QP = new Field.U32("max_raw_ipv6_qp", 180);
    static final Field.U32 MAX_RAW_ETHY_QP = new Field.U32("max_raw_ethy_qp", 184);
    static final Field.U32 MAX_MCAST_GRP = new Field.U32("max_mcast_grp", 188);
    static final Field.U32 MAX_MCAST_QP_ATTACH = new Field.U32("max_mcast_qp_attach", 192);
    static final Field.U32 MAX_TOTAL_MCAST_QP_ATTACH = new Field.U32("max_total_mcast_qp_attach", 196);
    static final Field.U32 MAX_AH = new Field.U32("max_ah", 200);
    static final Field.U32 MAX_FMR = new Field.U32("max_fmr", 204);
    static final Field.U32 MAX_MAP_PER_FMR = new Field.U32("max_map_per_fmr", 208);
    static final Field.U32 MAX_SRQ = new Field.U32("max_srq", 212);
    static final Field.U32 MAX_SRQ_WR = new Field.U32("max_srq_wr", 216);
    static final Field.U32 MAX_SRQ_SGE = new Field.U32("max_srq_sge", 220);
    static final Field.U16 MAX_PKEYS = new Field.U16("max_pkeys", 224);
    static final Field.U8 LOCAL_CA_ACK_DELAY = new Field.U8("local_ca_ack_delay", 226);
    static final Field.U8 PHYS_PORT_CNT = new Field.U8("phys_port_cnt", 227);
    static final long SIZE = 232;
    static final Struct STRUCT = Struct.of(
            "struct ibv_device_attr",
            SIZE,
            FW_VER,
            NODE_GUID,
            SYS_IMAGE_GUID,
            MAX_MR_SIZE,
            PAGE_SIZE_CAP,
            VENDOR_ID,
            VENDOR_PART_ID,
            HW_VER,
            MAX_QP,
            MAX_QP_WR,
            DEVICE_CAP_FLAGS,
            MAX_SGE,
            MAX_SGE_RD,
            MAX_CQ,
            MAX_CQE,
            MAX_MR,
            MAX_PD,
            MAX_QP_RD_ATOM,
            MAX_EE_RD_ATOM,
            MAX_RES_RD_ATOM,
            MAX_QP_INIT_RD_ATOM,
            MAX_EE_INIT_RD_ATOM,
            ATOMIC_CAP,
            MAX_EE,
            MAX_RDD,
            MAX_MW,
            MAX_RAW_IPV6_QP,
            MAX_RAW_ETHY_QP,
            MAX_MCAST_GRP,
            MAX_MCAST_QP_ATTACH,
            MAX_TOTAL_MCAST_QP_ATTACH,
            MAX_AH,
            MAX_FMR,
            MAX_MAP_PER_FMR,
            MAX_SRQ,
            MAX_SRQ_WR,
            MAX_SRQ_SGE,
            MAX_PKEYS,
            LOCAL_CA_ACK_DELAY,
            PHYS_PORT_CNT);

    private IbvDeviceAttr() {}
}
