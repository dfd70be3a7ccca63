package io.rdmanio.linux;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a native resource alive while calls on it are in progress: a call enters and exits, the closer shuts the gate
 * and then either waits until the last call is out, or leaves the release to it. After {@link #shut} nobody enters any
 * more, so no call can meet a freed handle or a descriptor number that already names something else.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code state} is one word: the sign bit is "shut", the
 * rest counts the calls.
 */
public final class UseGate {
    private static final int SHUT = Integer.MIN_VALUE;
    private static final int SPINS = 64;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(UseGate.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int state;

    /** Creates an open gate. */
    public UseGate() {}

    /**
     * Enters, unless the gate is shut.
     *
     * @return whether the caller is in, and so owes an {@link #exit}
     */
    public boolean tryEnter() {
        int seen = state;
        while (seen >= 0) {
            int found = (int) STATE.compareAndExchange(this, seen, seen + 1);
            if (found == seen) {
                return true;
            }
            seen = found;
        }
        return false;
    }

    /**
     * Leaves.
     *
     * @return true when the gate is shut and this was the last call inside
     */
    public boolean exit() {
        return (int) STATE.getAndAdd(this, -1) == SHUT + 1;
    }

    /**
     * Shuts the gate for good. Does not wait.
     *
     * @return whether it was open before
     */
    public boolean shut() {
        return (int) STATE.getAndBitwiseOr(this, SHUT) >= 0;
    }

    /**
     * Tells whether the gate is shut.
     *
     * @return true after {@link #shut}
     */
    public boolean isShut() {
        return state < 0;
    }

    /**
     * Tells whether the gate is shut and nobody is inside.
     *
     * @return true when the resource may be released
     */
    public boolean isIdle() {
        return state == SHUT;
    }

    /** Waits until the shut gate is idle: as long as the longest call in progress takes. Not interruptible. */
    public void awaitIdle() {
        long pauseNanos = TimeUnit.MICROSECONDS.toNanos(10);
        for (int i = 0; !isIdle(); i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, pauseNanos);
                pauseNanos = Math.min(2 * pauseNanos, TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }
}
