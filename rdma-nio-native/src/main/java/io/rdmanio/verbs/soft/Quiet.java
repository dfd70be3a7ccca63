package io.rdmanio.verbs.soft;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells when a queue pair is destroyed and no peer writes through it any more: none of the areas where it received is waited
 * for.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class Quiet {
    // The queue pair itself, and each area that its peer has not let go of.
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile Runnable task = () -> {};

    /**
     * Sets what to run; before the queue pair is destroyed.
     *
     * @param newTask the task, which does not block
     */
    void task(Runnable newTask) {
        task = newTask;
    }

    /** A peer is asked to let go of an area. */
    void hold() {
        holders.incrementAndGet();
    }

    /** A peer has let go of an area, or is gone; or the queue pair is destroyed. The last runs the task. */
    void release() {
        if (holders.decrementAndGet() == 0) {
            task.run();
        }
    }
}
