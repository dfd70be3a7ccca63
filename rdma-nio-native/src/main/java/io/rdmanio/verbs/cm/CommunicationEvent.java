package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.spi.TakenEvent;

/**
 * An event of the connection manager ({@code struct rdma_cm_event}, rdma_get_cm_event(3)). Everything is copied out
 * when it is taken, so it may be read after {@link #close} too. Until it is closed, the id it is for ({@link #listenId}
 * of a request to connect) is not destroyed by others unseen: closing that id acknowledges the event itself.
 *
 * <p>Immutable; thread-safe.
 */
public final class CommunicationEvent implements AutoCloseable {
    private final TakenEvent taken;
    private final CommunicationId id;
    private final CommunicationId listenId;
    private final MulticastMembership membership;

    CommunicationEvent(TakenEvent taken, CommunicationId id, CommunicationId listenId, MulticastMembership membership) {
        this.taken = taken;
        this.id = id;
        this.listenId = listenId;
        this.membership = membership;
    }

    TakenEvent taken() {
        return taken;
    }

    /**
     * What happened.
     *
     * @return the type, UNKNOWN when this version does not know it
     */
    public CommunicationEventType type() {
        return taken.type();
    }

    /**
     * Why, as delivered.
     *
     * @return 0; or a negative error number; or, for REJECTED, the transport's reason (on InfiniBand and RoCE 28 is the
     *     peer's program, 8 that nobody listens; on iWARP a negative error number); or, for UNREACHABLE of datagrams, what
     *     the peer answered (1 that nobody listens, 2 that its program rejected)
     */
    public int status() {
        return taken.status();
    }

    /**
     * The id it is for. For CONNECT_REQUEST a new one, owned by whoever takes the event: accept, reject or close it.
     *
     * @return the id; null when it was closed meanwhile
     */
    public CommunicationId id() {
        return id;
    }

    /**
     * The listener that a peer wants to connect to.
     *
     * @return the listener of a CONNECT_REQUEST; null for any other event
     */
    public CommunicationId listenId() {
        return listenId;
    }

    /**
     * What the peer sent along.
     *
     * @return a copy, may be empty; its length is that of the transport's field, so the message must tell its own
     */
    public byte[] privateData() {
        return taken.privateData().clone();
    }

    /**
     * The peer's parameters, seen from this side: its initiator depth is our responder resources.
     *
     * @return as delivered; null for datagrams
     */
    public ConnectionParameters connectionParameters() {
        return taken.connectionParameters();
    }

    /**
     * Where datagrams go to: the peer's queue pair with ESTABLISHED, a group with MULTICAST_JOIN.
     *
     * @return as delivered; null in port spaces of connections. Before the peer or group is known, its fields are zero
     */
    public DatagramParameters datagramParameters() {
        return taken.datagramParameters();
    }

    /**
     * The multicast membership it is for.
     *
     * @return the membership of a MULTICAST_JOIN or MULTICAST_ERROR; null for any other event
     */
    public MulticastMembership membership() {
        return membership;
    }

    /** Acknowledges the event (rdma_ack_cm_event(3)). Idempotent; does not block. */
    @Override
    public void close() {
        CommunicationId debtor = listenId == null ? id : listenId;
        if (debtor != null) {
            EventChannel.pay(debtor, event -> event == this);
        }
    }

    /**
     * Type and status.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        return "CommunicationEvent[" + type() + ", status " + status() + "]";
    }
}
