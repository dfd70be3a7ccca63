package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Something that becomes ready for operations, and the threads and selection keys that wait for it.
 *
 * <p>Operations are those of {@link java.nio.channels.SelectionKey}. Readiness may be discovered by anybody who touches
 * the source: a thread that reads, a selector, the event loop. Whoever does publishes it to all, under the lock, so that
 * none sleeps through what another has found. Invariant: while anybody sleeps, the source is armed, or a notification of
 * it is on its way. Thread-safe.
 */
public abstract class ReadinessSource {
    /** Guards the source and everybody's sleep; never held while blocking. */
    final ReentrantLock lock = new ReentrantLock();

    // begin: guarded by lock; gone through by index, for an iterator would be garbage with every message
    private final List<Waiter> waiters = new ArrayList<>(2);
    private final List<Watch> watches = new ArrayList<>(1);
    private int sleepingWatches;
    private boolean waitsEnded;
    // end

    /** Several sleepers, all of which only the event loop can wake. */
    private static final Sleeper SEVERAL = new Sleeper() {
        @Override
        public CompletionQueueGroup group() {
            return null;
        }

        @Override
        public Object token() {
            return this;
        }
    };

    ReadinessSource() {}

    /** The operations that are ready, as far as known. Lock held. */
    abstract int readiness();

    /** Takes in what has happened; arms the source if somebody sleeps. Lock held. */
    abstract void update();

    /** Takes note that the descriptor was readable: its notification is consumed. Lock held. */
    abstract void notified();

    /** Sees to it that the event loop wakes those who can't watch the descriptor themselves. Lock held. */
    abstract void watchByEventLoop() throws IOException;

    /**
     * Whether completions are told by a group of completion queues, which whoever sleeps must watch; there is no
     * descriptor then.
     */
    public boolean needsGroup() {
        return false;
    }

    /**
     * Opens a group for a selector, of a source that needs one.
     *
     * @return the group, to be closed by the caller
     * @throws IOException when no descriptor is left
     */
    public CompletionQueueGroup openGroup() throws IOException {
        throw new IllegalStateException("not told by groups");
    }

    /** Somebody else sleeps than before, and somebody does. Lock held. */
    void sleepersChanged() {}

    /** Somebody looks at the source, or has stopped waiting for it and may never look again. Lock held. */
    void attend() {}

    /** Somebody looks at the source. Lock held. */
    void lookedAt() {}

    /** A watch sleeps whose selector's thread does something else. Lock held. */
    void leftAlone() {}

    /** A watch looks at this no longer. Lock held. */
    void watchRemoved(Watch watch) {}

    /**
     * What a selector says of its thread if the source must not be left alone for long.
     *
     * @param whenAway what to do when the thread stays away: {@link #leaveAlone} for every key. Run by a thread that must not
     *     be held up
     * @return null if the source may be left alone
     */
    public Presence presence(Runnable whenAway) {
        return null;
    }

    /** Groups for threads that wait, of a source that needs one. */
    WaitGroups waitGroups() {
        throw new IllegalStateException("not told by groups");
    }

    /**
     * The descriptor that becomes readable when there is something to take in, for epoll, level-triggered.
     *
     * @return -1 if there is none (yet); it stays the same from then on until the source is released
     */
    public abstract int descriptor();

    final boolean anyoneSleeps() {
        return sleepingWatches > 0 || !waiters.isEmpty();
    }

    /** Whether a thread waits that can't watch the descriptor itself. Lock held. */
    final boolean anyoneParks() {
        for (int i = 0; i < waiters.size(); i++) {
            if (waiters.get(i).parks()) {
                return true;
            }
        }
        return false;
    }

    /** Wakes everybody who waits for what is ready. Lock held. */
    final void publish() {
        assert lock.isHeldByCurrentThread();
        if (!anyoneSleeps()) {
            return;
        }
        int ready = readiness();
        for (int i = 0; i < waiters.size(); i++) {
            Waiter waiter = waiters.get(i);
            if ((waiter.interest & ready) != 0) {
                waiter.wake();
            }
        }
        if (sleepingWatches > 0) {
            for (int i = 0; i < watches.size(); i++) {
                Watch watch = watches.get(i);
                if ((watch.sleepingFor & ready) != 0) {
                    awaken(watch);
                    watch.ready();
                }
            }
            reviewSleepers();
        }
    }

    private void reviewSleepers() {
        if (anyoneSleeps()) {
            sleepersChanged();
        } else {
            attend();
        }
    }

    /** The one who sleeps; null when nobody does, {@link #SEVERAL} when several do who are told in several ways. Lock held. */
    final Sleeper onlySleeper() {
        Sleeper only = null;
        for (int i = 0; i < waiters.size(); i++) {
            Waiter waiter = waiters.get(i);
            if (only != null && only.group() != waiter.group()) {
                return SEVERAL;
            }
            only = waiter;
        }
        if (sleepingWatches > 0) {
            for (int i = 0; i < watches.size(); i++) {
                Watch watch = watches.get(i);
                if (watch.sleepingFor == 0) {
                    continue;
                }
                if (only != null) {
                    return SEVERAL;
                }
                only = watch;
            }
        }
        return only;
    }

