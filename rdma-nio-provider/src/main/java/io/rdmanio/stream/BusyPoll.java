package io.rdmanio.stream;

import io.rdmanio.linux.RunnableThreads;
import java.util.concurrent.TimeUnit;

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
    /** Longer than a peer that sleeps takes to answer, or two that sleep would never find each other awake. */
    private static final long DEFAULT_MICROS = 100;

    private static final long MAX_MICROS = TimeUnit.SECONDS.toMicros(1);
    private static final long BUDGET_NANOS = budgetNanos(System.getProperty(PROPERTY, "true"));
    private static final FreeProcessors PROCESSORS =
            new FreeProcessors(Runtime.getRuntime().availableProcessors(), RunnableThreads::count);

    /** After so many waits in vain it is tried less often. */
    private static final int PATIENCE = 4;

    private static final int MOST_SKIPPED = 64;

    private final long budgetNanos;
    private final FreeProcessors processors;
    private int vain;
    private int skipped;
    private int toSkip;
    private long endNanos;

    /** Begins as if it paid. */
    public BusyPoll() {
        this(BUDGET_NANOS, PROCESSORS);
    }

    BusyPoll(long budgetNanos, FreeProcessors processors) {
        this.budgetNanos = budgetNanos;
        this.processors = processors;
    }

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
     * @param mostNanos how long the thread would sleep at most
     * @return whether to look, as long as {@link #goesOn}
     */
    public boolean begin(long nowNanos, long mostNanos) {
        if (budgetNanos == 0 || Thread.currentThread().isVirtual()) {
            return false;
        }
        if (skipped < toSkip) {
            skipped++;
            return false;
        }
        if (!processors.take(nowNanos)) {
            return false;
        }
        endNanos = nowNanos + Math.min(budgetNanos, mostNanos);
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
        processors.giveBack();
        skipped = 0;
        if (found) {
            vain = 0;
            toSkip = 0;
        } else if (++vain >= PATIENCE) {
            toSkip = Math.min(Math.max(1, 2 * toSkip), MOST_SKIPPED);
        }
    }
}
