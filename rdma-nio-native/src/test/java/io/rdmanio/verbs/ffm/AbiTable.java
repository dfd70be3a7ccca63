package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.AtomicCapability;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LinkLayer;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.NodeType;
import io.rdmanio.verbs.PathMigrationState;
import io.rdmanio.verbs.PortState;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.Rate;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.WorkCompletionFlags;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.XrcDomain;
import io.rdmanio.verbs.cm.AddressFamily;
import io.rdmanio.verbs.cm.AddressInfoFlags;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.DatagramParameters;
import io.rdmanio.verbs.cm.IdOptions;
import io.rdmanio.verbs.cm.MulticastJoin;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.Struct;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** Everything that the engine believes about the headers, as C expressions with their values. */
final class AbiTable {
    static final List<String> HEADERS = List.of(
            "fcntl.h", "infiniband/verbs.h", "netdb.h", "netinet/in.h", "pthread.h", "rdma/rdma_cma.h", "sys/socket.h");

    static final List<Struct> STRUCTS = List.of(
            ScatterGatherLayout.STRUCT,
            SendWorkRequestLayout.STRUCT,
            ReceiveWorkRequestLayout.STRUCT,
            WorkCompletionLayout.STRUCT,
            IbvDevice.STRUCT,
            IbvContext.STRUCT,
            VerbsContext.STRUCT,
            IbvDeviceAttr.STRUCT,
            IbvDeviceAttrEx.STRUCT,
            IbvAsyncEvent.STRUCT,
            IbvGidEntry.STRUCT,
            IbvPortAttr.STRUCT,
            IbvMr.STRUCT,
            IbvMw.STRUCT,
            IbvMwBind.STRUCT,
            IbvCompChannel.STRUCT,
            IbvCq.STRUCT,
            IbvSrq.STRUCT,
            IbvSrqAttr.STRUCT,
            IbvSrqInitAttr.STRUCT,
            IbvSrqInitAttrEx.STRUCT,
            IbvXrcdInitAttr.STRUCT,
            IbvQp.STRUCT,
            IbvQpCap.STRUCT,
            IbvQpInitAttr.STRUCT,
            IbvQpInitAttrEx.STRUCT,
            IbvQpOpenAttr.STRUCT,
            IbvGlobalRoute.STRUCT,
            IbvAhAttr.STRUCT,
            IbvGrh.STRUCT,
            IbvQpAttr.STRUCT,
            RdmaEventChannel.STRUCT,
            RdmaConnParam.STRUCT,
            RdmaUdParam.STRUCT,
            RdmaAddrinfo.STRUCT,
            RdmaCmJoinMcAttrEx.STRUCT,
            RdmaCmEvent.STRUCT,
            RdmaCmId.STRUCT,
            SockaddrIn.STRUCT,
            SockaddrIn6.STRUCT);

    private AbiTable() {}

    static Map<String, Long> layouts(List<Struct> structs) {
        Map<String, Long> table = new LinkedHashMap<>();
        for (Struct struct : structs) {
            String name = struct.nativeName();
            table.put("sizeof(" + name + ")", struct.size());
            for (Field field : struct.fields()) {
                table.put("offsetof(" + name + ", " + field.nativeName() + ")", field.offset());
                table.put("sizeof(((" + name + " *) 0)->" + field.nativeName() + ")", field.size());
            }
        }
        table.put("offsetof(struct verbs_context, priv)", FakeDriver.PRIVATE.offset());
        table.put("sizeof(pthread_mutex_t)", PthreadTypes.MUTEX_BYTES);
        table.put("sizeof(pthread_cond_t)", PthreadTypes.COND_BYTES);
        return table;
    }

