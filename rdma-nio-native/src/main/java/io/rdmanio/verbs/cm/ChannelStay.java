package io.rdmanio.verbs.cm;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What keeps an id in its channel: any number of calls that use the native channel, which may be destroyed once the id
 * has left it, or one move to another. A move that waits keeps no call out, so calls may nest, and a call may wait for
 * another whatever locks it holds.
 *
 * <p>Thread safety: all methods may be called by any thread; {@code lock} guards the fields.
 */
final class ChannelStay {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int calls;
    private boolean moving;

    /** Waits while the id is moved, which takes no longer than the locks of two channels. */
    void beginCall() {
        lock.lock();
        try {
            while (moving) {
                changed.awaitUninterruptibly();
            }
            calls++;
        } finally {
            lock.unlock();
        }
    }

    void endCall() {
        lock.lock();
        try {
            calls--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for calls in progress and for another move. */
    void beginMove() {
        lock.lock();
        try {
            while (moving || calls > 0) {
                changed.awaitUninterruptibly();
            }
            moving = true;
        } finally {
            lock.unlock();
        }
    }

    void endMove() {
        lock.lock();
        try {
            moving = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
