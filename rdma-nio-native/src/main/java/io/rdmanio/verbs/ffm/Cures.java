package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ResourceLimits;

/** Cause and cure of errors, by function: the same number means different things in different calls. */
final class Cures {
    private static final String WINDOW_BOUND =
            "A memory window is still bound to the region: unbind or close it, then close the region again.";

    // The kernel's own ENOTSUPP, which programs should never see.
    private static final int KERNEL_ENOTSUPP = 524;

    private Cures() {}

    static String of(String function, int errno) {
        return switch (errno) {
            case Errno.ENOMEM -> noMemory(function);
            case Errno.EACCES, Errno.EPERM -> permission(function, errno);
            case Errno.EMFILE ->
                "The process has no descriptor left: raise its limit (ulimit -n, LimitNOFILE= in a systemd unit).";
            case Errno.ENFILE -> "The system has no descriptor left (sysctl fs.file-max).";
            case Errno.ENODEV, Errno.ENETUNREACH, Errno.EADDRNOTAVAIL -> noDevice(function);
            case Errno.ENOENT -> noNode(function);
            case Errno.EADDRINUSE ->
                "Another RDMA listener has the address; on iWARP a TCP socket on the same port counts too.";
            case Errno.ECONNREFUSED -> "Nobody listens there.";
            case Errno.EINVAL -> invalid(function);
            case Errno.EOPNOTSUPP, Errno.ENOSYS -> missing(function);
            case Errno.EAGAIN ->
                function.equals("ibv_open_xrcd") ? "The file has no XRC domain: create one (XrcDomain.CREATE)." : "";
            case KERNEL_ENOTSUPP ->
                "The kernel can't on this device (its own ENOTSUPP); groups of IPv6 are not to be had over RoCE.";
            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH -> unreachable(function);
            case Errno.EBUSY ->
                function.equals("ibv_dereg_mr") ? WINDOW_BOUND : "Something that was made from it is still in use.";
            case Errno.EIO ->
                function.equals("ibv_get_async_event") ? "The device is gone: close what was made from it." : "";
            default -> "";
        };
    }

    /** Why memory could not be locked; {@code wanted} is a sentence or empty. */
    static String lockedMemory(String wanted) {
        long limit = ResourceLimits.lockedMemoryBytes();
        if (limit == -1) {
            return wanted
                    + "RLIMIT_MEMLOCK is unlimited, so the device has no more of what was wanted (see its attributes),"
                    + " or the memory control group or vm.max_map_count is at its limit.";
        }
        return wanted + "RLIMIT_MEMLOCK is " + (limit < 0 ? "unknown" : limit + " bytes")
                + " for all registered memory and queues together. Raise it: ulimit -l, LimitMEMLOCK= in a systemd"
                + " unit, memlock in /etc/security/limits.conf, --ulimit memlock=-1 of a container.";
    }

    private static String missing(String function) {
        String cause = "The device or its driver does not have this operation";
        return switch (function) {
            case "ibv_create_qp" -> cause + ", or no queue pairs of this type.";
            case "ibv_modify_qp" -> cause + ", or not for these attributes: few know RATE_LIMIT.";
            case "ibv_query_qp" -> cause + ", or RATE_LIMIT was asked for, which can be set and not queried.";
            default -> cause + ".";
        };
    }

    private static String noMemory(String function) {
        return switch (function) {
            case "ibv_bind_mw" ->
                "This is not about memory: the send queue is full; poll completions of signaled work requests first.";
            case "ibv_attach_mcast" ->
                "The device has no room for more: see its maxMulticastGroups, maxMulticastQueuePairs and"
                        + " maxTotalMulticastQueuePairs.";
            case "ibv_alloc_pd", "ibv_alloc_mw", "ibv_create_ah", "ibv_create_ah_from_wc", "ibv_open_xrcd" ->
                "The device has none left: see its attributes.";
            default -> lockedMemory("");
        };
    }

    private static String permission(String function, int errno) {
        return switch (function) {
            case "ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_mr_iova2", "ibv_reg_dmabuf_mr" ->
                // The kernel's answer to those who may lock no memory at all.
                errno == Errno.EPERM ? lockedMemory("") : "The access flags are more than the memory allows.";
            case "ibv_create_qp" -> "A queue pair of the type RAW_PACKET needs the capability CAP_NET_RAW.";
            case "rdma_bind_addr", "rdma_listen" -> "A port below 1024 needs the capability CAP_NET_BIND_SERVICE.";
            default -> nodePermission();
        };
    }

    private static String nodePermission() {
        return "This process may not use the RDMA devices: it needs read and write access to /dev/infiniband/rdma_cm"
                + " and /dev/infiniband/uverbs*, in a container also the right to these devices"
                + " (--device=/dev/infiniband).";
    }

    private static String noDevice(String function) {
        return switch (function) {
            case "rdma_resolve_addr" ->
                "No RDMA device has a route to that address: it must go through an interface with an RDMA device, and"
                        + " not through the loopback interface.";
            case "rdma_bind_addr" -> "No RDMA device has that address.";
            case "rdma_create_ep" -> "No RDMA device has the source address, or none has a route to the destination.";
            default -> "";
        };
    }

