package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.MulticastJoin;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/** An engine's communication id. */
public interface CommunicationIdHandle {
    /**
     * Sets what events for this id carry. Called once, for an id that came with an event.
     *
     * @param token the token; not 0
     */
    void setToken(long token);

    /**
     * Moves it to another channel of the same engine. Called when none of its events is taken and not acknowledged, and
     * while nobody takes one from either channel; does not wait then. An id that was made without a channel leaves its
     * own behind.
     *
     * @param channel where to
     * @throws VerbsException when it fails; the id stays where it was
     */
    default void migrate(EventChannelHandle channel) throws VerbsException {
        throw Unsupported.operation("rdma_migrate_id");
    }

    /**
     * Begins to resolve an address.
     *
     * @param source the local address, or null
     * @param destination the peer's address
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once
     */
    void resolveAddress(InetSocketAddress source, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException;

    /**
     * Resolves address and route before it returns and without an event, where that takes no waiting.
     *
     * @param destination the peer's address
     * @return false when it may take some: nothing was done then
     * @throws VerbsException when it fails
     */
    default boolean resolveAtOnce(InetSocketAddress destination) throws VerbsException {
        return false;
    }

    /**
     * Begins to resolve the route.
     *
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once
     */
    void resolveRoute(int timeoutMillis) throws VerbsException;

    /**
     * Binds to a local address.
     *
     * @param address the address
     * @throws VerbsException when it fails
     */
    void bind(InetSocketAddress address) throws VerbsException;

    /**
     * Listens.
     *
     * @param backlog how many requests may wait
     * @throws VerbsException when it fails
     */
    void listen(int backlog) throws VerbsException;

    /**
     * Finds out who is at the other end, and settles that the connect asks nobody else.
     *
     * @param timeoutMillis how long it may take
     * @param whenKnown told once, by any thread and perhaps at once: the GID, or null; does not block
     * @throws VerbsException when it is too early
     */
    default void findPeer(int timeoutMillis, Consumer<Gid> whenKnown) throws VerbsException {
        whenKnown.accept(null);
    }

    /**
     * Begins to connect.
     *
     * @param parameters how
     * @param privateData what goes along
     * @throws VerbsException when it fails at once
     */
    void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException;

    /**
     * Accepts the request that this id came with.
     *
     * @param parameters how
     * @param privateData what goes along
     * @throws VerbsException when it fails
     */
    void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException;

    /**
     * Rejects the request that this id came with.
     *
     * @param privateData what goes along
     * @throws VerbsException when it fails
     */
    void reject(byte[] privateData) throws VerbsException;

    /**
     * Disconnects.
     *
     * @throws VerbsException when it fails
     */
    void disconnect() throws VerbsException;

    /**
     * Sets an option.
     *
     * @param option which
     * @param value its value
     * @throws VerbsException when it fails
     */
    void setOption(IdOption option, int value) throws VerbsException;

    /**
     * Sets the path.
     *
     * @param pathData structs of the engine's kind
     * @throws VerbsException when it fails
     */
    default void setPath(byte[] pathData) throws VerbsException {
        throw Unsupported.operation("rdma_set_option");
    }

    /**
     * Completes the connection of an id without a queue pair.
     *
     * @throws VerbsException when it fails
     */
    default void establish() throws VerbsException {
        throw Unsupported.operation("rdma_establish");
    }

    /**
     * Tells of an asynchronous event of the queue pair.
     *
     * @param eventType C's value
     * @throws VerbsException when it fails
     */
    default void notify(int eventType) throws VerbsException {
        throw Unsupported.operation("rdma_notify");
    }

    /**
     * Begins to join a multicast group.
     *
     * @param group its address, joined once only
     * @param join how; null for the older function, which knows full members only
     * @param token what its events shall carry; not 0
     * @throws VerbsException when it fails at once
     */
    default void joinMulticast(InetAddress group, MulticastJoin join, long token) throws VerbsException {
        throw Unsupported.operation(join == null ? "rdma_join_multicast" : "rdma_join_multicast_ex");
    }

    /**
     * Leaves a group. An event of it that is taken meanwhile is acknowledged at once.
     *
     * @param group its address
     * @throws VerbsException when it fails; the group is forgotten all the same
     */
    default void leaveMulticast(InetAddress group) throws VerbsException {
        throw Unsupported.operation("rdma_leave_multicast");
    }

    /**
     * The domain that the engine made for the ids of this device. Its destroy does nothing.
     *
     * @return the domain; null before the id is bound to a device
     */
    default ProtectionDomainHandle protectionDomain() {
        return null;
    }

    /**
     * Creates the shared receive queue of this id.
     *
     * @param domain its domain
     * @param wanted its sizes
     * @param xrcDomain its domain of extended reliable connections, or null
     * @param queue queue of its receive completions; null without such a domain
     * @return the queue
     * @throws VerbsException when it fails
     */
    default SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle domain,
            SharedReceiveQueueAttributes wanted,
            XrcDomainHandle xrcDomain,
            CompletionQueueHandle queue)
            throws VerbsException {
        throw Unsupported.operation(xrcDomain == null ? "rdma_create_srq" : "rdma_create_srq_ex");
    }

    /**
     * What a queue pair needs for a state.
     *
     * @param state the state
     * @return the attributes, those marked that are needed
     * @throws VerbsException when it fails
     */
    default QueuePairAttributes initQueuePairAttributes(QueuePairState state) throws VerbsException {
        throw Unsupported.operation("rdma_init_qp_attr");
    }

    /**
     * The local port.
     *
     * @return the port, 0 when it is not set
     * @throws VerbsException when it fails
     */
    default int sourcePort() throws VerbsException {
        throw Unsupported.operation("rdma_get_src_port");
    }

    /**
     * The peer's port.
     *
     * @return the port, 0 when it is not set
     * @throws VerbsException when it fails
     */
    default int destinationPort() throws VerbsException {
        throw Unsupported.operation("rdma_get_dst_port");
    }

    /**
     * Creates the queue pair of this id.
     *
     * @param domain its domain
     * @param request what it shall be made of
     * @return the queue pair
     * @throws VerbsException when it fails
     */
    QueuePairHandle createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request) throws VerbsException;

    /**
     * The device this id is bound to.
     *
     * @return the device, null before it is bound
     */
    ContextHandle device();

    /**
     * The port this id is bound to.
     *
     * @return the port, from 1; 0 before it is bound
     */
    int portNumber();

    /**
     * The local address.
     *
     * @return the address, null when it is not set or no IP address
     */
    InetSocketAddress localAddress();

    /**
     * The peer's address.
     *
     * @return the address, null when it is not set or no IP address
     */
    InetSocketAddress remoteAddress();

    /**
     * Destroys it; waits until all its events are acknowledged.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
