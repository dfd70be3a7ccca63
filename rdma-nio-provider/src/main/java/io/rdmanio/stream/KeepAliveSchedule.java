package io.rdmanio.stream;

import java.util.concurrent.TimeUnit;

/**
 * What to do about a peer from which nothing comes, and when to look again. Pure accounting. Not thread-safe: guarded by the
 * connection's lock.
 */
final class KeepAliveSchedule {
    /** What to do now. */
    enum Action {
        /** Nothing: the peer has given a sign of life, not long ago. */
        WAIT,
        /** Ask for one, unless that is under way. */
        PROBE,
        /** Take the peer for lost. */
        GIVE_UP
    }

    /**
     * The next step.
     *
     * @param nextLookNanos when to look again, from now on
     */
    record Step(Action action, long nextLookNanos) {}

    private final KeepAlive settings;
    private int unanswered;

    KeepAliveSchedule(KeepAlive settings) {
        this.settings = settings;
    }

    KeepAlive settings() {
        return settings;
    }

    /**
     * Decides what to do.
     *
     * @param silentNanos how long nothing has come
     * @param awaitsAnswer whether a probe is under way
     */
    Step next(long silentNanos, boolean awaitsAnswer) {
        long idleNanos = TimeUnit.SECONDS.toNanos(settings.idleSeconds());
        if (silentNanos < idleNanos) {
            unanswered = 0;
            return new Step(Action.WAIT, idleNanos - silentNanos);
        }
        if (awaitsAnswer && ++unanswered >= settings.count()) {
            return new Step(Action.GIVE_UP, Long.MAX_VALUE);
        }
        return new Step(Action.PROBE, TimeUnit.SECONDS.toNanos(settings.intervalSeconds()));
    }
}
