package io.rdmanio.verbs.soft;

import java.util.function.Consumer;

/**
 * The rings that the owner of a group looks into by itself: of queues that were told of again and again while the owner did
 * not sleep. Their peers need tell nobody then, which takes both sides several cache lines of the ready set for every
 * message, one after the other. Watching ends when the owner sleeps, when nothing has come for a while, when the queue is polled in
 * vain by somebody else, and when it leaves the group. The owner looks once more then, for what came before was told nobody; who
 * joins the queue to another group looks for that.
 *
 * <p>For one thread at a time, the group's owner. One that never looks again, nor closes the group, keeps eight queues, closed or
 * not, from the collector.
 */
final class WatchedRings {
    private static final int MOST = 8;
    private static final int TELLS_BEFORE_WATCHING = 16;
    private static final int IDLE_LOOKS = 10_000;

    private final Consumer<GroupMember> offering;
    private final GroupMember[] members = new GroupMember[MOST];
    private final Inbound[] rings = new Inbound[MOST];
    /** Behind the last entry that was told of. */
    private final int[] toldEntries = new int[MOST];

    private final int[] idleLooks = new int[MOST];
    private int count;
    /** Which is looked at next: whoever has no place for all shall come to see each. */
    private int next;

    private int sleeps;

    /**
     * Watches none.
     *
     * @param offering told of a queue that has something when it is watched no longer
     */
    WatchedRings(Consumer<GroupMember> offering) {
        this.offering = offering;
    }

    /** A queue was told of because somebody had said so; if that happens often, its ring is watched from now on. */
    void told(GroupMember member) {
        for (int i = 0; i < count; i++) {
            if (members[i] == member) {
                boolean ignored = hasMore(i); // what there is was told of by that
                return;
            }
        }
        if (member.sleepsWhenTold != sleeps) {
            member.sleepsWhenTold = sleeps;
            member.tellsSinceSleep = 0;
        }
        if (++member.tellsSinceSleep > TELLS_BEFORE_WATCHING && count < MOST) {
            member.tellsSinceSleep = 0;
            Inbound ring = member.queue.watchFor(member);
            if (ring != null) {
                members[count] = member;
                rings[count] = ring;
                toldEntries[count] = ring.behindPresent(ring.nextEntry()); // the same
                idleLooks[count] = 0;
                count++;
            }
        }
    }

    /**
     * Tells of the queues whose rings have more entries than when it was told of them last.
     *
     * @param into where their tokens go
     * @param from how many are there already
     * @return how many are there now
     */
    int take(Object[] into, int from) {
        int filled = from;
        for (int left = count; left > 0 && filled < into.length; left--) {
            next = next < count ? next : 0;
            boolean isWatched = rings[next].isWatched(); // before the look, for what came meanwhile was told nobody
            Object token = members[next].token;
            if (token == null || !isWatched) {
                offerIfMore(next); // not told at once: the peer may have said so itself by now
                drop(next);
            } else if (hasMore(next)) {
                into[filled++] = token;
                next++;
            } else if (idleLooks[next] > IDLE_LOOKS) {
                end(next);
            } else {
                next++;
            }
        }
        return filled;
    }

    private boolean hasMore(int i) {
        Inbound ring = rings[i];
        int taken = ring.nextEntry();
        int first = taken - toldEntries[i] > 0 ? taken : toldEntries[i];
        int behind = ring.behindPresent(first);
        toldEntries[i] = behind;
        idleLooks[i] = behind == first ? idleLooks[i] + 1 : 0;
        return behind != first;
    }

    /** The owner is going to sleep: all must be told of from now on. */
    void ownerSleeps() {
        sleeps++;
        while (count > 0) {
            end(count - 1);
        }
    }

    private void end(int i) {
        GroupMember member = members[i];
        member.queue.endWatching(member, rings[i]);
        offerIfMore(i);
        drop(i);
    }

    private void offerIfMore(int i) {
        if (hasMore(i)) {
            offering.accept(members[i]);
        }
    }

    private void drop(int i) {
        int last = --count;
        members[i] = members[last];
        rings[i] = rings[last];
        toldEntries[i] = toldEntries[last];
        idleLooks[i] = idleLooks[last];
        members[last] = null;
        rings[last] = null;
    }
}
