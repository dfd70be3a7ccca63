package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.AtomicCapability;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LinkLayer;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.PortState;
import java.lang.foreign.MemorySegment;

/** From the structs of queries to records. */
final class Attributes {
    // enum ibv_mtu: 1 is 256 bytes, and each step doubles them.
    static final int IBV_MTU_256 = 1;
    static final int IBV_MTU_4096 = 5;

    private static final int SMALLEST_MTU_BYTES = 256;

    private Attributes() {}

    static DeviceAttributes device(MemorySegment attributes) {
        return new DeviceAttributes(
                IbvDeviceAttr.FW_VER.of(attributes).getString(0),
                IbvDeviceAttr.NODE_GUID.get(attributes),
                IbvDeviceAttr.SYS_IMAGE_GUID.get(attributes),
                IbvDeviceAttr.MAX_MR_SIZE.get(attributes),
                IbvDeviceAttr.PAGE_SIZE_CAP.get(attributes),
                IbvDeviceAttr.VENDOR_ID.get(attributes),
                IbvDeviceAttr.VENDOR_PART_ID.get(attributes),
                IbvDeviceAttr.HW_VER.get(attributes),
                IbvDeviceAttr.MAX_QP.get(attributes),
                IbvDeviceAttr.MAX_QP_WR.get(attributes),
                IbvDeviceAttr.DEVICE_CAP_FLAGS.get(attributes),
                IbvDeviceAttr.MAX_SGE.get(attributes),
                IbvDeviceAttr.MAX_SGE_RD.get(attributes),
                IbvDeviceAttr.MAX_CQ.get(attributes),
                IbvDeviceAttr.MAX_CQE.get(attributes),
                IbvDeviceAttr.MAX_MR.get(attributes),
                IbvDeviceAttr.MAX_PD.get(attributes),
                IbvDeviceAttr.MAX_QP_RD_ATOM.get(attributes),
                IbvDeviceAttr.MAX_EE_RD_ATOM.get(attributes),
                IbvDeviceAttr.MAX_RES_RD_ATOM.get(attributes),
                IbvDeviceAttr.MAX_QP_INIT_RD_ATOM.get(attributes),
                IbvDeviceAttr.MAX_EE_INIT_RD_ATOM.get(attributes),
                AtomicCapability.of(IbvDeviceAttr.ATOMIC_CAP.get(attributes)),
                IbvDeviceAttr.MAX_EE.get(attributes),
                IbvDeviceAttr.MAX_RDD.get(attributes),
                IbvDeviceAttr.MAX_MW.get(attributes),
                IbvDeviceAttr.MAX_RAW_IPV6_QP.get(attributes),
                IbvDeviceAttr.MAX_RAW_ETHY_QP.get(attributes),
                IbvDeviceAttr.MAX_MCAST_GRP.get(attributes),
                IbvDeviceAttr.MAX_MCAST_QP_ATTACH.get(attributes),
                IbvDeviceAttr.MAX_TOTAL_MCAST_QP_ATTACH.get(attributes),
                IbvDeviceAttr.MAX_AH.get(attributes),
                IbvDeviceAttr.MAX_FMR.get(attributes),
                IbvDeviceAttr.MAX_MAP_PER_FMR.get(attributes),
                IbvDeviceAttr.MAX_SRQ.get(attributes),
                IbvDeviceAttr.MAX_SRQ_WR.get(attributes),
                IbvDeviceAttr.MAX_SRQ_SGE.get(attributes),
                IbvDeviceAttr.MAX_PKEYS.get(attributes),
                IbvDeviceAttr.LOCAL_CA_ACK_DELAY.get(attributes),
                IbvDeviceAttr.PHYS_PORT_CNT.get(attributes));
    }

