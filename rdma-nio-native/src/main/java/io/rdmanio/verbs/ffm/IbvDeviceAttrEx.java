package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_device_attr_ex}: what a device can do, as newer versions tell it. */
final class IbvDeviceAttrEx {
    static final Field.Bytes ORIG_ATTR = new Field.Bytes("orig_attr", 0, IbvDeviceAttr.SIZE);
    static final Field.U32 COMP_MASK = new Field.U32("comp_mask", 232);
    static final Field.U64 ODP_GENERAL = new Field.U64("odp_caps.general_caps", 240);
    static final Field.U32 ODP_RC = new Field.U32("odp_caps.per_transport_caps.rc_odp_caps", 248);
    static final Field.U32 ODP_UC = new Field.U32("odp_caps.per_transport_caps.uc_odp_caps", 252);
    static final Field.U32 ODP_UD = new Field.U32("odp_caps.per_transport_caps.ud_odp_caps", 256);
    static final Field.U64 COMPLETION_TIMESTAMP_MASK = new Field.U64("completion_timestamp_mask", 264);
    static final Field.U64 HCA_CORE_CLOCK = new Field.U64("hca_core_clock", 272);
    static final Field.U64 DEVICE_CAP_FLAGS_EX = new Field.U64("device_cap_flags_ex", 280);
    static final Field.U32 TSO_MAX_TSO = new Field.U32("tso_caps.max_tso", 288);
    static final Field.U32 TSO_SUPPORTED_QPTS = new Field.U32("tso_caps.supported_qpts", 292);
    static final Field.U32 RSS_SUPPORTED_QPTS = new Field.U32("rss_caps.supported_qpts", 296);
    static final Field.U32 RSS_MAX_RWQ_INDIRECTION_TABLES = new Field.U32("rss_caps.max_rwq_indirection_tables", 300);
    static final Field.U32 RSS_MAX_RWQ_INDIRECTION_TABLE_SIZE =
            new Field.U32("rss_caps.max_rwq_indirection_table_size", 304);
    static final Field.U64 RSS_RX_HASH_FIELDS_MASK = new Field.U64("rss_caps.rx_hash_fields_mask", 312);
    static final Field.U8 RSS_RX_HASH_FUNCTION = new Field.U8("rss_caps.rx_hash_function", 320);
    static final Field.U32 MAX_WQ_TYPE_RQ = new Field.U32("max_wq_type_rq", 328);
    static final Field.U32 PACING_QP_RATE_LIMIT_MIN = new Field.U32("packet_pacing_caps.qp_rate_limit_min", 332);
    static final Field.U32 PACING_QP_RATE_LIMIT_MAX = new Field.U32("packet_pacing_caps.qp_rate_limit_max", 336);
    static final Field.U32 PACING_SUPPORTED_QPTS = new Field.U32("packet_pacing_caps.supported_qpts", 340);
    static final Field.U32 RAW_PACKET_CAPS = new Field.U32("raw_packet_caps", 344);
    static final Field.U32 TM_MAX_RNDV_HDR_SIZE = new Field.U32("tm_caps.max_rndv_hdr_size", 348);
    static final Field.U32 TM_MAX_NUM_TAGS = new Field.U32("tm_caps.max_num_tags", 352);
    static final Field.U32 TM_FLAGS = new Field.U32("tm_caps.flags", 356);
    static final Field.U32 TM_MAX_OPS = new Field.U32("tm_caps.max_ops", 360);
    static final Field.U32 TM_MAX_SGE = new Field.U32("tm_caps.max_sge", 364);
    static final Field.U16 CQ_MOD_MAX_CQ_COUNT = new Field.U16("cq_mod_caps.max_cq_count", 368);
    static final Field.U16 CQ_MOD_MAX_CQ_PERIOD = new Field.U16("cq_mod_caps.max_cq_period", 370);
    static final Field.U64 MAX_DM_SIZE = new Field.U64("max_dm_size", 376);
    static final Field.U16 PCI_FETCH_ADD = new Field.U16("pci_atomic_caps.fetch_add", 384);
    static final Field.U16 PCI_SWAP = new Field.U16("pci_atomic_caps.swap", 386);
    static final Field.U16 PCI_COMPARE_SWAP = new Field.U16("pci_atomic_caps.compare_swap", 388);
    static final Field.U32 XRC_ODP_CAPS = new Field.U32("xrc_odp_caps", 392);
    static final Field.U32 PHYS_PORT_CNT_EX = new Field.U32("phys_port_cnt_ex", 396);
    static final long SIZE = 400;
    static final Struct STRUCT = Struct.of(
            "struct ibv_device_attr_ex",
            SIZE,
            ORIG_ATTR,
            COMP_MASK,
            ODP_GENERAL,
            ODP_RC,
            ODP_UC,
            ODP_UD,
            COMPLETION_TIMESTAMP_MASK,
            HCA_CORE_CLOCK,
            DEVICE_CAP_FLAGS_EX,
            TSO_MAX_TSO,
            TSO_SUPPORTED_QPTS,
            RSS_SUPPORTED_QPTS,
            RSS_MAX_RWQ_INDIRECTION_TABLES,
            RSS_MAX_RWQ_INDIRECTION_TABLE_SIZE,
            RSS_RX_HASH_FIELDS_MASK,
            RSS_RX_HASH_FUNCTION,
            MAX_WQ_TYPE_RQ,
            PACING_QP_RATE_LIMIT_MIN,
            PACING_QP_RATE_LIMIT_MAX,
            PACING_SUPPORTED_QPTS,
            RAW_PACKET_CAPS,
            TM_MAX_RNDV_HDR_SIZE,
            TM_MAX_NUM_TAGS,
            TM_FLAGS,
            TM_MAX_OPS,
            TM_MAX_SGE,
            CQ_MOD_MAX_CQ_COUNT,
            CQ_MOD_MAX_CQ_PERIOD,
            MAX_DM_SIZE,
            PCI_FETCH_ADD,
            PCI_SWAP,
            PCI_COMPARE_SWAP,
            XRC_ODP_CAPS,
            PHYS_PORT_CNT_EX);

    private IbvDeviceAttrEx() {}
}