    private void awaken(Watch watch) {
        if (watch.sleepingFor != 0) {
            watch.sleepingFor = 0;
            sleepingWatches--;
        }
    }

    // -- selection keys --

    /** Adds a watch, awake. */
    public final void add(Watch watch) {
        lock.lock();
        try {
            watches.add(watch);
        } finally {
            lock.unlock();
        }
    }

    /** Removes a watch; it is called no more when this returns. */
    public final void remove(Watch watch) {
        lock.lock();
        try {
            awaken(watch);
            watches.remove(watch);
            watchRemoved(watch);
            reviewSleepers();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The operations that are ready among those of interest. If none is, the watch is put to sleep for them.
     *
     * @param notified whether {@link #descriptor()} was seen readable
     */
    public final int readyOrSleep(Watch watch, int interest, boolean notified) {
        lock.lock();
        try {
            if (notified) {
                notified();
            }
            lookedAt();
            awaken(watch);
            int ready = readiness() & interest;
            if (ready == 0 && interest != 0) {
                // counted as asleep so that the source gets armed, but not to be called for what this call returns
                sleepingWatches++;
                update();
                ready = readiness() & interest;
                if (ready == 0) {
                    watch.sleepingFor = interest;
                } else {
                    sleepingWatches--;
                }
                reviewSleepers();
            } else if (notified || ready != interest) {
                // what is ready must not hide what has become so: the descriptor may be silent about it
                update();
                ready = readiness() & interest;
            }
            return ready;
        } finally {
            lock.unlock();
        }
    }

    /** The thread of the watch's selector does something else, and has for a while. */
    public final void leaveAlone(Watch watch) {
        lock.lock();
        try {
            if (watch.sleepingFor != 0) {
                leftAlone();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes in what has happened after {@link #descriptor()} was seen readable, and publishes it. */
    final void descriptorReady() {
        lock.lock();
        try {
            notified();
            update();
        } finally {
            lock.unlock();
        }
    }

    // -- threads --

    /**
     * Blocks until one of the operations is ready, waits are ended, or time is up. Does not look at the interrupt status:
     * the channel's close does, through {@link #endWaits()}.
     *
     * @param deadlineNanos a value of {@link System#nanoTime()}
     * @param bounded whether the deadline counts
     * @return whether one of the operations is ready
     */
    public final boolean await(int interest, long deadlineNanos, boolean bounded) throws IOException {
        lock.lock();
        try {
            update();
            if ((readiness() & interest) != 0) {
                return true;
            }
        } finally {
            lock.unlock();
        }
        Waiter waiter = takeWaiter(interest);
        try {
            return await(waiter, deadlineNanos, bounded);
        } finally {
            lock.lock();
            try {
                waiters.remove(waiter);
                reviewSleepers();
            } finally {
                lock.unlock();
            }
            waiter.release();
        }
    }

    private Waiter takeWaiter(int interest) throws IOException {
        Waiter waiter = null;
        if (!Thread.currentThread().isVirtual()) {
            if (needsGroup()) {
                waiter = waitGroups().take();
            } else if (descriptor() >= 0) {
                waiter = DescriptorWaiter.take();
            }
        }
        if (waiter == null) {
            waiter = new ParkingWaiter();
        }
        waiter.interest = interest;
        return waiter;
    }

    private boolean await(Waiter waiter, long deadlineNanos, boolean bounded) throws IOException {
        boolean slept = false;
        boolean readable = false;
        while (true) {
            lock.lock();
            try {
                if (slept && lookAwake(waiter, readable)) {
                    return true;
                }
                if (waitsEnded) {
                    return false;
                }
                waiters.add(waiter);
                if (waiter.parks() && descriptor() >= 0) {
                    watchByEventLoop();
                }
                sleepersChanged();
                update();
                if ((readiness() & waiter.interest) != 0) {
                    return true;
                }
            } finally {
                lock.unlock();
            }
            long left = bounded ? deadlineNanos - System.nanoTime() : Long.MAX_VALUE;
            if (left <= 0) {
                return false;
            }
            readable = waiter.sleep(descriptor(), left);
            slept = true;
        }
    }

    /**
     * Has a thread that has slept see for itself. It counts as asleep no longer, so that it neither wakes itself nor has the
     * source armed for what it is about to take: both cost system calls, for every message. Lock held.
     */
    private boolean lookAwake(Waiter waiter, boolean readable) {
        waiters.remove(waiter);
        if (readable) {
            notified();
        }
        update();
        return (readiness() & waiter.interest) != 0;
    }

    /** Ends all waits, now and for ever: the channel is being closed. */
    public final void endWaits() {
        lock.lock();
        try {
            waitsEnded = true;
            waiters.forEach(Waiter::wake);
        } finally {
            lock.unlock();
        }
    }
}
