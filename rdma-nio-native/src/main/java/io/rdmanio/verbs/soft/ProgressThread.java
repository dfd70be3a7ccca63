package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Epoll;
import io.rdmanio.linux.EventFd;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The one thread of a host, {@code rdmanio-soft-progress}: it sleeps in epoll_wait(2) until a descriptor that is watched
 * has an event, a task is handed to it or a timer is due, and never wakes for anything else. Nothing that it calls may
 * block. What one of them throws is logged and costs nobody else anything.
 *
 * <p>A task is published, then the thread is woken if it sleeps; the thread says that it is about to sleep, then looks
 * for tasks once more.
 *
 * <p>Thread safety: all methods may be called by any thread, unless they say otherwise.
 */
final class ProgressThread {
    /** What is done with the events of a descriptor; called on the progress thread. */
    interface Handler {
        /**
         * Handles events.
         *
         * @param events bits of {@link Epoll}
         */
        void ready(int events);
    }

    /** A descriptor that is watched. */
    interface Watch {
        /**
         * Watches for other events.
         *
         * @param events bits of {@link Epoll}
         * @throws IOException when epoll refuses, which it does not with a descriptor that is open
         */
        void interest(int events) throws IOException;

        /**
         * Ends the watch, before the descriptor is closed. On the progress thread, the handler is not called any more
         * when this returns. Idempotent.
         */
        void cancel();
    }

    /** Something to be done later. */
    interface Timer {
        /** Makes it never happen, unless it has begun. Idempotent; costs no wake-up. */
        void cancel();
    }

    static final String NAME = "rdmanio-soft-progress";

    private static final Logger LOG = System.getLogger(ProgressThread.class.getName());
    private static final int EVENTS_PER_WAIT = 64;
    private static final int TASKS_PER_ROUND = 256;
    private static final int FOR_EVER = -1;
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long WAKE = 0;

    private final Epoll epoll = new Epoll(EVENTS_PER_WAIT);
    private final EventFd wake;
    private final Runnable end;
    private final Thread thread = Thread.ofPlatform()
            .name(NAME)
            .daemon()
            .inheritInheritableThreadLocals(false)
            .unstarted(this::run);
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentSkipListSet<DueTask> timers = new ConcurrentSkipListSet<>();
    private final Map<Long, WatchedDescriptor> watches = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong(WAKE);
    /** Whether the thread sleeps or is about to, so that who gives it something to do must wake it. */
    private volatile boolean sleeping;
    /** No more rounds. */
    private volatile boolean stopping;
    /** No task is taken any more. */
    private volatile boolean ended;

