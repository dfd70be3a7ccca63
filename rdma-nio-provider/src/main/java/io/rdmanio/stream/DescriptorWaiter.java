package io.rdmanio.stream;

import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.Poll;
import java.io.IOException;
import java.util.ArrayDeque;

/** A thread that blocks in poll(2) on the source's descriptor, and on an eventfd that wakes it. Kept for the next such thread. */
final class DescriptorWaiter extends Waiter {
    private static final int MOST_IDLE = 64;
    private static final ArrayDeque<DescriptorWaiter> IDLE = new ArrayDeque<>(MOST_IDLE); // guarded by itself

    private final EventFd eventFd = new EventFd();

    /** Whether it has been woken since it was taken, so that there may be something to drain. */
    private volatile boolean woken;

    private DescriptorWaiter() throws IOException {}

    /** A waiter, to be {@linkplain #release() released}. */
    static DescriptorWaiter take() throws IOException {
        synchronized (IDLE) {
            DescriptorWaiter idle = IDLE.pollLast();
            if (idle != null) {
                return idle;
            }
        }
        return new DescriptorWaiter();
    }

    /** Eventfds kept for waiters to come. */
    static int idleEventFds() {
        synchronized (IDLE) {
            return IDLE.size();
        }
    }

    @Override
    boolean sleep(int descriptor, long nanos) throws IOException {
        int readable = Poll.awaitReadable(descriptor, eventFd.fileDescriptor(), millis(nanos));
        if ((readable & 2) != 0) {
            eventFd.drain();
        }
        return (readable & 1) != 0;
    }

    @Override
    void wake() {
        woken = true;
        eventFd.signal();
    }

    @Override
    void release() throws IOException {
        if (woken) {
            eventFd.drain();
            woken = false;
        }
        synchronized (IDLE) {
            if (IDLE.size() < MOST_IDLE) {
                IDLE.addLast(this);
                return;
            }
        }
        eventFd.close();
    }
}