    private static String unreachable(String function) {
        return switch (function) {
            case "ibv_create_ah", "ibv_create_ah_from_wc", "ibv_modify_qp" ->
                "Nobody answers at the destination GID, or no route leads there from the port's interface.";
            default -> "";
        };
    }

    private static String noNode(String function) {
        return function.equals("ibv_open_device")
                ? "A device node under /dev/infiniband is missing: load ib_uverbs, or pass the nodes into"
                        + " the container (--device=/dev/infiniband)."
                : "";
    }

    private static String invalid(String function) {
        return switch (function) {
            case "ibv_resize_cq" ->
                "The depth is more than the device's maxCompletionQueueEntries, or less than the completions that"
                        + " wait to be polled.";
            case "ibv_create_srq", "ibv_create_srq_ex" ->
                "Each size must be at least 1 and at most the device's maxSharedReceiveQueueWorkRequests and"
                        + " maxSharedReceiveQueueSges.";
            case "ibv_modify_srq" ->
                "The limit must not be more than the queue holds; a new size must be no more than the device's"
                        + " maxSharedReceiveQueueWorkRequests, nor less than the limit or than the receives that are"
                        + " posted.";
            case "ibv_open_xrcd" ->
                "The file has an XRC domain and flags are EXCLUSIVE, or there is no file and flags lack CREATE.";
            case "ibv_dereg_mr" -> WINDOW_BOUND;
            case "ibv_alloc_mw" -> "The device has no memory windows of this type.";
            case "ibv_bind_mw" ->
                "The window must lie in the region, the region be registered with MEMORY_WINDOW_BIND, and the access"
                        + " flags be for peers alone; the queue pair must be ready to send.";
            case "ibv_reg_dmabuf_mr" ->
                "The descriptor must be that of a dma-buf that holds offset and length, and the address lie in its page"
                        + " as the offset does in its.";
            case "ibv_query_port", "ibv_query_gid", "ibv_query_gid_ex", "ibv_query_pkey" ->
                "Ports count from 1, entries from 0, up to what the device's and the port's attributes tell.";
            case "ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_mr_iova2" ->
                "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE; the length must not be 0; an address of"
                        + " one's own must lie in its page as the memory does in its.";
            case "ibv_create_cq" ->
                "The depth is more than the device's maxCompletionQueueEntries, or there is no such vector.";
            case "rdma_create_qp" ->
                "The id needs a device and may have one queue pair, whose sizes must not exceed the device's"
                        + " maxQueuePairWorkRequests, maxSges and its inline limit; the completion queues must be as"
                        + " large.";
            case "rdma_resolve_route" -> "The address must be resolved first.";
            case "rdma_connect" ->
                "The route must be resolved and the id have a queue pair; private data of the TCP port space is at"
                    + " most 56 bytes; responder resources and initiator depth must not exceed the device's limits.";
            case "rdma_accept" ->
                "The id must come from a CONNECT_REQUEST and have a queue pair; responder resources and initiator"
                        + " depth must not exceed the request's and the device's.";
            case "rdma_reject" -> "The id must come from a CONNECT_REQUEST that is neither accepted nor rejected.";
            case "rdma_disconnect" -> "The id is not connected; the peer may have disconnected before.";
            case "rdma_bind_addr" ->
                "The id is bound already; or it is of the IPOIB port space, and the device has no IPoIB interface.";
            case "rdma_listen" -> "The id listens already, or it is a connection's.";
            case "rdma_establish" -> "There was no CONNECT_RESPONSE on the id, or it is established already.";
            case "rdma_notify" ->
                "The kernel takes IBV_EVENT_COMM_EST alone, and on an id that has accepted and is not established yet.";
            case "rdma_join_multicast", "rdma_join_multicast_ex" ->
                "The id must be of a datagram port space, and its address bound or resolved; the group must be a"
                        + " multicast address.";
            case "rdma_init_qp_attr" -> "The id is not so far that a queue pair of it could be in this state.";
            case "rdma_set_option" ->
                "The id or its device does not have this option, or it is too late for it (see IdOptions).";
            case "ibv_modify_qp" -> "The queue pair's state does not allow this change.";
            case "ibv_create_qp" ->
                "The sizes must not exceed the device's maxQueuePairWorkRequests, maxSges and its inline limit, and the"
                        + " device must have the type.";
            case "ibv_create_qp_ex" -> "The driver must know the XRC domain and take a queue pair of it.";
            case "ibv_open_qp" -> "The XRC domain has no receiving queue pair of that number.";
            case "ibv_create_ah", "ibv_create_ah_from_wc" ->
                "The port must exist, a device of RoCE needs a global route, and its source must be an entry of the"
                        + " port's GID table that is in use and of the destination's family.";
            case "ibv_init_ah_from_wc" -> "The port must exist, and the header be that of the datagram.";
            case "ibv_attach_mcast" ->
                "Only a datagram queue pair (IBV_QPT_UD) can be attached, and only to a multicast group: a GID that"
                        + " begins with ff, or the IPv4-mapped one of a multicast address.";
            case "ibv_detach_mcast" -> "The queue pair is not attached to this group with this LID.";
            default -> "";
        };
    }
}
