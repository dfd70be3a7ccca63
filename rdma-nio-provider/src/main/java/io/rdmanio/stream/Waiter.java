package io.rdmanio.stream;

import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread that waits for readiness.
 *
 * <p>A platform thread that can watch a completion channel itself blocks in poll(2) on it and on an eventfd that wakes it; one
 * that waits for a source told by groups of completion queues looks at a group of its own for a while, and then blocks on
 * its descriptor; any other parks, and somebody else watches. Used by the waiting thread, but {@link #wake()} may be called by any
 * thread, holding any lock, before or after the thread went to sleep.
 */
final class Waiter implements Sleeper {
    private static final int MAX_IDLE_EVENT_FDS = 64;
    private static final ConcurrentLinkedDeque<EventFd> IDLE_EVENT_FDS = new ConcurrentLinkedDeque<>();
    private static final AtomicInteger IDLE_COUNT = new AtomicInteger();
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(3600);

    final int interest;
    private final Thread thread = Thread.currentThread();
    private final EventFd eventFd;
    private final WaitGroups groups;
    private final WaitGroups.WaitGroup group;

    private final SleepFlags flags = new SleepFlags();

    private Waiter(int interest, EventFd eventFd, WaitGroups groups, WaitGroups.WaitGroup group) {
        this.interest = interest;
        this.eventFd = eventFd;
        this.groups = groups;
        this.group = group;
    }

    /** A waiter that parks. */
    static Waiter parking(int interest) {
        return new Waiter(interest, null, null, null);
    }

    /** A waiter with a group of completion queues; one that parks when there is none left. {@link #release()} it. */
    static Waiter inGroup(int interest, WaitGroups groups) throws IOException {
        return new Waiter(interest, null, groups, groups.take());
    }

    /** A waiter that blocks on a descriptor; {@link #release()} it. */
    static Waiter blocking(int interest) throws IOException {
        EventFd idle = IDLE_EVENT_FDS.poll();
        if (idle != null) {
            IDLE_COUNT.decrementAndGet();
        }
        return new Waiter(interest, idle != null ? idle : new EventFd(), null, null);
    }

    /** Eventfds kept for waiters to come. */
    static int idleEventFds() {
        return IDLE_COUNT.get();
    }

    boolean parks() {
        return eventFd == null && group == null;
    }

    @Override
    public CompletionQueueGroup group() {
        return group == null ? null : group.group;
    }

    @Override
    public Object token() {
        // not the waiter, which a connection that nobody waits for any more would keep, and its thread with it
        return group;
    }

    /**
     * Sleeps until woken, until the descriptor is readable, or for some time; may return early.
     *
     * @return whether the descriptor is readable; never so when this waiter parks
     */
    boolean sleep(int descriptor, long nanos) throws IOException {
        long bounded = Math.min(nanos, LONGEST_WAIT_NANOS);
        if (group != null) {
            sleepInGroup(bounded);
            return false;
        }
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

    private void sleepInGroup(long nanos) throws IOException {
        long begin = System.nanoTime();
        if (!lookBusily(begin, nanos)) {
            long left = nanos - (System.nanoTime() - begin);
            try {
                if (flags.beginSleep() && group.group.prepareToSleep()) {
                    try {
                        block(Math.max(left, 0));
                    } finally {
                        group.group.awake();
                    }
                }
            } finally {
                flags.endSleep();
            }
        }
        group.group.take(group.told);
        flags.reset();
    }

    private void block(long nanos) throws IOException {
        int millis = (int) ((nanos + 999_999) / 1_000_000);
        if (Poll.awaitReadable(group.group.fileDescriptor(), -1, millis) != 0) {
            group.group.drain();
        }
    }

    /** Whether something came before it was time to sleep. */
    private boolean lookBusily(long nowNanos, long mostNanos) {
        if (!group.busyPoll.begin(nowNanos, mostNanos)) {
            return false;
        }
        boolean found;
        do {
            found = flags.isWoken() || group.group.take(group.told) != 0;
        } while (!found && group.busyPoll.goesOn());
        group.busyPoll.end(found);
        return found;
    }

    void wake() {
        if (group != null) {
            if (flags.wake()) {
                group.group.signal();
            }
        } else if (eventFd != null) {
            eventFd.signal();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Gives the eventfd or the group back; no thread may wake this waiter any more. */
    void release() throws IOException {
        if (group != null) {
            Arrays.fill(group.told, null);
            groups.giveBack(group);
        }
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
