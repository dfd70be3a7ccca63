package io.rdmanio.stream;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.util.Arrays;

/**
 * A thread that waits for a source told by groups of completion queues: it looks at a group of its own for a while, and then
 * blocks on the group's descriptor. Kept for the next such thread, so a connection may have it as a token when nobody waits
 * any more.
 */
final class GroupWaiter extends Waiter {
    private final WaitGroups owner;
    private final CompletionQueueGroup group;
    private final BusyPoll busyPoll = new BusyPoll();
    private final SleepFlags flags = new SleepFlags();

    /** What the group tells of is known to the thread, which waits for one connection. */
    private final Object[] told = new Object[4];

    GroupWaiter(WaitGroups owner, CompletionQueueGroup group) {
        this.owner = owner;
        this.group = group;
    }

    @Override
    public CompletionQueueGroup group() {
        return group;
    }

    @Override
    boolean sleep(int descriptor, long nanos) throws IOException {
        long begin = System.nanoTime();
        if (!lookBusily(begin, nanos)) {
            long left = nanos - (System.nanoTime() - begin);
            try {
                if (flags.beginSleep() && group.prepareToSleep()) {
                    try {
                        block(Math.max(left, 0));
                    } finally {
                        group.awake();
                    }
                }
            } finally {
                flags.endSleep();
            }
        }
        group.take(told);
        flags.reset();
        return false;
    }

    private void block(long nanos) throws IOException {
        if (Poll.awaitReadable(group.fileDescriptor(), -1, millis(nanos)) != 0) {
            group.drain();
        }
    }

    /** Whether something came before it was time to sleep. */
    private boolean lookBusily(long nowNanos, long mostNanos) {
        if (!busyPoll.begin(nowNanos, mostNanos)) {
            return false;
        }
        boolean found;
        do {
            found = flags.isWoken() || group.take(told) != 0;
        } while (!found && busyPoll.goesOn());
        busyPoll.end(found);
        return found;
    }

    @Override
    void wake() {
        if (flags.wake()) {
            group.signal();
        }
    }

    @Override
    void release() {
        Arrays.fill(told, null);
        flags.reset();
        owner.giveBack(this);
    }

    /** Closes the group; nobody has the waiter. */
    void close() throws IOException {
        group.close();
    }
}