    static Map<String, Long> constants() {
        Map<String, Long> table = new LinkedHashMap<>();
        add(table, TransportType.values(), TransportType::nativeName, TransportType::value);
        add(table, NodeType.values(), NodeType::nativeName, NodeType::value);
        add(table, AsyncEventType.values(), AsyncEventType::nativeName, AsyncEventType::value);
        add(table, GidType.values(), GidType::nativeName, GidType::value);
        add(table, MemoryWindowType.values(), MemoryWindowType::nativeName, MemoryWindowType::value);
        add(table, ReregisterError.values(), ReregisterError::nativeName, ReregisterError::value);
        add(table, Rate.values(), Rate::nativeName, Rate::value);
        add(table, PortState.values(), PortState::nativeName, PortState::value);
        add(table, LinkLayer.values(), LinkLayer::nativeName, LinkLayer::value);
        add(table, AtomicCapability.values(), AtomicCapability::nativeName, AtomicCapability::value);
        add(table, QueuePairState.values(), QueuePairState::nativeName, QueuePairState::value);
        add(table, QueuePairType.values(), QueuePairType::nativeName, QueuePairType::value);
        add(table, QueuePairAttribute.values(), QueuePairAttribute::nativeName, QueuePairAttribute::value);
        add(table, PathMigrationState.values(), PathMigrationState::nativeName, PathMigrationState::value);
        add(table, WorkCompletionStatus.values(), WorkCompletionStatus::nativeName, WorkCompletionStatus::value);
        add(table, PortSpace.values(), PortSpace::nativeName, PortSpace::value);
        add(table, CommunicationEventType.values(), CommunicationEventType::nativeName, CommunicationEventType::value);
        add(table, IdOption.values(), IdOption::nativeName, IdOption::value);
        publicConstants().values().forEach(table::putAll);
        table.put("IBV_QP_INIT_ATTR_PD", (long) IbvQpInitAttrEx.IBV_QP_INIT_ATTR_PD);
        table.put("IBV_QP_INIT_ATTR_XRCD", (long) IbvQpInitAttrEx.IBV_QP_INIT_ATTR_XRCD);
        table.put("IBV_QP_OPEN_ATTR_NUM", (long) IbvQpOpenAttr.IBV_QP_OPEN_ATTR_NUM);
        table.put("IBV_QP_OPEN_ATTR_XRCD", (long) IbvQpOpenAttr.IBV_QP_OPEN_ATTR_XRCD);
        table.put("IBV_QP_OPEN_ATTR_TYPE", (long) IbvQpOpenAttr.IBV_QP_OPEN_ATTR_TYPE);
        table.put("IBV_MTU_256", (long) Attributes.IBV_MTU_256);
        table.put("IBV_MTU_4096", (long) Attributes.IBV_MTU_4096);
        table.put("IBV_SRQ_MAX_WR", (long) SharedReceiveQueueHandle.MAX_WORK_REQUESTS);
        table.put("IBV_SRQ_LIMIT", (long) SharedReceiveQueueHandle.LIMIT);
        table.put("IBV_SRQT_XRC", (long) IbvSrqInitAttrEx.IBV_SRQT_XRC);
        table.put("IBV_SRQ_INIT_ATTR_TYPE", (long) IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_TYPE);
        table.put("IBV_SRQ_INIT_ATTR_PD", (long) IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_PD);
        table.put("IBV_SRQ_INIT_ATTR_XRCD", (long) IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_XRCD);
        table.put("IBV_SRQ_INIT_ATTR_CQ", (long) IbvSrqInitAttrEx.IBV_SRQ_INIT_ATTR_CQ);
        table.put("IBV_XRCD_INIT_ATTR_FD", (long) IbvXrcdInitAttr.IBV_XRCD_INIT_ATTR_FD);
        table.put("IBV_XRCD_INIT_ATTR_OFLAGS", (long) IbvXrcdInitAttr.IBV_XRCD_INIT_ATTR_OFLAGS);
        table.put("O_CREAT", (long) XrcDomain.CREATE);
        table.put("O_EXCL", (long) XrcDomain.EXCLUSIVE);
        table.put("IBV_ACCESS_OPTIONAL_RANGE", (long) FfmProtectionDomain.OPTIONAL_RANGE);
        add(table, AddressFamily.values(), AddressFamily::nativeName, AddressFamily::value);
        add(table, MulticastJoin.values(), MulticastJoin::nativeName, MulticastJoin::value);
        FfmAddressInfo.EAI_NAMES.forEach((value, name) -> table.put(name, value.longValue()));
        table.put("RDMA_OPTION_ID", (long) FfmCommunicationId.RDMA_OPTION_ID);
        table.put("RDMA_OPTION_IB", (long) FfmCommunicationId.RDMA_OPTION_IB);
        table.put("RDMA_OPTION_IB_PATH", (long) FfmCommunicationId.RDMA_OPTION_IB_PATH);
        table.put("sizeof(struct ibv_path_data)", (long) IdOptions.PATH_BYTES);
        table.put("RDMA_CM_JOIN_MC_ATTR_ADDRESS", (long) FfmCommunicationId.RDMA_CM_JOIN_MC_ATTR_ADDRESS);
        table.put("RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS", (long) FfmCommunicationId.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS);
        table.put("RDMA_UDP_QKEY", (long) DatagramParameters.UDP_QUEUE_KEY);
        table.put("__VERBS_ABI_IS_EXTENDED", FfmContext.EXTENDED);
        table.put("AF_INET", (long) SocketAddresses.AF_INET);
        table.put("AF_INET6", (long) SocketAddresses.AF_INET6);
        return table;
    }

    private static <E> void add(
            Map<String, Long> table, E[] constants, Function<E, String> name, ToIntFunction<E> value) {
        Stream.of(constants)
                .filter(constant -> name.apply(constant) != null)
                .forEach(constant -> table.put(name.apply(constant), (long) value.applyAsInt(constant)));
    }

