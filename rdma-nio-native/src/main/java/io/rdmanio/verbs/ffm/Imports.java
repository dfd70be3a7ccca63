package io.rdmanio.verbs.ffm;

import java.util.ArrayList;
import java.util.List;

/** The exported functions that the engine calls. */
final class Imports {
    private static final List<ImportedFunction> ALL = new ArrayList<>();

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
    static final ImportedFunction RDMA_DESTROY_QP = cm("rdma_destroy_qp");

    private Imports() {}

    private static ImportedFunction verbs(String name) {
        return add(new ImportedFunction(NativeLibrary.IBVERBS, name));
    }

    private static ImportedFunction cm(String name) {
        return add(new ImportedFunction(NativeLibrary.RDMACM, name));
    }

    private static ImportedFunction add(ImportedFunction function) {
        ALL.add(function);
        return function;
    }

    /** All of them. */
    static List<ImportedFunction> all() {
        return List.copyOf(ALL);
    }
}
