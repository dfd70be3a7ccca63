package io.rdmanio.stream;

import io.rdmanio.linux.RunnableThreads;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a thread that has nothing to do looks again for a while before it sleeps, which spares it the way into the kernel
 * and back when something comes at once. That pays only if something does come: who has looked in vain several times
 * looks ever more rarely. And it pays only while a processor is free: no more threads of a process look at the same time
 * than there are processors less one, and none does while more threads want to run than there are processors.
 *
 * <p>The system property {@code io.rdmanio.busyPoll} is {@code true} (the default), {@code false}, or how long to look in
 * microseconds. One object serves one sleeper at a time; what all share is thread-safe.
 */
public final class BusyPoll {
    private static final String PROPERTY = "io.rdmanio.busyPoll";
    private static final long DEFAULT_MICROS = 50;
    private static final long MAX_MICROS = TimeUnit.SECONDS.toMicros(1);
    private static final long BUDGET_NANOS = budgetNanos(System.getProperty(PROPERTY, "true"));

    private static final int MAX_THREADS = Runtime.getRuntime().availableProcessors() - 1;
    private static final AtomicInteger THREADS = new AtomicInteger();

    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final AtomicLong NEXT_SAMPLE_NANOS = new AtomicLong(System.nanoTime());
    private static volatile boolean crowded;

    /** After so many waits in vain it is tried less often. */
    private static final int PATIENCE = 4;

    private static final int MOST_SKIPPED = 256;

    private int vain;
    private int skipped;
    private int toSkip;
    private long endNanos;

    /** Begins as if it paid. */
    public BusyPoll() {}

    static long budgetNanos(String value) {
        if (value.equalsIgnoreCase("false")) {
            return 0;
        }
        if (value.equalsIgnoreCase("true")) {
            return TimeUnit.MICROSECONDS.toNanos(DEFAULT_MICROS);
        }
        try {
            long micros = Long.parseLong(value);
            if (micros >= 0 && micros <= MAX_MICROS) {
                return TimeUnit.MICROSECONDS.toNanos(micros);
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(refusal(value), e);
        }
        throw new IllegalArgumentException(refusal(value));
    }

    private static String refusal(String value) {
        return PROPERTY + "=" + value + ": it is true, false, or a number of microseconds up to " + MAX_MICROS;
    }

    /**
     * Asks whether to look, for a thread that would sleep otherwise; after true, {@link #end} must follow.
     *
     * @param nowNanos the present {@link System#nanoTime()}
     * @return whether to look, as long as {@link #goesOn}
     */
    public boolean begin(long nowNanos) {
        if (BUDGET_NANOS == 0 || Thread.currentThread().isVirtual()) {
            return false;
        }
        if (skipped < toSkip) {
            skipped++;
            return false;
        }
        if (isCrowded(nowNanos)) {
            return false;
        }
        if (THREADS.incrementAndGet() > MAX_THREADS) {
            THREADS.decrementAndGet();
            return false;
        }
        endNanos = nowNanos + BUDGET_NANOS;
        return true;
    }

    /** Whether there is time left; pauses the processor for a moment. */
    public boolean goesOn() {
        Thread.onSpinWait();
        return System.nanoTime() - endNanos < 0;
    }

    /**
     * Ends it.
     *
     * @param found whether something came
     */
    public void end(boolean found) {
        THREADS.decrementAndGet();
        skipped = 0;
        if (found) {
            vain = 0;
            toSkip = 0;
        } else if (++vain >= PATIENCE) {
            toSkip = Math.min(Math.max(1, 2 * toSkip), MOST_SKIPPED);
        }
    }

    private static boolean isCrowded(long nowNanos) {
        long next = NEXT_SAMPLE_NANOS.get();
        if (nowNanos - next >= 0 && NEXT_SAMPLE_NANOS.compareAndSet(next, nowNanos + SAMPLE_NANOS)) {
            crowded = RunnableThreads.count() > MAX_THREADS + 1;
        }
        return crowded;
    }
}
