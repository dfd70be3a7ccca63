package io.rdmanio.stream;

import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.Poll;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread that waits for readiness.
 *
 * <p>A platform thread that can watch a completion channel itself blocks in poll(2) on it and on an eventfd that wakes it;
 * any other parks, and somebody else watches. Used by the waiting thread, but {@link #wake()} may be called by any
 * thread, holding any lock, before or after the thread went to sleep.
 */
final class Waiter {
    private static final int MAX_IDLE_EVENT_FDS = 64;
    private static final ConcurrentLinkedDeque<EventFd> IDLE_EVENT_FDS = new ConcurrentLinkedDeque<>();
    private static final AtomicInteger IDLE_COUNT = new AtomicInteger();
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(3600);

    final int interest;
    private final Thread thread = Thread.currentThread();
    private final EventFd eventFd;

    private Waiter(int interest, EventFd eventFd) {
        this.interest = interest;
        this.eventFd = eventFd;
    }

    /** A waiter that parks. */
    static Waiter parking(int interest) {
        return new Waiter(interest, null);
    }

    /** A waiter that blocks on a descriptor; {@link #release()} it. */
    static Waiter blocking(int interest) throws IOException {
        EventFd idle = IDLE_EVENT_FDS.poll();
        if (idle != null) {
            IDLE_COUNT.decrementAndGet();
        }
        return new Waiter(interest, idle != null ? idle : new EventFd());
    }

    /** Eventfds kept for waiters to come. */
    static int idleEventFds() {
        return IDLE_COUNT.get();
    }

    boolean parks() {
        return eventFd == null;
    }

    /**
     * Sleeps until woken, until the descriptor is readable, or for some time; may return early.
     *
     * @return whether the descriptor is readable; never so when this waiter parks
     */
    boolean sleep(int descriptor, long nanos) throws IOException {
        long bounded = Math.min(nanos, LONGEST_WAIT_NANOS);
        if (eventFd == null) {
            LockSupport.parkNanos(this, bounded);
            return false;
        }
        int millis = (int) ((bounded + 999_999) / 1_000_000);
        int readable = Poll.awaitReadable(descriptor, eventFd.fileDescriptor(), millis);
        if ((readable & 2) != 0) {
            eventFd.drain();
        }
        return (readable & 1) != 0;
    }

    void wake() {
        if (eventFd != null) {
            eventFd.signal();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Gives the eventfd back; no thread may wake this waiter any more. */
    void release() throws IOException {
        if (eventFd == null) {
            return;
        }
        eventFd.drain();
        if (IDLE_COUNT.incrementAndGet() <= MAX_IDLE_EVENT_FDS) {
            IDLE_EVENT_FDS.push(eventFd);
        } else {
            IDLE_COUNT.decrementAndGet();
            eventFd.close();
        }
    }
}
