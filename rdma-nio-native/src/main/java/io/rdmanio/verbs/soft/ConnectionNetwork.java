package io.rdmanio.verbs.soft;

/** What the connection manager needs of its host. Thread-safe; nothing blocks. */
interface ConnectionNetwork extends PortNames.Directory {
    /** Hears how a search for a process ended: one of the methods is called, once, on the progress thread. */
    interface Search {
        /**
         * The process is found.
         *
         * @param peer the process
         */
        void found(ConnectionPeer peer);

        /**
         * There is no way to it.
         *
         * @param errno why, as {@link PairListener#failed} tells
         */
        void failed(int errno);
    }

    /**
     * Begins to look for the process that has taken a name.
     *
     * @param name the name, without the user's prefix
     * @param deadlineNanos when to give up, in terms of {@link System#nanoTime}
     * @param search hears of the outcome
     */
    void find(String name, long deadlineNanos, Search search);

    /**
     * Has a task run on the progress thread.
     *
     * @param deadlineNanos when, in terms of {@link System#nanoTime}
     * @param task the task; must not block
     * @return how to prevent that, unless it has begun
     */
    Runnable schedule(long deadlineNanos, Runnable task);
}
