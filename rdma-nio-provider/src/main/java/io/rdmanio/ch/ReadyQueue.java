package io.rdmanio.ch;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The keys that other threads have found ready, and the protocol by which they wake the selector that sleeps.
 *
 * <p>Many threads offer, one selects. The selecting thread, before it sleeps, calls {@link #prepareToSleep()}, then sleeps
 * only if {@link #maySleep()}, and calls {@link #awake()} afterwards. A thread that offers or calls {@link #wakeup()}
 * first publishes what it has to say and then looks whether the selector sleeps; the selecting thread does it the other
 * way round, both with volatile mode, so at least one sees the other: no wake-up is lost. Of all that try to wake one
 * sleep, one is told to write the eventfd.
 *
 * <p>A node is in the queue at most once. It is taken out before its readiness is looked at, so what becomes ready later
 * puts it in again.
 */
public final class ReadyQueue {
    /** What can be queued: one for each key. */
    public abstract static class Node {
        private volatile boolean queued;

        /** Written before the node is published by the push, read after the stack is taken. */
        private Node next;

        /** Constructs a node that is not queued. */
        protected Node() {}
    }

    private static final int AWAKE = 0;
    private static final int ASLEEP = 1;
    private static final int SIGNALLED = 2;

    private static final VarHandle QUEUED;
    private static final VarHandle TOP;
    private static final VarHandle SLEEP;
    private static final VarHandle WAKEUP;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            QUEUED = lookup.findVarHandle(Node.class, "queued", boolean.class);
            TOP = lookup.findVarHandle(ReadyQueue.class, "top", Node.class);
            SLEEP = lookup.findVarHandle(ReadyQueue.class, "sleep", int.class);
            WAKEUP = lookup.findVarHandle(ReadyQueue.class, "wakeup", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile Node top;
    private volatile int sleep = AWAKE;
    private volatile boolean wakeup;

    /** Nodes taken from the shared stack, oldest first; the selecting thread's own. */
    private Node taken;

    /** Constructs an empty queue whose selector is awake. */
    public ReadyQueue() {}

    /**
     * Queues a node unless it is queued already. Called from any thread.
     *
     * @return whether the caller has to wake the selector by writing its eventfd
     */
    public boolean offer(Node node) {
        if (QUEUED.compareAndSet(node, false, true)) {
            Node expected;
            do {
                expected = top;
                node.next = expected;
            } while (!TOP.compareAndSet(this, expected, node));
        }
        return mustSignal();
    }

    /**
     * Asks the current or the next selection to return. Called from any thread; calls coalesce.
     *
     * @return whether the caller has to wake the selector by writing its eventfd
     */
    public boolean wakeup() {
        wakeup = true;
        return mustSignal();
    }

    private boolean mustSignal() {
        return sleep == ASLEEP && SLEEP.compareAndSet(this, ASLEEP, SIGNALLED);
    }

    /** Announces that the selecting thread is about to sleep. */
    public void prepareToSleep() {
        sleep = ASLEEP;
    }

    /** Whether nothing was said before {@link #prepareToSleep()}; what is said after it is signalled. */
    public boolean maySleep() {
        return top == null && taken == null && !wakeup;
    }

    /**
     * Announces that the selecting thread does not sleep any more.
     *
     * @return whether somebody was told to write the eventfd, and has done so or is about to
     */
    public boolean awake() {
        return (int) SLEEP.getAndSet(this, AWAKE) == SIGNALLED;
    }

    /** Whether a wake-up was asked for since the last call; the selecting thread's. */
    public boolean consumeWakeup() {
        return wakeup && (boolean) WAKEUP.getAndSet(this, false);
    }

    /** Takes out a node; null if there is none. Called from the selecting thread. */
    public Node poll() {
        if (taken == null) {
            taken = reverse((Node) TOP.getAndSet(this, null));
            if (taken == null) {
                return null;
            }
        }
        Node node = taken;
        taken = node.next;
        node.next = null;
        // from here on it may be queued again
        node.queued = false;
        return node;
    }

    private static Node reverse(Node newestFirst) {
        Node oldestFirst = null;
        Node node = newestFirst;
        while (node != null) {
            Node next = node.next;
            node.next = oldestFirst;
            oldestFirst = node;
            node = next;
        }
        return oldestFirst;
    }
}