    /**
     * Opens what the thread needs.
     *
     * @param end what the thread does before it ends, for whatever reason it does
     * @throws IOException when no descriptor is left
     */
    ProgressThread(Runnable end) throws IOException {
        this.end = end;
        try {
            wake = new EventFd();
        } catch (IOException e) {
            epoll.close();
            throw e;
        }
        try {
            epoll.add(wake.fileDescriptor(), Epoll.IN, WAKE);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Starts the thread. */
    void start() {
        thread.start();
    }

    /**
     * Ends the thread. Tasks that were given to it before it has ended are run, later ones are rejected; timers and
     * watches never happen. Idempotent.
     */
    void stop() {
        stopping = true;
        wake.signal();
    }

    /**
     * Whether it goes on.
     *
     * @return false when it has been stopped, or has failed
     */
    boolean isRunning() {
        return !stopping && !ended;
    }

    /**
     * Waits until the thread has ended. Must not be called on it.
     *
     * @param timeoutNanos how long to wait
     * @return whether it has ended
     */
    boolean awaitEnd(long timeoutNanos) {
        boolean interrupted = false;
        long deadlineNanos = System.nanoTime() + timeoutNanos;
        try {
            while (thread.isAlive()) {
                long leftNanos = deadlineNanos - System.nanoTime();
                if (leftNanos <= 0) {
                    return false;
                }
                try {
                    TimeUnit.NANOSECONDS.timedJoin(thread, leftNanos);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Whether the caller is this thread.
     *
     * @return true on the progress thread
     */
    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /**
     * Runs a task on the progress thread, after those handed over before.
     *
     * @param task the task; must not block
     * @throws RejectedExecutionException when the host is closed
     */
    void execute(Runnable task) {
        tasks.add(task);
        if (ended && tasks.remove(task)) {
            throw new RejectedExecutionException("the host is closed");
        }
        wakeIfSleeping();
    }

    /**
     * Runs a task on the progress thread at a time. The kernel's timer counts milliseconds, and so does this: a task is
     * late by one, or by what runs before it, but never early.
     *
     * @param deadlineNanos when, in terms of {@link System#nanoTime}
     * @param task the task; must not block
     * @return the handle to cancel it with
     * @throws RejectedExecutionException when the host is closed
     */
    Timer schedule(long deadlineNanos, Runnable task) {
        DueTask timer = new DueTask(deadlineNanos, numbers.incrementAndGet(), task);
        timers.add(timer);
        if (ended) {
            timers.remove(timer);
            throw new RejectedExecutionException("the host is closed");
        }
        if (isFirst(timer)) {
            wakeIfSleeping();
        }
        return timer;
    }

    private boolean isFirst(DueTask timer) {
        DueTask first = firstTimer();
        return first == null || first.compareTo(timer) >= 0;
    }

    private DueTask firstTimer() {
        // Not first(), which throws when a timer is cancelled between a look and the next.
        for (DueTask timer : timers) {
            return timer;
        }
        return null;
    }

    private void wakeIfSleeping() {
        if (sleeping && !isCurrent()) {
            sleeping = false;
            wake.signal();
        }
    }

    /**
     * Watches a descriptor, level-triggered.
     *
     * @param fileDescriptor the descriptor, which stays the caller's
     * @param events bits of {@link Epoll}
     * @param handler what to do; must not block
     * @return the watch, to be cancelled before the descriptor is closed
     * @throws IOException when epoll refuses
     * @throws RejectedExecutionException when the host is closed
     */
    Watch watch(int fileDescriptor, int events, Handler handler) throws IOException {
        WatchedDescriptor watch = new WatchedDescriptor(numbers.incrementAndGet(), fileDescriptor, handler);
        watches.put(watch.number, watch);
        try {
            epoll.add(fileDescriptor, events, watch.number);
            return watch;
        } catch (IOException e) {
            watches.remove(watch.number);
            throw e;
        } catch (IllegalStateException e) {
            watches.remove(watch.number);
            throw new RejectedExecutionException("the host is closed", e);
        }
    }

    private void run() {
        try {
            while (!stopping) {
                round();
            }
        } catch (IOException e) {
            // epoll_wait(2) itself fails for no reason that time could heal.
            LOG.log(Level.ERROR, "the progress thread of the software device can't wait any more", e);
        } finally {
            guarded(end);
            ended = true;
            do {
                runTasks();
            } while (!tasks.isEmpty());
            close();
        }
    }

    private void round() throws IOException {
        try {
            // A program that frees memory under its key while this thread copies it makes the JVM interrupt this
            // thread.
            // Nobody else has a reason to, and a logger's file would be closed by it.
            boolean ignored = Thread.interrupted();
            runTasks();
            runTimers();
            handleEvents(sleep());
        } catch (OutOfMemoryError e) {
            // Somebody else's, most likely, and no reason to cut off everybody's peers. What is left undone is still
            // there.
            log(e);
        }
    }

    private void close() {
        epoll.close();
        wake.close();
    }

    private void runTasks() {
        // Bounded, so that tasks that hand on tasks don't keep the descriptors waiting.
        for (int i = 0; i < TASKS_PER_ROUND; i++) {
            Runnable task = tasks.poll();
            if (task == null) {
                return;
            }
            guarded(task);
        }
    }

    private void runTimers() {
        long nowNanos = System.nanoTime();
        DueTask timer = firstTimer();
        while (timer != null && timer.deadlineNanos - nowNanos <= 0) {
            if (timers.remove(timer)) {
                guarded(timer.task);
            }
            timer = firstTimer();
        }
    }

    private int sleep() throws IOException {
        sleeping = true;
        int count = epoll.await(tasks.isEmpty() ? timeoutMillis() : 0);
        sleeping = false;
        return count;
    }

    private int timeoutMillis() {
        DueTask first = firstTimer();
        if (first == null) {
            return FOR_EVER;
        }
        long millis = Math.ceilDiv(first.deadlineNanos - System.nanoTime(), NANOS_PER_MILLI);
        return Math.clamp(millis, 0, Integer.MAX_VALUE);
    }

    private void handleEvents(int count) {
        for (int i = 0; i < count; i++) {
            long number = epoll.data(i);
            if (number == WAKE) {
                wake.drain();
                continue;
            }
            // One that is gone was cancelled by a handler before it in this very round.
            WatchedDescriptor watch = watches.get(number);
            if (watch != null) {
                watch.handle(epoll.events(i));
            }
        }
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    private static void log(Throwable failure) {
        try {
            LOG.log(Level.ERROR, "a task of the software device failed", failure);
        } catch (RuntimeException | Error _) {
            // The program's logger fails. The thread goes on all the same.
        }
    }

    /** A timer, ordered by when it is due. */
    private final class DueTask implements Timer, Comparable<DueTask> {
        private final long deadlineNanos;
        private final long number;
        private final Runnable task;

        DueTask(long deadlineNanos, long number, Runnable task) {
            this.deadlineNanos = deadlineNanos;
            this.number = number;
            this.task = task;
        }

        @Override
        public int compareTo(DueTask other) {
            int byTime = Long.signum(deadlineNanos - other.deadlineNanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(number);
        }

        @Override
        public void cancel() {
            timers.remove(this);
        }
    }

    private final class WatchedDescriptor implements Watch {
        private final long number;
        private final int fileDescriptor;
        private final Handler handler;

        WatchedDescriptor(long number, int fileDescriptor, Handler handler) {
            this.number = number;
            this.fileDescriptor = fileDescriptor;
            this.handler = handler;
        }

        void handle(int events) {
            try {
                handler.ready(events);
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }

        @Override
        public synchronized void interest(int events) throws IOException {
            // Not after cancel, when the number may be another descriptor's.
            if (watches.containsKey(number)) {
                epoll.modify(fileDescriptor, events, number);
            }
        }

        @Override
        public synchronized void cancel() {
            if (watches.remove(number) == null) {
                return;
            }
            try {
                epoll.remove(fileDescriptor);
            } catch (IllegalStateException e) {
                // The thread has ended, and its epoll with it.
                assert ended;
            } catch (IOException e) {
                LOG.log(Level.ERROR, "a descriptor can't be taken out of epoll", e);
            }
        }
    }
}
