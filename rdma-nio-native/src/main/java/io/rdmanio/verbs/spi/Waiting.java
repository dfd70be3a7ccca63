package io.rdmanio.verbs.spi;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Waiting with a deadline, in slices, since whoever closes an object waits for the calls on it. Stateless. */
public final class Waiting {
    private static final long SLICE_MILLIS = 20;

    private Waiting() {}

    /** Looks for an event. */
    @FunctionalInterface
    public interface Look<T> {
        /**
         * Looks, without blocking.
         *
         * @return what was found; null when there is nothing yet
         * @throws VerbsException when it fails
         */
        T look() throws VerbsException;
    }

    /**
     * The end of a timeout that begins now.
     *
     * @param timeoutMillis how long
     * @return the time of System.nanoTime then
     * @throws IllegalArgumentException when it is negative
     */
    public static long deadlineNanos(int timeoutMillis) {
        if (timeoutMillis < 0) {
            throw new IllegalArgumentException("timeoutMillis " + timeoutMillis + " is negative");
        }
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    /**
     * Waits for a descriptor, at most for a slice.
     *
     * @param fileDescriptor the descriptor
     * @param deadlineNanos when to give up
     * @return false when there was no time left
     * @throws IOException when waiting fails
     */
    public static boolean slice(int fileDescriptor, long deadlineNanos) throws IOException {
        long leftNanos = deadlineNanos - System.nanoTime();
        if (leftNanos <= 0) {
            return false;
        }
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1;
        Poll.awaitReadable(fileDescriptor, -1, (int) Math.min(leftMillis, SLICE_MILLIS));
        return true;
    }

    /**
     * Waits until a look finds something.
     *
     * @param <T> what is looked for
     * @param life of the object whose descriptor it is; its close ends the wait with an exception
     * @param fileDescriptor readable when looking is worth it
     * @param timeoutMillis how long; 0 looks once
     * @param look what is tried
     * @return what was found; null when the time is over
     * @throws IOException when looking or waiting fails
     */
    public static <T> T await(Lifecycle life, int fileDescriptor, int timeoutMillis, Look<T> look) throws IOException {
        long deadlineNanos = deadlineNanos(timeoutMillis);
        while (true) {
            T found = look.look();
            if (found != null) {
                return found;
            }
            life.enter();
            try {
                if (!slice(fileDescriptor, deadlineNanos)) {
                    return null;
                }
            } finally {
                life.exit();
            }
        }
    }
}
