package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/**
 * The way of a request to connect to whoever listens: the names are tried under which a listener may be found, and a
 * listener whose backlog is full is asked again. How long all this may take is the business of the connection.
 *
 * <p>Not thread-safe: the lock of the {@link ConnectionManager} is held in all methods.
 */
final class ConnectionAttempt {
    // IB_CM_REJ_INVALID_SERVICE_ID: nobody listens.
    static final int REASON_NO_LISTENER = 8;
    // IB_CM_REJ_NO_RESOURCES: the listener's backlog is full.
    static final int REASON_BACKLOG = 3;

    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final byte[] NOTHING = {};

    private final ConnectionManager manager;
    private final SoftConnection connection;
    private final ControlMessage.ConnectRequest request;
    private final Iterator<String> names;
    private long pauseNanos = FIRST_PAUSE_NANOS;
    private Runnable pause;
    private boolean stopped;

    ConnectionAttempt(ConnectionManager manager, SoftConnection connection, ControlMessage.ConnectRequest request) {
        this.manager = manager;
        this.connection = connection;
        this.request = request;
        this.names = PortNames.candidates(
                        request.destination().getAddress(),
                        request.destination().getPort())
                .iterator();
    }

    /**
     * Begins.
     *
     * @param chosen whom to ask and nobody else; null to look for whoever listens
     */
    void begin(ConnectionPeer chosen) {
        if (chosen == null) {
            ConnectionPeer known = manager.knownListener(request.destination());
            if (known == null) {
                tryNextName();
            } else {
                ask(known);
            }
        } else if (chosen.isDead()) {
            connection.rejected(REASON_NO_LISTENER, NOTHING);
        } else {
            ask(chosen);
        }
    }

    private void tryNextName() {
        manager.find(names.next(), this);
    }

    /** Ends it without a word. */
    void stop() {
        stopped = true;
        if (pause != null) {
            pause.run();
        }
    }

    void found(ConnectionPeer peer) {
        if (!stopped) {
            connection.foundByName();
            ask(peer);
        }
    }

    private void ask(ConnectionPeer peer) {
        manager.meet(connection, peer);
        connection.asks(peer.listenerEpoch());
        peer.send(request);
    }

    void notFound(int errno) {
        if (stopped) {
            return;
        }
        if (!meansNobody(errno)) {
            connection.unreachable(errno);
        } else if (names.hasNext()) {
            tryNextName();
        } else {
            connection.rejected(REASON_NO_LISTENER, NOTHING);
        }
    }

    /** Whether nobody has the name, or another user, or somebody who has just ended. */
    static boolean meansNobody(int errno) {
        return errno == Errno.ECONNREFUSED || errno == Errno.EACCES || errno == Errno.ECONNRESET;
    }

    /**
     * Whether a refusal is no last word: as Linux's connection manager repeats a request that a full backlog has dropped.
     *
     * @param reject the refusal
     * @return whether the request will be repeated
     */
    boolean triesAgain(ControlMessage.ConnectReject reject) {
        if (reject.reason() != REASON_BACKLOG) {
            return false;
        }
        // One at a time, however often it says so.
        if (pause == null) {
            pause = manager.schedule(pauseNanos, () -> {
                pause = null;
                connection.peer().send(request);
            });
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
        return true;
    }
}
