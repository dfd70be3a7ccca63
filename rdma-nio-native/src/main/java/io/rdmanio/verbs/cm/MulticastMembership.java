package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import java.net.InetAddress;

/**
 * A multicast group that a communication id has joined or is joining: from {@link CommunicationId#joinMulticast} until
 * it is closed. The id's queue pair is attached to the group while its MULTICAST_JOIN is taken, if there is a queue pair
 * then and the membership is not for sending only; its close and the id's leave the group first.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code joined} is changed inside {@code life}.
 */
public final class MulticastMembership implements AutoCloseable {
    private final CommunicationId id;
    private final InetAddress group;
    private final long token;
    private final Lifecycle life;
    private volatile boolean joined;

    /** The caller is inside the life of the id. */
    MulticastMembership(CommunicationId id, InetAddress group, long token) {
        this.id = id;
        this.group = group;
        this.token = token;
        this.life = new Lifecycle(HandleKind.MULTICAST_MEMBERSHIP, this::leave, id.life());
    }

    long token() {
        return token;
    }

    Lifecycle life() {
        return life;
    }

    /** From inside {@link #life}: now there is something to leave. */
    void joined() {
        joined = true;
    }

    /** Makes the close of the queue pair leave the group first. */
    void addParent(Lifecycle queuePair) {
        if (queuePair.tryEnter()) {
            try {
                if (life.tryEnter()) {
                    life.addParent(queuePair);
                    life.exit();
                }
            } finally {
                queuePair.exit();
            }
        }
    }

    private void leave() throws VerbsException {
        id.memberships().forget(this);
        if (joined) {
            // The library forgets the group even when it says that it failed: there is no second time.
            joined = false;
            id.stay().beginCall();
            try {
                id.handle().leaveMulticast(group);
            } finally {
                id.stay().endCall();
            }
        }
    }

    /**
     * The id.
     *
     * @return the id that joined
     */
    public CommunicationId id() {
        return id;
    }

    /**
     * The group.
     *
     * @return its address, as given when it was joined
     */
    public InetAddress group() {
        return group;
    }

    /**
     * Leaves the group, or cancels the joining (rdma_leave_multicast(3)): the queue pair is detached, and the events of
     * this membership that were taken and not closed are acknowledged. Datagrams that came before may still complete.
     * Idempotent. Makes system calls; on InfiniBand it waits until a request to the subnet administrator that is under
     * way is cancelled.
     *
     * @throws VerbsException when it fails; the group is left all the same
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }

    /**
     * The group.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        return "MulticastMembership[" + group + "]";
    }
}
