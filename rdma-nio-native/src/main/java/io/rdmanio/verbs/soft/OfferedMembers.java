package io.rdmanio.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The queues of a group that have something, in the order in which that was found, and whether the group's owner sleeps.
 *
 * <p>Who offers has published what the queue has, and executed a full fence, before; then it looks whether the owner sleeps. The
 * owner says that it sleeps, executes a full fence, and looks. So at least one sees the other. Of all that wake one sleep, one is
 * told to ring.
 *
 * <p>Thread safety: any thread offers; all else is for one thread at a time, the owner, which {@code taken} belongs to, but
 * {@link #isAsleep()}.
 */
final class OfferedMembers {
    private static final VarHandle ASLEEP;

    static {
        try {
            ASLEEP = MethodHandles.lookup()
                    .findVarHandle(OfferedMembers.class, "asleep", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final AtomicReference<GroupMember> offered = new AtomicReference<>();
    private int asleep;

    // The owner's: out of the stack already, the oldest first.
    private GroupMember taken;

    /**
     * Adds a member, unless it is there.
     *
     * @param member the member
     * @return whether the caller must wake the owner
     */
    boolean offer(GroupMember member) {
        if (member.enlist()) {
            GroupMember top;
            do {
                top = offered.get();
                member.next = top;
            } while (!offered.compareAndSet(top, member));
        }
        return isAsleep() && ASLEEP.compareAndSet(this, 1, 0);
    }

    /** Takes out the oldest, which may be offered again from then on; null when there is none. */
    GroupMember poll() {
        if (taken == null) {
            if (offered.getOpaque() == null) {
                return null;
            }
            taken = oldestFirst(offered.getAndSet(null));
        }
        GroupMember member = taken;
        taken = member.next;
        member.next = null;
        member.delist();
        return member;
    }

    private static GroupMember oldestFirst(GroupMember newestFirst) {
        GroupMember oldest = null;
        GroupMember member = newestFirst;
        while (member != null) {
            GroupMember next = member.next;
            member.next = oldest;
            oldest = member;
            member = next;
        }
        return oldest;
    }

    /** Whether there is none. */
    boolean isEmpty() {
        return taken == null && offered.get() == null;
    }

    /** The owner is about to sleep; it executes a full fence and looks afterwards. */
    void beginSleep() {
        ASLEEP.setVolatile(this, 1);
    }

    /** The owner does not sleep. */
    void endSleep() {
        ASLEEP.setVolatile(this, 0);
    }

    /** Whether the owner sleeps and nobody was told to wake it. */
    boolean isAsleep() {
        return (int) ASLEEP.getVolatile(this) != 0;
    }
}
