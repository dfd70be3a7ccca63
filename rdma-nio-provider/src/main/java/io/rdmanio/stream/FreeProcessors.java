package io.rdmanio.stream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * How many threads of this process may keep a processor busy while they wait: one less than there are processors, and none
 * while more threads of the host want to run than that. Thread-safe.
 */
final class FreeProcessors {
    /** How long a look at the host's threads is good for when there was room. */
    static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** And when there was none, which is over at once as a rule: timers and interrupts have threads too. */
    static final long CROWDED_SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final int processors;
    private final IntSupplier runnableThreads;
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicLong nextSampleNanos = new AtomicLong(System.nanoTime());
    /** Whether there was no room when somebody looked last, and whether that was so twice in a row. */
    private volatile boolean full;

    private volatile boolean crowded;

    /**
     * Begins with none taken.
     *
     * @param processors how many there are
     * @param runnableThreads counts the threads of the host that run or want to, the caller among them
     */
    FreeProcessors(int processors, IntSupplier runnableThreads) {
        this.processors = processors;
        this.runnableThreads = runnableThreads;
    }

    /**
     * Takes one.
     *
     * @param nowNanos the present {@link System#nanoTime()}
     * @return whether there was one; {@link #giveBack} it then
     */
    boolean take(long nowNanos) {
        if (isCrowded(nowNanos)) {
            return false;
        }
        if (taken.incrementAndGet() >= processors) {
            taken.decrementAndGet();
            return false;
        }
        return true;
    }

    void giveBack() {
        taken.decrementAndGet();
    }

    private boolean isCrowded(long nowNanos) {
        long next = nextSampleNanos.get();
        if (nowNanos - next >= 0 && nextSampleNanos.compareAndSet(next, nowNanos + CROWDED_SAMPLE_NANOS)) {
            boolean wasFull = full;
            full = runnableThreads.getAsInt() > processors;
            crowded = full && wasFull;
            if (!full) {
                nextSampleNanos.set(nowNanos + SAMPLE_NANOS);
            }
        }
        return crowded;
    }
}
