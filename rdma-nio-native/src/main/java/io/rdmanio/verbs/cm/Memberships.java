package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.Lifecycle;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The multicast groups of one communication id, by the token that their events carry.
 *
 * <p>Thread safety: all methods may be called by any thread; {@code this} guards the table, and nothing is called under
 * it.
 */
final class Memberships {
    /** Begins to join, with the token that the events shall carry. */
    interface Join {
        void begin(long token) throws VerbsException;
    }

    private final CommunicationId id;
    private final Map<Long, MulticastMembership> byToken = new HashMap<>();
    private long lastToken;

    Memberships(CommunicationId id) {
        this.id = id;
    }

    /**
     * From inside the life of the id. A queue pair that is created meanwhile looks for memberships, and a membership that
     * begins meanwhile looks for a queue pair, so they don't miss each other.
     */
    MulticastMembership join(InetAddress group, Join join) throws VerbsException {
        MulticastMembership membership = register(group);
        Lifecycle life = membership.life();
        life.enter();
        try {
            Lifecycle queuePair = id.resources().queuePairLife();
            if (queuePair != null) {
                membership.addParent(queuePair);
            }
            join.begin(membership.token());
            membership.joined();
        } catch (Throwable failure) {
            life.exit();
            membership.close();
            throw failure;
        }
        life.exit();
        return membership;
    }

    /** The library finds groups by their address, so one address may be joined once. */
    private synchronized MulticastMembership register(InetAddress group) {
        for (MulticastMembership other : byToken.values()) {
            if (other.group().equals(group)) {
                throw new IllegalStateException("this CommunicationId has joined " + group + " already");
            }
        }
        MulticastMembership membership = new MulticastMembership(id, group, ++lastToken);
        byToken.put(membership.token(), membership);
        return membership;
    }

    /** The membership that an event is for; null when it is left. */
    synchronized MulticastMembership find(long token) {
        return byToken.get(token);
    }

    synchronized List<MulticastMembership> all() {
        return List.copyOf(byToken.values());
    }

    /** Forgets a membership, so that no event finds it any more, and pays what was taken for it. */
    void forget(MulticastMembership membership) {
        synchronized (this) {
            byToken.remove(membership.token());
        }
        EventChannel.pay(id, event -> event.membership() == membership);
    }
}
