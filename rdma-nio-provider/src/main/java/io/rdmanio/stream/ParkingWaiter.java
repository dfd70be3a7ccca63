package io.rdmanio.stream;

import java.util.concurrent.locks.LockSupport;

/** A thread that parks, as a virtual one must. */
final class ParkingWaiter extends Waiter {
    private final Thread thread = Thread.currentThread();

    @Override
    boolean parks() {
        return true;
    }

    @Override
    boolean sleep(int descriptor, long nanos) {
        LockSupport.parkNanos(this, bounded(nanos));
        return false;
    }

    @Override
    void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    void release() {
        // it has nothing
    }
}
