package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Somebody's search for a pair with the process that listens at a name, until it is found or the time is over. It connects
 * to the name and leaves the rest to a {@link PairHandshake}; when that finds that another connection between the two
 * processes is ahead, the search waits for that one, or tries again; a search that comes while another one is at the same
 * name waits for its handshake, so that a thousand that begin at once are one. A process that does not answer in time is
 * asked again, as long as the search has time. Belongs to the progress thread.
 */
final class PairAttempt {
    private static final Logger LOG = System.getLogger(PairAttempt.class.getName());
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final SoftHost host;
    private final String abstractName;
    private final long deadlineNanos;
    private final PairListener listener;
    private long pauseNanos = FIRST_PAUSE_NANOS;
    private ProgressThread.Timer timer;
    private PairHandshake handshake;
    private boolean over;

    PairAttempt(SoftHost host, String abstractName, long deadlineNanos, PairListener listener) {
        this.host = host;
        this.abstractName = abstractName;
        this.deadlineNanos = deadlineNanos;
        this.listener = listener;
    }

    /** Begins, with a deadline; the outcome may be there when this returns. */
    void start() {
        if (!host.progress().isRunning()) {
            over = true;
            listener.failed(Errno.ECANCELED);
            return;
        }
        host.pairs().add(this);
        timer = host.progress().schedule(deadlineNanos, () -> failed(Errno.ETIMEDOUT));
        connect();
    }

    private void connect() {
        if (over) {
            return;
        }
        PairHandshake underway = host.pairs().underway(abstractName);
        if (underway != null) {
            waitFor(underway);
            return;
        }
        UnixSocket socket;
        try {
            socket = UnixSocket.connect(abstractName);
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EAGAIN) {
                // Its backlog is full.
                again();
            } else {
                failed(e.errno());
            }
            return;
        }
        try {
            PairHandshake begun = PairHandshake.begin(host, socket, this);
            if (!over) {
                handshake = begun;
                begun.isUnderwayAt(abstractName);
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "no handshake with " + abstractName, e);
            failed(e instanceof SystemCallException failure ? failure.errno() : Errno.EIO);
        }
    }

    /** Tries again after a pause, which grows. */
    void again() {
        handshake = null;
        if (!over) {
            ProgressThread.Timer ignored = host.progress().schedule(System.nanoTime() + pauseNanos, this::connect);
            pauseNanos = Math.min(2 * pauseNanos, LAST_PAUSE_NANOS);
        }
    }

    /** Waits for another handshake, which is ahead of its own. */
    void waitFor(PairHandshake other) {
        handshake = other;
        other.addWaiting(this);
    }

    /** Whether it depends on this handshake, and not on another by now. */
    boolean isAbout(PairHandshake other) {
        return handshake == null || handshake == other;
    }

    /** It is found. */
    void paired(ProcessPair pair) {
        if (end()) {
            listener.paired(pair);
        }
    }

    /** It failed. */
    void failed(int errno) {
        if (end()) {
            listener.failed(errno);
        }
    }

    private boolean end() {
        if (over) {
            return false;
        }
        over = true;
        timer.cancel();
        host.pairs().remove(this);
        if (handshake != null) {
            handshake.leftBy(this);
        }
        return true;
    }
}