    static ExtendedDeviceAttributes extendedDevice(MemorySegment attributes) {
        return new ExtendedDeviceAttributes(
                device(IbvDeviceAttrEx.ORIG_ATTR.of(attributes)),
                IbvDeviceAttrEx.COMP_MASK.get(attributes),
                new ExtendedDeviceAttributes.OnDemandPaging(
                        IbvDeviceAttrEx.ODP_GENERAL.get(attributes),
                        IbvDeviceAttrEx.ODP_RC.get(attributes),
                        IbvDeviceAttrEx.ODP_UC.get(attributes),
                        IbvDeviceAttrEx.ODP_UD.get(attributes)),
                IbvDeviceAttrEx.COMPLETION_TIMESTAMP_MASK.get(attributes),
                IbvDeviceAttrEx.HCA_CORE_CLOCK.get(attributes),
                IbvDeviceAttrEx.DEVICE_CAP_FLAGS_EX.get(attributes),
                new ExtendedDeviceAttributes.Segmentation(
                        IbvDeviceAttrEx.TSO_MAX_TSO.get(attributes),
                        IbvDeviceAttrEx.TSO_SUPPORTED_QPTS.get(attributes)),
                new ExtendedDeviceAttributes.ReceiveSideScaling(
                        IbvDeviceAttrEx.RSS_SUPPORTED_QPTS.get(attributes),
                        IbvDeviceAttrEx.RSS_MAX_RWQ_INDIRECTION_TABLES.get(attributes),
                        IbvDeviceAttrEx.RSS_MAX_RWQ_INDIRECTION_TABLE_SIZE.get(attributes),
                        IbvDeviceAttrEx.RSS_RX_HASH_FIELDS_MASK.get(attributes),
                        IbvDeviceAttrEx.RSS_RX_HASH_FUNCTION.get(attributes)),
                IbvDeviceAttrEx.MAX_WQ_TYPE_RQ.get(attributes),
                new ExtendedDeviceAttributes.PacketPacing(
                        IbvDeviceAttrEx.PACING_QP_RATE_LIMIT_MIN.get(attributes),
                        IbvDeviceAttrEx.PACING_QP_RATE_LIMIT_MAX.get(attributes),
                        IbvDeviceAttrEx.PACING_SUPPORTED_QPTS.get(attributes)),
                IbvDeviceAttrEx.RAW_PACKET_CAPS.get(attributes),
                new ExtendedDeviceAttributes.TagMatching(
                        IbvDeviceAttrEx.TM_MAX_RNDV_HDR_SIZE.get(attributes),
                        IbvDeviceAttrEx.TM_MAX_NUM_TAGS.get(attributes),
                        IbvDeviceAttrEx.TM_FLAGS.get(attributes),
                        IbvDeviceAttrEx.TM_MAX_OPS.get(attributes),
                        IbvDeviceAttrEx.TM_MAX_SGE.get(attributes)),
                new ExtendedDeviceAttributes.CompletionModeration(
                        IbvDeviceAttrEx.CQ_MOD_MAX_CQ_COUNT.get(attributes),
                        IbvDeviceAttrEx.CQ_MOD_MAX_CQ_PERIOD.get(attributes)),
                IbvDeviceAttrEx.MAX_DM_SIZE.get(attributes),
                new ExtendedDeviceAttributes.PciAtomics(
                        IbvDeviceAttrEx.PCI_FETCH_ADD.get(attributes),
                        IbvDeviceAttrEx.PCI_SWAP.get(attributes),
                        IbvDeviceAttrEx.PCI_COMPARE_SWAP.get(attributes)),
                IbvDeviceAttrEx.XRC_ODP_CAPS.get(attributes),
                IbvDeviceAttrEx.PHYS_PORT_CNT_EX.get(attributes));
    }

    static GidEntry gidEntry(MemorySegment entry) {
        return new GidEntry(
                QueuePairStructs.gid(IbvGidEntry.GID.of(entry)),
                IbvGidEntry.GID_INDEX.get(entry),
                IbvGidEntry.PORT_NUM.get(entry),
                GidType.of(IbvGidEntry.GID_TYPE.get(entry)),
                IbvGidEntry.NDEV_IFINDEX.get(entry));
    }

    static PortAttributes port(MemorySegment attributes) {
        return new PortAttributes(
                PortState.of(IbvPortAttr.STATE.get(attributes)),
                mtuBytes(IbvPortAttr.MAX_MTU.get(attributes)),
                mtuBytes(IbvPortAttr.ACTIVE_MTU.get(attributes)),
                IbvPortAttr.GID_TBL_LEN.get(attributes),
                IbvPortAttr.PORT_CAP_FLAGS.get(attributes),
                Integer.toUnsignedLong(IbvPortAttr.MAX_MSG_SZ.get(attributes)),
                IbvPortAttr.BAD_PKEY_CNTR.get(attributes),
                IbvPortAttr.QKEY_VIOL_CNTR.get(attributes),
                IbvPortAttr.PKEY_TBL_LEN.get(attributes),
                IbvPortAttr.LID.get(attributes),
                IbvPortAttr.SM_LID.get(attributes),
                IbvPortAttr.LMC.get(attributes),
                IbvPortAttr.MAX_VL_NUM.get(attributes),
                IbvPortAttr.SM_SL.get(attributes),
                IbvPortAttr.SUBNET_TIMEOUT.get(attributes),
                IbvPortAttr.INIT_TYPE_REPLY.get(attributes),
                IbvPortAttr.ACTIVE_WIDTH.get(attributes),
                IbvPortAttr.ACTIVE_SPEED.get(attributes),
                IbvPortAttr.PHYS_STATE.get(attributes),
                LinkLayer.of(IbvPortAttr.LINK_LAYER.get(attributes)),
                IbvPortAttr.FLAGS.get(attributes),
                IbvPortAttr.PORT_CAP_FLAGS2.get(attributes));
    }

    /** The bytes of a coded MTU; 0 when the code is unknown. */
    static int mtuBytes(int code) {
        return code < IBV_MTU_256 || code > IBV_MTU_4096 ? 0 : SMALLEST_MTU_BYTES << (code - IBV_MTU_256);
    }

    /** The code of an MTU that is one of those there are. */
    static int mtuCode(int bytes) {
        return IBV_MTU_256 + Integer.numberOfTrailingZeros(bytes / SMALLEST_MTU_BYTES);
    }
}
