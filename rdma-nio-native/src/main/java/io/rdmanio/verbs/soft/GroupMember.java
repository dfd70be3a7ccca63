package io.rdmanio.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A completion queue's place in a group: that it belongs there, and is in the group's list of queues that have something. A
 * queue that moves has another in the next group, so that what the former has not taken out yet holds up nobody; one that
 * comes back while its place is in the list still has the same again, so that the list grows no longer than there are queues.
 *
 * <p>Thread safety: enlisting is by any thread, and whoever takes out of the list delists before the queue is polled;
 * {@code next} belongs to who enlists until it is pushed, and then to the group's owner, whose all the rest is but {@code token},
 * which changes under the monitor of the queue and of the group.
 */
final class GroupMember {
    private static final VarHandle ENLISTED;

    static {
        try {
            ENLISTED = MethodHandles.lookup()
                    .findVarHandle(GroupMember.class, "enlisted", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final SoftCompletionQueueGroup group;
    final SoftCompletionQueue queue;
    /** What the group tells of the queue by; null when the queue is not in the group. */
    volatile Object token;
    /** The next in the list. */
    GroupMember next;

    // begin: of WatchedRings
    int tellsSinceSleep;
    int sleepsWhenTold;
    // end

    private int enlisted;

    GroupMember(SoftCompletionQueueGroup group, SoftCompletionQueue queue) {
        this.group = group;
        this.queue = queue;
    }

    /** Begins to be in the list; false when it is in there already. */
    boolean enlist() {
        return !isEnlisted() && ENLISTED.compareAndSet(this, 0, 1);
    }

    /** Whether it is in the list, or about to be. */
    boolean isEnlisted() {
        return (int) ENLISTED.getOpaque(this) != 0;
    }

    /** Is no longer in the list; the queue is polled afterwards. */
    void delist() {
        ENLISTED.setVolatile(this, 0);
    }
}
