package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Epoll;
import io.rdmanio.linux.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * A name that a host listens at: connections are accepted on the progress thread and become handshakes.
 *
 * <p>Thread safety: {@link #close} may be called by any thread.
 */
final class NameListener {
    private static final Logger LOG = System.getLogger(NameListener.class.getName());
    private static final int BACKLOG = 1024;
    private static final int ACCEPTS_PER_EVENT = 64;
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftHost host;
    private final UnixSocket socket;
    private final ProgressThread.Watch watch;
    private long quietUntil = System.nanoTime();
    private volatile boolean closed;

    /**
     * Begins to listen.
     *
     * @param host the host
     * @param abstractName the name
     * @throws IOException when it is in use (EADDRINUSE), or no descriptor is left
     */
    NameListener(SoftHost host, String abstractName) throws IOException {
        this.host = host;
        socket = UnixSocket.listen(abstractName, BACKLOG);
        try {
            watch = host.progress().watch(socket.fileDescriptor(), Epoll.IN, _ -> accept());
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private void accept() {
        try {
            for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
                UnixSocket connection = socket.accept();
                if (connection == null) {
                    return;
                }
                begin(connection);
            }
        } catch (IOException e) {
            pause(e);
        } catch (IllegalStateException e) {
            if (!closed) {
                throw e;
            }
        }
    }

    private void begin(UnixSocket connection) {
        try {
            PairHandshake ignored = PairHandshake.begin(host, connection, null);
        } catch (IOException e) {
            long now = System.nanoTime();
            boolean tells = now - quietUntil > 0;
            quietUntil = tells ? now + QUIET_NANOS : quietUntil;
            // Whoever comes again and again must not fill the log.
            LOG.log(tells ? Level.WARNING : Level.DEBUG, "a process was turned away: {0}", e.getMessage());
        }
    }

    /** The connection that can't be accepted stays in the queue and would be reported at once again. */
    private void pause(IOException cause) {
        LOG.log(Level.WARNING, "connections must wait: {0}", cause.getMessage());
        interest(0);
        ProgressThread.Timer ignored =
                host.progress().schedule(System.nanoTime() + PAUSE_NANOS, () -> interest(Epoll.IN));
    }

    private void interest(int events) {
        try {
            watch.interest(events);
        } catch (IOException e) {
            LOG.log(Level.ERROR, "a listener can't be watched any more", e);
        }
    }

    /** Stops listening. Idempotent. */
    void close() {
        closed = true;
        watch.cancel();
        socket.close();
    }
}
