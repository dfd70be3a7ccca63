package io.rdmanio.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One stay of a completion queue in a group: its place in the group's list of queues that have something. A queue that
 * moves has another in the next group, so that what the former has not taken out yet holds up nobody.
 *
 * <p>Thread safety: enlisting is by any thread, and whoever takes out of the list delists before the queue is polled;
 * {@code next} belongs to who enlists until it is pushed, and then to the group's owner.
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
    /** What the group tells of the queue by. */
    final Object token;
    /** The next in the list. */
    GroupMember next;

    private int enlisted;

    GroupMember(SoftCompletionQueueGroup group, SoftCompletionQueue queue, Object token) {
        this.group = group;
        this.queue = queue;
        this.token = token;
    }

    /** Begins to be in the list; false when it is in there already. */
    boolean enlist() {
        return (int) ENLISTED.getOpaque(this) == 0 && ENLISTED.compareAndSet(this, 0, 1);
    }

    /** Is no longer in the list; the queue is polled afterwards. */
    void delist() {
        ENLISTED.setVolatile(this, 0);
    }
}
