package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One thread that waits for readiness: it parks, and somebody else watches ({@link ParkingWaiter}); or it blocks on the
 * source's descriptor ({@link DescriptorWaiter}); or it looks at a group of completion queues for a while and then blocks on the
 * group's ({@link GroupWaiter}).
 *
 * <p>Used by the waiting thread, but {@link #wake()} may be called by any thread, holding any lock, before or after the thread went to
 * sleep.
 */
abstract sealed class Waiter implements Sleeper permits ParkingWaiter, DescriptorWaiter, GroupWaiter {
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(3600);

    /** The operations it waits for; set before anybody else knows of it. */
    int interest;

    /** Whether somebody else must watch the source. */
    boolean parks() {
        return false;
    }

    @Override
    public CompletionQueueGroup group() {
        return null;
    }

    @Override
    public Object token() {
        return this;
    }

    /**
     * Sleeps until woken, until the descriptor is readable, or for some time; may return early.
     *
     * @return whether the descriptor is readable
     */
    abstract boolean sleep(int descriptor, long nanos) throws IOException;

    abstract void wake();

    /** Gives back what the waiter has, and itself; no thread may wake it any more. */
    abstract void release() throws IOException;

    /** How long to sleep at once. */
    static long bounded(long nanos) {
        return Math.min(nanos, LONGEST_WAIT_NANOS);
    }

    /** The same for poll(2), which sleeps no less than what is left. */
    static int millis(long nanos) {
        return (int) ((bounded(nanos) + 999_999) / 1_000_000);
    }
}
