package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * Groups of completion queues for threads that block on one connection: as many as such threads at the same time, up to a
 * bound, kept for the next. Thread-safe.
 */
final class WaitGroups {
    /** Each has two descriptors, and every peer process is told of it. Further threads are woken by the event loop. */
    private static final int MAX_GROUPS = 64;

    private final RdmaEngine engine;

    // begin: guarded by this
    private final ArrayDeque<GroupWaiter> idle = new ArrayDeque<>(MAX_GROUPS);
    private int count;
    // end

    WaitGroups(RdmaEngine engine) {
        this.engine = engine;
    }

    /**
     * Takes a waiter with a group, to be {@linkplain GroupWaiter#release released}.
     *
     * @return null when there are as many as there may be
     * @throws VerbsException when no descriptor is left
     */
    GroupWaiter take() throws VerbsException {
        synchronized (this) {
            GroupWaiter known = idle.pollLast();
            if (known != null) {
                return known;
            }
            if (count == MAX_GROUPS) {
                return null;
            }
            count++;
        }
        boolean opened = false;
        try {
            GroupWaiter waiter = new GroupWaiter(this, CompletionQueueGroup.open(engine));
            opened = true;
            return waiter;
        } finally {
            if (!opened) {
                synchronized (this) {
                    count--;
                }
            }
        }
    }

    synchronized void giveBack(GroupWaiter waiter) {
        // the latest first: its connection may still be in its group
        idle.addLast(waiter);
    }

    /** Closes those that no thread has. */
    void closeIdle() throws IOException {
        for (GroupWaiter closing = takeIdle(); closing != null; closing = takeIdle()) {
            closing.close();
        }
    }

    private synchronized GroupWaiter takeIdle() {
        GroupWaiter waiter = idle.pollLast();
        if (waiter != null) {
            count--;
        }
        return waiter;
    }
}
