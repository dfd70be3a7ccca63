package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.XrcDomain;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.Lifecycle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * A communication id as what it is on its device: its addresses, and the objects that it owns there. Where it stands
 * between listening, connecting and being connected is the business of {@link CommunicationId}, the only kind there is.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public abstract sealed class DeviceBoundId permits CommunicationId {
    DeviceBoundId() {}

    abstract CommunicationIdHandle handle();

    abstract Lifecycle life();

    abstract IdResources resources();

    abstract Memberships memberships();

    abstract ChannelStay stay();

    /** Begins a call that uses the native channel. */
    void enterAndStay() {
        life().enter();
        stay().beginCall();
    }

    /** Ends a call that {@link #enterAndStay} began. */
    void exit() {
        stay().endCall();
        life().exit();
    }

    /**
     * The channel where this id's events arrive.
     *
     * @return the channel that made it, or that it was moved to
     */
    public abstract EventChannel channel();

    /**
     * Creates the queue pair of this id (rdma_create_qp(3), rdma_create_qp_ex(3) with an XRC domain). Connect and accept bring one of a connected type to
     * READY_TO_SEND; one for datagrams is there at once. Makes system calls.
     *
     * <p>Completion queues that the attributes lack are created with a channel each, as large as the queue pair, and
     * belong to this id: {@link MessageQueues} waits for their completions.
     *
     * @param domainOrNull its protection domain, made from {@link #device}; null for {@link #protectionDomain}
     * @param attributes what it shall be made of
     * @return the queue pair, closed before this id; its attributes tell the sizes that were granted
     * @throws VerbsException when sizes are more than the device allows, or its type does not suit the port space
     *     ({@code EINVAL}), memory can't be locked ({@code ENOMEM}), or the id has a queue pair or no device
     *     ({@code EINVAL})
     * @throws IllegalArgumentException when the parts belong to different devices
     * @throws IllegalStateException after close, of the parts too
     */
    public QueuePair createQueuePair(ProtectionDomain domainOrNull, QueuePairInitAttributes attributes)
            throws VerbsException {
        Objects.requireNonNull(attributes, "attributes");
        enterAndStay();
        try {
            return resources().createQueuePair(domainOrNull, attributes);
        } finally {
            exit();
        }
    }

    /**
     * Creates the shared receive queue of this id (rdma_create_srq(3)), which its queue pair takes receives from when its
     * attributes name none. Makes system calls.
     *
     * @param domainOrNull its protection domain, made from {@link #device}; null for {@link #protectionDomain}
     * @param wanted its sizes
     * @return the queue, closed before this id
     * @throws VerbsException when the id has one already, or no device ({@code EINVAL}); or as
     *     {@link ProtectionDomain#createSharedReceiveQueue} tells
     * @throws IllegalStateException after close, of the domain too
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domainOrNull, SharedReceiveQueueAttributes wanted) throws VerbsException {
        Objects.requireNonNull(wanted, "wanted");
        life().enter();
        try {
            return resources().createSharedReceiveQueue(domainOrNull, wanted, null, null);
        } finally {
            life().exit();
        }
    }

    /**
     * Creates the shared receive queue of this id in a domain of extended reliable connections (rdma_create_srq_ex(3)).
     * Makes system calls.
     *
     * @param domainOrNull its protection domain, made from {@link #device}; null for {@link #protectionDomain}
     * @param wanted its sizes
     * @param xrcDomain the domain
     * @param queue where the completions of its receives go
     * @return the queue, closed before this id
     * @throws VerbsException as above; when the device or its driver has no such connections, {@code EOPNOTSUPP}
     * @throws IllegalArgumentException when domain or queue belong to another device
     * @throws IllegalStateException after close, of the parts too
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domainOrNull,
            SharedReceiveQueueAttributes wanted,
            XrcDomain xrcDomain,
            CompletionQueue queue)
            throws VerbsException {
        Objects.requireNonNull(wanted, "wanted");
        Objects.requireNonNull(xrcDomain, "xrcDomain");
        Objects.requireNonNull(queue, "queue");
        life().enter();
        try {
            return resources().createSharedReceiveQueue(domainOrNull, wanted, xrcDomain, queue);
        } finally {
            life().exit();
        }
    }

    /**
     * The protection domain that the library made for all ids of this device ({@code pd} of {@code struct rdma_cm_id}).
     * Every id lends it as an object of its own, which can't deallocate it: its close ends what was made from it through
     * this id, and the id's close does so too.
     *
     * @return the domain, always the same for this id; null before the id is bound to a device
     * @throws IllegalStateException after close
     */
    public ProtectionDomain protectionDomain() {
        life().enter();
        try {
            return resources().protectionDomain();
        } finally {
            life().exit();
        }
    }

    /**
     * What a queue pair of the program's own needs for a state (rdma_init_qp_attr(3)), to be given to
     * {@link QueuePair#modify}: for INITIALIZED when the id has a device, for READY_TO_RECEIVE and READY_TO_SEND when the
     * peer has answered. Linux does not tell in every case that it is too early, and marks too few then. Makes a system
     * call.
     *
     * @param state the state that the queue pair shall get
     * @return the attributes, those marked that the state needs
     * @throws VerbsException when the id is not so far ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public QueuePairAttributes initQueuePairAttributes(QueuePairState state) throws VerbsException {
        Objects.requireNonNull(state, "state");
        enterAndStay();
        try {
            return handle().initQueuePairAttributes(state);
        } finally {
            exit();
        }
    }

    /**
     * Begins to join a multicast group to send and to receive (rdma_join_multicast(3)); ends with MULTICAST_JOIN, whose
     * {@link CommunicationEvent#datagramParameters} tell where to send, or MULTICAST_ERROR. On Ethernet, where this
     * causes an IGMP report, no answer is waited for.
     *
     * @param group the group's address
     * @return the membership, to be closed by the caller, after MULTICAST_ERROR too
     * @throws VerbsException when it fails at once: the id is not bound to a device, or not of a datagram port space
     *     ({@code EINVAL})
     * @throws IllegalStateException after close, or when this id has joined the group already
     */
    public MulticastMembership joinMulticast(InetAddress group) throws VerbsException {
        return join(group, null);
    }

    /**
     * Begins to join a multicast group (rdma_join_multicast_ex(3)); see {@link #joinMulticast(InetAddress)}.
     *
     * @param group the group's address
     * @param how for what
     * @return the membership, to be closed by the caller, after MULTICAST_ERROR too
     * @throws VerbsException when it fails at once: the id is not bound to a device, or not of a datagram port space
     *     ({@code EINVAL}); or this way of joining is not to be had ({@code EOPNOTSUPP})
     * @throws IllegalStateException after close, or when this id has joined the group already
     */
    public MulticastMembership joinMulticast(InetAddress group, MulticastJoin how) throws VerbsException {
        return join(group, Objects.requireNonNull(how, "how"));
    }

    private MulticastMembership join(InetAddress group, MulticastJoin how) throws VerbsException {
        Objects.requireNonNull(group, "group");
        enterAndStay();
        try {
            return memberships().join(group, token -> handle().joinMulticast(group, how, token));
        } finally {
            exit();
        }
    }

    /**
     * The device this id is bound to.
     *
     * @return the device, borrowed; null before the id is bound to one
     * @throws IllegalStateException after close
     */
    public DeviceContext device() {
        life().enter();
        try {
            ContextHandle context = handle().device();
            return context == null ? null : channel().context(context);
        } finally {
            life().exit();
        }
    }

    /**
     * The device's port this id is bound to.
     *
     * @return the port, from 1; 0 before the id is bound to a device
     * @throws IllegalStateException after close
     */
    public int portNumber() {
        life().enter();
        try {
            return handle().portNumber();
        } finally {
            life().exit();
        }
    }

    /**
     * The local port (rdma_get_src_port(3)).
     *
     * @return the port; 0 before the id is bound
     * @throws VerbsException when the library lacks the function
     * @throws IllegalStateException after close
     */
    public int sourcePort() throws VerbsException {
        life().enter();
        try {
            return handle().sourcePort();
        } finally {
            life().exit();
        }
    }

    /**
     * The peer's port (rdma_get_dst_port(3)).
     *
     * @return the port; 0 before the destination is known
     * @throws VerbsException when the library lacks the function
     * @throws IllegalStateException after close
     */
    public int destinationPort() throws VerbsException {
        life().enter();
        try {
            return handle().destinationPort();
        } finally {
            life().exit();
        }
    }

    /**
     * The local address (rdma_get_local_addr(3)).
     *
     * @return the address, an IPv6 one with its scope; null when it is not set or no IP address
     * @throws IllegalStateException after close
     */
    public InetSocketAddress localAddress() {
        life().enter();
        try {
            return handle().localAddress();
        } finally {
            life().exit();
        }
    }

    /**
     * The peer's address (rdma_get_peer_addr(3)).
     *
     * @return the address, an IPv6 one with its scope; null when it is not set or no IP address
     * @throws IllegalStateException after close
     */
    public InetSocketAddress remoteAddress() {
        life().enter();
        try {
            return handle().remoteAddress();
        } finally {
            life().exit();
        }
    }
}
