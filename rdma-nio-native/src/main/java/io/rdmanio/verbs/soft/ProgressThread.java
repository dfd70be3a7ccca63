package io.rdmanio.verbs.soft;

/**
 * The one thread of a host, {@code rdmanio-soft-progress}: it sleeps in epoll_wait(2) until a descriptor that is watched
 * has an event, a task is handed to it or a timer is due, and never wakes for anything else. Nothing that it calls may
 * block.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
@SuppressWarnings("DoNotCallSuggester")
final class ProgressThread {
    /** What is done with the events of a descriptor; called on the progress thread. */
    interface Handler {
        /**
         * Handles events.
         *
         * @param events bits of {@link io.rdmanio.linux.Epoll}
         */
        void ready(int events);
    }

    /** A descriptor that is watched. */
    interface Watch {
        /**
         * Watches for other events.
         *
         * @param events bits of {@link io.rdmanio.linux.Epoll}
         */
        void interest(int events);

        /**
         * Ends the watch, before the descriptor is closed. On the progress thread, the handler is not called any more
         * when this returns. Idempotent.
         */
        void cancel();
    }

    /** Something to be done later. */
    interface Timer {
        /**
         * Makes it never happen, unless it has begun. Idempotent; costs no wake-up.
         */
        void cancel();
    }

    /**
     * Whether the caller is this thread.
     *
     * @return true on the progress thread
     */
    boolean isCurrent() {
        throw new UnsupportedOperationException();
    }

    /**
     * Runs a task on the progress thread, after those handed over before.
     *
     * @param task the task; must not block
     * @throws java.util.concurrent.RejectedExecutionException when the host is closed
     */
    void execute(Runnable task) {
        throw new UnsupportedOperationException(task.toString());
    }

    /**
     * Runs a task on the progress thread at a time.
     *
     * @param deadlineNanos when, in terms of {@link System#nanoTime}
     * @param task the task; must not block
     * @return the handle to cancel it with
     * @throws java.util.concurrent.RejectedExecutionException when the host is closed
     */
    Timer schedule(long deadlineNanos, Runnable task) {
        throw new UnsupportedOperationException(deadlineNanos + ": " + task);
    }

    /**
     * Watches a descriptor, level-triggered.
     *
     * @param fileDescriptor the descriptor, which stays the caller's
     * @param events bits of {@link io.rdmanio.linux.Epoll}
     * @param handler what to do; must not block
     * @return the watch, to be cancelled before the descriptor is closed
     * @throws java.io.IOException when epoll refuses
     */
    Watch watch(int fileDescriptor, int events, Handler handler) throws java.io.IOException {
        throw new java.io.IOException(fileDescriptor + ", " + events + ", " + handler);
    }
}
