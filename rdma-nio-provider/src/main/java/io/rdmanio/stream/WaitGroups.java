package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Groups of completion queues for threads that block on one connection: as many as such threads at the same time, up to a
 * bound, kept for the next. Thread-safe.
 */
final class WaitGroups {
    /** Each has two descriptors, and every peer process is told of it. Further threads are woken by the event loop. */
    private static final int MAX_GROUPS = 64;

    private final RdmaEngine engine;
    private final ConcurrentLinkedDeque<WaitGroup> idle = new ConcurrentLinkedDeque<>();
    private final AtomicInteger count = new AtomicInteger();

    /** A group, and what its thread needs to wait with it. */
    static final class WaitGroup {
        final CompletionQueueGroup group;
        final BusyPoll busyPoll = new BusyPoll();
        /** What the group tells of is known to its thread, which waits for one connection. */
        final Object[] told = new Object[4];

        private WaitGroup(CompletionQueueGroup group) {
            this.group = group;
        }
    }

    WaitGroups(RdmaEngine engine) {
        this.engine = engine;
    }

    /**
     * Takes a group, to be {@linkplain #giveBack given back}.
     *
     * @return null when there are as many as there may be
     * @throws VerbsException when no descriptor is left
     */
    WaitGroup take() throws VerbsException {
        WaitGroup known = idle.poll();
        if (known != null) {
            return known;
        }
        if (count.incrementAndGet() > MAX_GROUPS) {
            count.decrementAndGet();
            return null;
        }
        try {
            return new WaitGroup(CompletionQueueGroup.open(engine));
        } catch (VerbsException e) {
            count.decrementAndGet();
            throw e;
        }
    }

    void giveBack(WaitGroup group) {
        // The latest first: its connection may still be in it.
        idle.push(group);
    }

    /** Closes those that no thread has. */
    void closeIdle() throws VerbsException {
        WaitGroup closing;
        while ((closing = idle.poll()) != null) {
            count.decrementAndGet();
            closing.group.close();
        }
    }
}
