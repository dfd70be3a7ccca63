package io.rdmanio.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The exclusive right to work on a part of a queue, held as long as the work of one call: a lock that costs one atomic
 * step, for sections that never block. Not reentrant.
 *
 * <p>Thread safety: all methods may be called by any thread; whoever acquired it releases it.
 */
final class Claim {
    private static final int SPINS = 200;
    private static final long MIN_PAUSE_NANOS = 1_000;
    private static final long MAX_PAUSE_NANOS = 100_000;
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup()
                    .findVarHandle(Claim.class, "held", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int held;

    /**
     * Takes it, unless somebody has it.
     *
     * @return whether the caller has it now, and so owes a {@link #release}
     */
    boolean tryAcquire() {
        return HELD.compareAndSet(this, 0, 1);
    }

    /** Takes it, as soon as whoever has it is done. */
    void acquire() {
        if (!HELD.compareAndSet(this, 0, 1)) {
            acquireContended();
        }
    }

    private void acquireContended() {
        long pauseNanos = MIN_PAUSE_NANOS;
        for (int i = 0; (int) HELD.getOpaque(this) != 0 || !tryAcquire(); i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, pauseNanos);
                pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
            }
        }
    }

    /** Gives it back. */
    void release() {
        HELD.setRelease(this, 0);
    }
}
