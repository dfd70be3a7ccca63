package io.rdmanio.stream;

/**
 * By what a thread that wakes and one that goes to sleep never miss each other: who wakes says so and then looks whether the
 * other sleeps, who sleeps says so and then looks whether it was woken. Thread-safe.
 */
final class SleepFlags {
    private volatile boolean woken;
    private volatile boolean asleep;

    /**
     * Wakes.
     *
     * @return whether the other sleeps, or is about to, so that it needs a signal
     */
    boolean wake() {
        woken = true;
        return asleep;
    }

    /** Whether it was woken since {@link #reset}. */
    boolean isWoken() {
        return woken;
    }

    /**
     * Is about to sleep; {@link #endSleep()} follows in any case.
     *
     * @return false when it was woken: it must not sleep then
     */
    boolean beginSleep() {
        asleep = true;
        return !woken;
    }

    /** Sleeps no more. */
    void endSleep() {
        asleep = false;
    }

    /** What it was woken for is going to be looked at; what comes from now on wakes anew. */
    void reset() {
        woken = false;
    }
}
