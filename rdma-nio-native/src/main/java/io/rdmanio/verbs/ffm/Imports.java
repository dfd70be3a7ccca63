package io.rdmanio.verbs.ffm;

import java.util.ArrayList;
import java.util.List;

/**
 * The exported functions that the engine calls. Without one of the required ones it can't be used at all; an optional
 * one that is missing fails the operation that needs it.
 */
final class Imports {
    private static final List<ImportedFunction> REQUIRED = new ArrayList<>();

    static final ImportedFunction IBV_GET_DEVICE_LIST = verbs("ibv_get_device_list");
    static final ImportedFunction IBV_FREE_DEVICE_LIST = verbs("ibv_free_device_list");
    static final ImportedFunction IBV_GET_DEVICE_GUID = verbs("ibv_get_device_guid");
    static final ImportedFunction IBV_OPEN_DEVICE = verbs("ibv_open_device");
    static final ImportedFunction IBV_CLOSE_DEVICE = verbs("ibv_close_device");
    static final ImportedFunction IBV_QUERY_DEVICE = verbs("ibv_query_device");
    static final ImportedFunction IBV_QUERY_PORT = verbs("ibv_query_port");
    static final ImportedFunction IBV_QUERY_GID = verbs("ibv_query_gid");
    static final ImportedFunction IBV_ALLOC_PD = verbs("ibv_alloc_pd");
    static final ImportedFunction IBV_DEALLOC_PD = verbs("ibv_dealloc_pd");
    static final ImportedFunction IBV_REG_MR = verbs("ibv_reg_mr");
    static final ImportedFunction IBV_REG_MR_IOVA2 = verbs("ibv_reg_mr_iova2");
    static final ImportedFunction IBV_DEREG_MR = verbs("ibv_dereg_mr");
    static final ImportedFunction IBV_CREATE_COMP_CHANNEL = verbs("ibv_create_comp_channel");
    static final ImportedFunction IBV_DESTROY_COMP_CHANNEL = verbs("ibv_destroy_comp_channel");
    static final ImportedFunction IBV_CREATE_CQ = verbs("ibv_create_cq");
    static final ImportedFunction IBV_DESTROY_CQ = verbs("ibv_destroy_cq");
    static final ImportedFunction IBV_GET_CQ_EVENT = verbs("ibv_get_cq_event");
    static final ImportedFunction IBV_ACK_CQ_EVENTS = verbs("ibv_ack_cq_events");
    static final ImportedFunction IBV_MODIFY_QP = verbs("ibv_modify_qp");
    static final ImportedFunction IBV_QUERY_QP = verbs("ibv_query_qp");

    static final ImportedFunction RDMA_CREATE_EVENT_CHANNEL = cm("rdma_create_event_channel");
    static final ImportedFunction RDMA_DESTROY_EVENT_CHANNEL = cm("rdma_destroy_event_channel");
    static final ImportedFunction RDMA_GET_CM_EVENT = cm("rdma_get_cm_event");
    static final ImportedFunction RDMA_ACK_CM_EVENT = cm("rdma_ack_cm_event");
    static final ImportedFunction RDMA_CREATE_ID = cm("rdma_create_id");
    static final ImportedFunction RDMA_DESTROY_ID = cm("rdma_destroy_id");
    static final ImportedFunction RDMA_SET_OPTION = cm("rdma_set_option");
    static final ImportedFunction RDMA_RESOLVE_ADDR = cm("rdma_resolve_addr");
    static final ImportedFunction RDMA_RESOLVE_ROUTE = cm("rdma_resolve_route");
    static final ImportedFunction RDMA_BIND_ADDR = cm("rdma_bind_addr");
    static final ImportedFunction RDMA_LISTEN = cm("rdma_listen");
    static final ImportedFunction RDMA_CONNECT = cm("rdma_connect");
    static final ImportedFunction RDMA_ACCEPT = cm("rdma_accept");
    static final ImportedFunction RDMA_REJECT = cm("rdma_reject");
    static final ImportedFunction RDMA_DISCONNECT = cm("rdma_disconnect");
    static final ImportedFunction RDMA_CREATE_QP = cm("rdma_create_qp");

