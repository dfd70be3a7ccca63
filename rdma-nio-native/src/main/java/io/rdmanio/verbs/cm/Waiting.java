package io.rdmanio.verbs.cm;

import io.rdmanio.linux.Poll;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Waiting with a deadline, in slices, since whoever closes an object waits for the calls on it. */
final class Waiting {
    private static final long SLICE_MILLIS = 20;

    private Waiting() {}

    static long deadlineNanos(int timeoutMillis) {
        if (timeoutMillis < 0) {
            throw new IllegalArgumentException("timeoutMillis " + timeoutMillis + " is negative");
        }
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    /** Waits for a descriptor, at most for a slice. Returns false when there was no time left. */
    static boolean slice(int fileDescriptor, long deadlineNanos) throws IOException {
        long leftNanos = deadlineNanos - System.nanoTime();
        if (leftNanos <= 0) {
            return false;
        }
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1;
        Poll.awaitReadable(fileDescriptor, -1, (int) Math.min(leftMillis, SLICE_MILLIS));
        return true;
    }
}
