package io.rdmanio.stream;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.CountDownLatch;

/**
 * How a connection comes to its end: the tail is delivered, or given up; then, when no channel and no worker uses it any
 * more, everything is destroyed.
 *
 * <p>Not thread-safe: guarded by the connection's lock, except {@link #awaitDrained}, which any thread may call without it.
 */
final class ConnectionEnd {
    private static final System.Logger LOG = System.getLogger(ConnectionEnd.class.getName());

    private final StreamConnection connection;
    private final ConnectionSetup setup;
    private final StreamRuntime runtime;
    private final CountDownLatch drained = new CountDownLatch(1);

    /** Tasks of workers that use the id or the resources. */
    private int working;

    private boolean disconnecting;
    private boolean aborted;
    private boolean bare;
    private boolean released;
    private boolean destroying;

    ConnectionEnd(StreamConnection connection, ConnectionSetup setup, StreamRuntime runtime) {
        this.connection = connection;
        this.setup = setup;
        this.runtime = runtime;
    }

    /** A worker is going to use the id or the resources. */
    void workBegins() {
        working++;
    }

    /** A worker has done so; {@link #proceed} follows. */
    void workEnds() {
        working--;
    }

    /** Whether the resources are being destroyed, or have been: nothing may touch them. */
    boolean destroying() {
        return destroying;
    }

    /** Whether the communication manager has been told, or has told us. */
    boolean disconnecting() {
        return disconnecting;
    }

    /** The tail is not waited for. */
    void abort() {
        aborted = true;
    }

    boolean aborted() {
        return aborted;
    }

    /** The connection never began to connect: it is an id at most, for which no event can be under way. */
    void bare() {
        bare = true;
    }

    /** The channel uses neither the connection nor its descriptor any more. */
    void release() {
        released = true;
    }

    /**
     * Waits until everything written has been delivered, or never can be.
     *
     * @return whether it was in time
     */
    boolean awaitDrained(long nanos) {
        return StreamRuntime.awaitUninterruptibly(drained, nanos);
    }

    /** Answers the peer's request to end the connection, or tells it that we must; flushes what is still posted. */
    void disconnect() {
        if (disconnecting || destroying) {
            return;
        }
        disconnecting = true;
        workBegins();
        CommunicationId ended = setup.id();
        runtime.execute(() -> {
            try {
                ended.disconnect();
            } catch (VerbsException e) {
                LOG.log(Level.DEBUG, "The connection had ended by itself", e);
            }
            connection.workEnds(null);
        });
    }

    /**
     * Goes as far as is possible now towards the end of a connection that is closing or has failed.
     *
     * @param tail whether something is still to be delivered
     */
    void proceed(boolean tail) {
        if (destroying || (tail && !aborted)) {
            return;
        }
        drained.countDown();
        if (released && working == 0) {
            destroying = true;
            connection.unwatch();
            if (bare) {
                destroy(); // at once, so that the port it was bound to is free when close returns; it can't block
            } else {
                runtime.executeDestroy(this::destroy);
            }
        }
    }

    private void destroy() {
        try (ResourceStack last = new ResourceStack()) {
            connection.lock.lock(); // whoever decided this may still be on its way out
            try {
                last.add(setup.id());
                last.add(setup.resources());
                last.add(connection.protocol());
            } finally {
                connection.lock.unlock();
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "Resources of " + connection + " could not be destroyed", e);
        }
        connection.destroyed();
    }
}