    // What streams do without: missing in an older rdma-core, each fails its own callers alone.
    static final ImportedFunction IBV_QUERY_PKEY = optionalVerbs("ibv_query_pkey");
    static final ImportedFunction IBV_GET_ASYNC_EVENT = optionalVerbs("ibv_get_async_event");
    static final ImportedFunction IBV_ACK_ASYNC_EVENT = optionalVerbs("ibv_ack_async_event");
    static final ImportedFunction IBV_EVENT_TYPE_STR = optionalVerbs("ibv_event_type_str");
    static final ImportedFunction IBV_WC_STATUS_STR = optionalVerbs("ibv_wc_status_str");
    static final ImportedFunction IBV_RATE_TO_MULT = optionalVerbs("ibv_rate_to_mult");
    static final ImportedFunction MULT_TO_IBV_RATE = optionalVerbs("mult_to_ibv_rate");
    static final ImportedFunction IBV_REG_MR_IOVA = optionalVerbs("ibv_reg_mr_iova");
    static final ImportedFunction IBV_REG_DMABUF_MR = optionalVerbs("ibv_reg_dmabuf_mr");
    static final ImportedFunction IBV_REREG_MR = optionalVerbs("ibv_rereg_mr");
    static final ImportedFunction IBV_CREATE_AH = optionalVerbs("ibv_create_ah");
    static final ImportedFunction IBV_INIT_AH_FROM_WC = optionalVerbs("ibv_init_ah_from_wc");
    static final ImportedFunction IBV_CREATE_AH_FROM_WC = optionalVerbs("ibv_create_ah_from_wc");
    static final ImportedFunction IBV_DESTROY_AH = optionalVerbs("ibv_destroy_ah");
    static final ImportedFunction IBV_RESIZE_CQ = optionalVerbs("ibv_resize_cq");
    static final ImportedFunction IBV_CREATE_SRQ = optionalVerbs("ibv_create_srq");
    static final ImportedFunction IBV_MODIFY_SRQ = optionalVerbs("ibv_modify_srq");
    static final ImportedFunction IBV_QUERY_SRQ = optionalVerbs("ibv_query_srq");
    static final ImportedFunction IBV_DESTROY_SRQ = optionalVerbs("ibv_destroy_srq");
    static final ImportedFunction IBV_CREATE_QP = optionalVerbs("ibv_create_qp");
    static final ImportedFunction IBV_DESTROY_QP = optionalVerbs("ibv_destroy_qp");
    static final ImportedFunction IBV_ATTACH_MCAST = optionalVerbs("ibv_attach_mcast");
    static final ImportedFunction IBV_DETACH_MCAST = optionalVerbs("ibv_detach_mcast");
    static final ImportedFunction IBV_QUERY_GID_EX = optionalVerbs("_ibv_query_gid_ex");
    static final ImportedFunction IBV_QUERY_GID_TABLE = optionalVerbs("_ibv_query_gid_table");

    static final ImportedFunction RDMA_MIGRATE_ID = optionalCm("rdma_migrate_id");
    static final ImportedFunction RDMA_CREATE_EP = optionalCm("rdma_create_ep");
    static final ImportedFunction RDMA_DESTROY_EP = optionalCm("rdma_destroy_ep");
    static final ImportedFunction RDMA_GET_REQUEST = optionalCm("rdma_get_request");
    static final ImportedFunction RDMA_NOTIFY = optionalCm("rdma_notify");
    static final ImportedFunction RDMA_ESTABLISH = optionalCm("rdma_establish");
    static final ImportedFunction RDMA_GET_SRC_PORT = optionalCm("rdma_get_src_port");
    static final ImportedFunction RDMA_GET_DST_PORT = optionalCm("rdma_get_dst_port");
    static final ImportedFunction RDMA_GET_DEVICES = optionalCm("rdma_get_devices");
    static final ImportedFunction RDMA_FREE_DEVICES = optionalCm("rdma_free_devices");
    static final ImportedFunction RDMA_GETADDRINFO = optionalCm("rdma_getaddrinfo");
    static final ImportedFunction RDMA_FREEADDRINFO = optionalCm("rdma_freeaddrinfo");
    static final ImportedFunction RDMA_CREATE_QP_EX = optionalCm("rdma_create_qp_ex");
    static final ImportedFunction RDMA_CREATE_SRQ = optionalCm("rdma_create_srq");
    static final ImportedFunction RDMA_CREATE_SRQ_EX = optionalCm("rdma_create_srq_ex");
    static final ImportedFunction RDMA_DESTROY_SRQ = optionalCm("rdma_destroy_srq");
    static final ImportedFunction RDMA_JOIN_MULTICAST = optionalCm("rdma_join_multicast");
    static final ImportedFunction RDMA_JOIN_MULTICAST_EX = optionalCm("rdma_join_multicast_ex");
    static final ImportedFunction RDMA_LEAVE_MULTICAST = optionalCm("rdma_leave_multicast");
    static final ImportedFunction RDMA_EVENT_STR = optionalCm("rdma_event_str");
    static final ImportedFunction RDMA_INIT_QP_ATTR = optionalCm("rdma_init_qp_attr");

    private Imports() {}

    private static ImportedFunction verbs(String name) {
        return required(optionalVerbs(name));
    }

    private static ImportedFunction cm(String name) {
        return required(optionalCm(name));
    }

    private static ImportedFunction optionalVerbs(String name) {
        return new ImportedFunction(NativeLibrary.IBVERBS, name);
    }

    private static ImportedFunction optionalCm(String name) {
        return new ImportedFunction(NativeLibrary.RDMACM, name);
    }

    private static ImportedFunction required(ImportedFunction function) {
        REQUIRED.add(function);
        return function;
    }

    /** Those that the engine can't be used without. */
    static List<ImportedFunction> required() {
        return List.copyOf(REQUIRED);
    }
}
