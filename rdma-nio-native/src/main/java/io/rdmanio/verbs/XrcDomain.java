package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.XrcDomainHandle;

/**
 * A domain of extended reliable connections ({@code struct ibv_xrcd}), which the processes of a host may share by the
 * file that it is associated with: a connection of it reaches the shared receive queues of all of them. Few devices
 * have it. Thread-safe.
 *
 * <p>Older releases had functions of other names for it, which rdma-core has no more. Their place is taken so:
 *
 * <table>
 * <caption>Old and new functions</caption>
 * <tr><th scope="col">old</th><th scope="col">new</th><th scope="col">here</th></tr>
 * <tr><td>ibv_open_xrc_domain(3)</td><td>ibv_open_xrcd(3)</td><td>{@link DeviceContext#openXrcDomain}</td></tr>
 * <tr><td>ibv_close_xrc_domain(3)</td><td>ibv_close_xrcd(3)</td><td>{@link #close}</td></tr>
 * <tr><td>ibv_create_xrc_srq(3)</td><td>ibv_create_srq_ex(3)</td><td>{@link ProtectionDomain#createSharedReceiveQueue(
 * SharedReceiveQueueAttributes, XrcDomain, CompletionQueue)}</td></tr>
 * <tr><td>ibv_create_xrc_rcv_qp(3)</td><td>ibv_create_qp_ex(3), type IBV_QPT_XRC_RECV</td><td>{@link ProtectionDomain#createQueuePair}</td>
 * </tr>
 * <tr><td>ibv_modify_xrc_rcv_qp(3)</td><td>ibv_modify_qp(3)</td><td>{@link QueuePair#modify}</td></tr>
 * <tr><td>ibv_query_xrc_rcv_qp(3)</td><td>ibv_query_qp(3)</td><td>{@link QueuePair#query}</td></tr>
 * <tr><td>ibv_reg_xrc_rcv_qp(3)</td><td>ibv_open_qp(3)</td><td>{@link #openQueuePair}</td></tr>
 * <tr><td>ibv_unreg_xrc_rcv_qp(3)</td><td>ibv_destroy_qp(3) of what was opened</td><td>{@link QueuePair#close}</td>
 * </tr>
 * </table>
 */
public final class XrcDomain implements AutoCloseable {
    /** No file: the domain is this process's own. */
    public static final int NO_FILE = -1;

    /** Create the domain if the file has none yet ({@code O_CREAT}). Needed for {@link #NO_FILE}. */
    public static final int CREATE = 0x40;

    /** With {@link #CREATE}: fail if the file has a domain ({@code O_EXCL}). */
    public static final int EXCLUSIVE = 0x80;

    final XrcDomainHandle handle;
    final Lifecycle life;
    private final DeviceContext context;

    XrcDomain(DeviceContext context, XrcDomainHandle handle) {
        this.context = context;
        this.handle = handle;
        this.life = new Lifecycle(HandleKind.XRC_DOMAIN, handle::destroy, context.life);
    }

    /**
     * The device context that it was opened from.
     *
     * @return the context
     */
    public DeviceContext context() {
        return context;
    }

    /**
     * Opens a receiving queue pair of this domain that exists already, made by this or another process (ibv_open_qp(3)):
     * it lives until all that have it closed it. Makes a system call.
     *
     * @param number its number
     * @return the queue pair, of the type XRC_RECEIVE, to be closed by the caller
     * @throws VerbsException when there is none of that number in the domain ({@code EINVAL}), or the driver has no such
     *     queue pairs ({@code EOPNOTSUPP})
     * @throws IllegalStateException after close
     */
    public QueuePair openQueuePair(int number) throws VerbsException {
        life.enter();
        try {
            return QueuePair.opened(this, handle.openQueuePair(number));
        } finally {
            life.exit();
        }
    }

    /**
     * Closes the domain (ibv_close_xrcd(3), formerly ibv_close_xrc_domain(3)) after this process's queue pairs and
     * shared receive queues of it; the last process that closes it destroys it. Idempotent; waits for calls in
     * progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