    /** The classes of int constants, whose names in C stand here. */
    static Map<Class<?>, Map<String, Long>> publicConstants() {
        return Map.of(
                SendOpcode.class,
                names(
                        "IBV_WR_RDMA_WRITE", SendOpcode.WRITE,
                        "IBV_WR_RDMA_WRITE_WITH_IMM", SendOpcode.WRITE_WITH_IMM,
                        "IBV_WR_SEND", SendOpcode.SEND,
                        "IBV_WR_SEND_WITH_IMM", SendOpcode.SEND_WITH_IMM,
                        "IBV_WR_RDMA_READ", SendOpcode.READ,
                        "IBV_WR_ATOMIC_CMP_AND_SWP", SendOpcode.COMPARE_AND_SWAP,
                        "IBV_WR_ATOMIC_FETCH_AND_ADD", SendOpcode.FETCH_AND_ADD,
                        "IBV_WR_LOCAL_INV", SendOpcode.LOCAL_INVALIDATE,
                        "IBV_WR_BIND_MW", SendOpcode.BIND_MEMORY_WINDOW,
                        "IBV_WR_SEND_WITH_INV", SendOpcode.SEND_WITH_INVALIDATE,
                        "IBV_WR_TSO", SendOpcode.TCP_SEGMENTATION),
                ReregisterFlags.class,
                names(
                        "IBV_REREG_MR_CHANGE_TRANSLATION", ReregisterFlags.TRANSLATION,
                        "IBV_REREG_MR_CHANGE_PD", ReregisterFlags.PROTECTION_DOMAIN,
                        "IBV_REREG_MR_CHANGE_ACCESS", ReregisterFlags.ACCESS),
                SendFlags.class,
                names(
                        "IBV_SEND_FENCE", SendFlags.FENCE,
                        "IBV_SEND_SIGNALED", SendFlags.SIGNALED,
                        "IBV_SEND_SOLICITED", SendFlags.SOLICITED,
                        "IBV_SEND_INLINE", SendFlags.INLINE,
                        "IBV_SEND_IP_CSUM", SendFlags.IP_CHECKSUM),
                AddressInfoFlags.class,
                names(
                        "RAI_PASSIVE", AddressInfoFlags.PASSIVE,
                        "RAI_NUMERICHOST", AddressInfoFlags.NUMERIC_HOST,
                        "RAI_NOROUTE", AddressInfoFlags.NO_ROUTE,
                        "RAI_FAMILY", AddressInfoFlags.FAMILY),
                AccessFlags.class,
                names(
                        "IBV_ACCESS_LOCAL_WRITE", AccessFlags.LOCAL_WRITE,
                        "IBV_ACCESS_REMOTE_WRITE", AccessFlags.REMOTE_WRITE,
                        "IBV_ACCESS_REMOTE_READ", AccessFlags.REMOTE_READ,
                        "IBV_ACCESS_REMOTE_ATOMIC", AccessFlags.REMOTE_ATOMIC,
                        "IBV_ACCESS_MW_BIND", AccessFlags.MEMORY_WINDOW_BIND,
                        "IBV_ACCESS_ZERO_BASED", AccessFlags.ZERO_BASED,
                        "IBV_ACCESS_ON_DEMAND", AccessFlags.ON_DEMAND,
                        "IBV_ACCESS_HUGETLB", AccessFlags.HUGE_PAGES,
                        "IBV_ACCESS_RELAXED_ORDERING", AccessFlags.RELAXED_ORDERING),
                WorkCompletionFlags.class,
                names(
                        "IBV_WC_GRH", WorkCompletionFlags.GLOBAL_ROUTE_HEADER,
                        "IBV_WC_WITH_IMM", WorkCompletionFlags.WITH_IMMEDIATE,
                        "IBV_WC_IP_CSUM_OK", WorkCompletionFlags.IP_CHECKSUM_OK,
                        "IBV_WC_WITH_INV", WorkCompletionFlags.WITH_INVALIDATE),
                WorkCompletionOpcode.class,
                names(
                        "IBV_WC_SEND", WorkCompletionOpcode.SEND,
                        "IBV_WC_RDMA_WRITE", WorkCompletionOpcode.WRITE,
                        "IBV_WC_RDMA_READ", WorkCompletionOpcode.READ,
                        "IBV_WC_COMP_SWAP", WorkCompletionOpcode.COMPARE_AND_SWAP,
                        "IBV_WC_FETCH_ADD", WorkCompletionOpcode.FETCH_AND_ADD,
                        "IBV_WC_BIND_MW", WorkCompletionOpcode.BIND_MEMORY_WINDOW,
                        "IBV_WC_LOCAL_INV", WorkCompletionOpcode.LOCAL_INVALIDATE,
                        "IBV_WC_TSO", WorkCompletionOpcode.TCP_SEGMENTATION_OFFLOAD,
                        "IBV_WC_RECV", WorkCompletionOpcode.RECEIVE,
                        "IBV_WC_RECV_RDMA_WITH_IMM", WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM));
    }

    private static Map<String, Long> names(Object... namesAndValues) {
        Map<String, Long> table = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            table.put((String) namesAndValues[i], ((Integer) namesAndValues[i + 1]).longValue());
        }
        return table;
    }
}
