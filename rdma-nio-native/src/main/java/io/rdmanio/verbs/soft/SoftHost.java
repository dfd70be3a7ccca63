package io.rdmanio.verbs.soft;

import java.io.IOException;

/**
 * This process's side of the software device: what its contexts, event channels and endpoints share. There is one at a
 * time, from the first use to the last; tests make more, each of them a process of its own as far as the others can
 * tell.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
@SuppressWarnings("DoNotCallSuggester")
final class SoftHost {
    /** A name that this host listens at. */
    interface Listening {
        /** Stops listening and frees the name. Connections that came to be stay. Idempotent, does not block. */
        void close();
    }

    private SoftHost() {}

    /**
     * Takes the host of this process into use, and starts it if it is not running.
     *
     * @return the host, until the caller calls {@link #release}
     * @throws IOException when its descriptors can't be opened
     */
    static SoftHost acquire() throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Counts one more use of a host that is in use. */
    void retain() {
        throw new UnsupportedOperationException();
    }

    /** Ends one use. With the last one everything ends: pairs, listeners, the thread, all descriptors. */
    void release() {
        throw new UnsupportedOperationException();
    }

    /**
     * What this host is known by to others: the second half of its GID.
     *
     * @return a random number, the same for the whole life of the process
     */
    long token() {
        throw new UnsupportedOperationException();
    }

    /**
     * The thread.
     *
     * @return the thread, alive as long as the host is in use
     */
    ProgressThread progress() {
        throw new UnsupportedOperationException();
    }

    /**
     * The keys of this host.
     *
     * @return the table
     */
    KeyTable keys() {
        throw new UnsupportedOperationException();
    }

    /**
     * The connection manager of this host.
     *
     * @return the manager
     */
    ConnectionManager connections() {
        throw new UnsupportedOperationException();
    }

    /**
     * The queue pairs of this host.
     *
     * @return the table
     */
    QueuePairTable queuePairs() {
        throw new UnsupportedOperationException();
    }

    /**
     * Finds or makes a pair with the process that listens at a name. Does not block.
     *
     * @param abstractName the name, such as {@link Rendezvous#processName} gives it
     * @param deadlineNanos when to give up, in terms of {@link System#nanoTime}
     * @param listener hears of the outcome
     */
    void connectPair(String abstractName, long deadlineNanos, PairListener listener) {
        throw new UnsupportedOperationException(abstractName + deadlineNanos + listener);
    }

    /**
     * Listens at a name: whoever connects becomes a pair. Does not block.
     *
     * @param abstractName the name
     * @return the handle to stop with
     * @throws IOException when somebody listens there already (EADDRINUSE) or no descriptor is left
     */
    Listening listen(String abstractName) throws IOException {
        throw new UnsupportedOperationException(abstractName);
    }
}
