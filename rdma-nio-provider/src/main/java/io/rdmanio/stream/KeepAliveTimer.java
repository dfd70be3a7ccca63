package io.rdmanio.stream;

import java.net.SocketException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a connection alive: when nothing has come for a while, posts a probe, a WRITE of no bytes, which the peer's device
 * answers and its program does not see, as the C implementation of rsockets does. If the device can't be reached, the probe
 * fails and breaks the stream; if it neither answers nor fails, the stream is broken after a time.
 *
 * <p>Not thread-safe: guarded by the connection's lock.
 */
final class KeepAliveTimer {
    private final StreamConnection connection;
    private final StreamRuntime runtime;

    private KeepAliveSchedule schedule = new KeepAliveSchedule(KeepAlive.standard());
    private Future<?> next;

    KeepAliveTimer(StreamConnection connection, StreamRuntime runtime) {
        this.connection = connection;
        this.runtime = runtime;
    }

    /** Goes by other settings from now on. */
    void configure(KeepAlive changed) {
        if (!changed.equals(schedule.settings())) {
            schedule = new KeepAliveSchedule(changed);
            restart();
        }
    }

    /** Begins anew, if the connection is established: nothing has come from the peer as of now. */
    void restart() {
        stop();
        if (schedule.settings().enabled() && connection.established()) {
            connection.protocol().listenForLife();
            lookIn(TimeUnit.SECONDS.toNanos(schedule.settings().idleSeconds()));
        }
    }

    void stop() {
        if (next != null) {
            next.cancel(false);
            next = null;
        }
    }

    private void lookIn(long nanos) {
        stop(); // also if this is a look that had waited for the lock while another was begun anew
        next = runtime.after(nanos, this::look);
    }

    private void look() {
        connection.lock.lock();
        try {
            if (next != null && connection.established()) {
                connection.update();
                lookAt(connection.protocol());
            }
        } finally {
            connection.lock.unlock();
        }
    }

    private void lookAt(StreamProtocol protocol) {
        if (protocol.broken() || protocol.peerGone()) {
            return;
        }
        KeepAliveSchedule.Step step = schedule.next(protocol.silentNanos(), protocol.awaitsAnswer());
        switch (step.action()) {
            case WAIT -> lookIn(step.nextLookNanos());
            case PROBE -> {
                protocol.probe();
                connection.checkFailure();
                lookIn(step.nextLookNanos());
            }
            case GIVE_UP -> {
                SocketException reset = new SocketException("Connection reset");
                reset.initCause(new SocketException("The peer's device does not answer"));
                connection.breakOff(reset);
            }
        }
    }
}
