package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.Gid;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * A search for the process that a connection is to be made with, ahead of the request: under the names under which a listener
 * may be found. It does not depend on the id, which may be destroyed meanwhile.
 *
 * <p>Thread safety: begun by any thread, which also ends it if the process is known; else it goes on on the
 * progress thread.
 */
final class PeerSearch implements ConnectionNetwork.Search {
    private final ConnectionManager manager;
    private final SoftConnection connection;
    private final long deadlineNanos;
    private final Consumer<Gid> whenKnown;
    private final Iterator<String> names;

    /**
     * Prepares it.
     *
     * @param connection the connection, its route resolved
     * @param deadlineNanos when to give up, in terms of {@link System#nanoTime}
     * @param whenKnown told once: the GID of the process, or null
     */
    PeerSearch(ConnectionManager manager, SoftConnection connection, long deadlineNanos, Consumer<Gid> whenKnown) {
        this.manager = manager;
        this.connection = connection;
        this.deadlineNanos = deadlineNanos;
        this.whenKnown = whenKnown;
        this.names = manager.get(() -> PortNames.candidates(
                        connection.destination().getAddress(),
                        connection.destination().getPort())
                .iterator());
    }

    void begin() {
        ConnectionPeer known = manager.get(() -> manager.knownListener(connection.destination()));
        if (known == null) {
            tryNextName();
        } else {
            choose(known);
        }
    }

    private void tryNextName() {
        manager.find(names.next(), deadlineNanos, this);
    }

    @Override
    public void found(ConnectionPeer peer) {
        manager.run(connection::foundByName);
        choose(peer);
    }

    private void choose(ConnectionPeer peer) {
        manager.run(() -> connection.choose(peer));
        whenKnown.accept(SoftContext.gid(peer.peerToken()));
    }

    /** The request will meet what stands in the way once more, and tell of it. */
    @Override
    public void failed(int errno) {
        if (ConnectionAttempt.meansNobody(errno) && names.hasNext()) {
            tryNextName();
        } else {
            whenKnown.accept(null);
        }
    }
}
