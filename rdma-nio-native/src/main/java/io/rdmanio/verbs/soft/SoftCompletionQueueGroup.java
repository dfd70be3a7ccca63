package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionQueueGroupHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Completion queues that one thread watches together. Which of them have something is told by the ready sets of the
 * process pairs, and by whoever adds to a queue; a queue is in the list at most once, and is taken out before it is polled. Into
 * the rings of the busiest the owner looks by itself ({@link WatchedRings}).
 * A request for a wake-up is one word for each process pair, however many queues and queue pairs there are.
 *
 * <p>Thread safety: {@code take}, {@code prepareToSleep} and {@code awake} are called by one thread at a time, the owner; all
 * else by any. This object's monitor, which is taken after those of the queues, guards the links, whose array is copied when
 * it changes, their arm words, so that nobody writes one whose link is closed, and who is a member.
 */
final class SoftCompletionQueueGroup implements CompletionQueueGroupHandle {
    private static final PairLink[] NONE = {};

    private final ConnectionDevice device;
    private final OwnDoorbell doorbell;
    private final OfferedMembers offered = new OfferedMembers();
    private volatile PairLink[] links = NONE;

    // The owner's.
    private final WatchedRings watched = new WatchedRings(this::offer);
    private boolean watchedFirst;

    // Guarded by this: the queues that are in the group, and those that were and are in the list still.
    private final Map<SoftCompletionQueue, GroupMember> members = new HashMap<>();

    /**
     * Makes an empty group.
     *
     * @param device the device, which it keeps open
     * @throws VerbsException when no descriptor is left
     */
    SoftCompletionQueueGroup(ConnectionDevice device) throws VerbsException {
        this.device = device;
        try {
            doorbell = new OwnDoorbell();
        } catch (SystemCallException e) {
            throw SoftContext.failure("a group of completion queues", "", e.errno(), e);
        }
        device.retain();
    }

    @Override
    public int fileDescriptor() {
        return doorbell.fileDescriptor();
    }

    // The queues.

    @Override
    public void add(CompletionQueueHandle queue, Object token) throws VerbsException {
        if (!(queue instanceof SoftCompletionQueue joining)) {
            throw new IllegalArgumentException("the completion queue belongs to another engine");
        }
        try {
            joining.join(this, token);
        } catch (VerbsException e) {
            throw e;
        } catch (SystemCallException e) {
            throw SoftContext.failure("a group of completion queues", "", e.errno(), e);
        } catch (IOException e) {
            throw Failures.of("a group of completion queues", "", e);
        }
    }

    @Override
    public void remove(CompletionQueueHandle queue) {
        if (queue instanceof SoftCompletionQueue leaving) {
            leaving.leave(this);
        }
    }

    /**
     * A queue comes in; the caller has its monitor.
     *
     * @param queue the queue
     * @param token by which to tell of it
     * @return its place, the former one if there is one still
     */
    synchronized GroupMember admit(SoftCompletionQueue queue, Object token) {
        GroupMember member = members.computeIfAbsent(queue, added -> new GroupMember(this, added));
        member.token = token;
        return member;
    }

    /** A queue has left; the caller has its monitor. */
    synchronized void dismiss(GroupMember member) {
        member.token = null;
        if (!member.isEnlisted()) {
            forget(member);
        }
    }

    private synchronized void forget(GroupMember member) {
        if (member.token == null) {
            members.remove(member.queue, member);
        }
    }

    /** Has something, which was published, and a full fence executed, before. Called by any thread. */
    void offer(GroupMember member) {
        if (offered.offer(member)) {
            doorbell.ring();
        }
    }

    // The process pairs.

    /**
     * One more queue pair of a process pair completes in a queue of this group.
     *
     * @param pair the pair
     * @return the slot of the arm word that the queue pair's area is to name
     * @throws IOException when the pair has no slot left, or no descriptor is
     */
    synchronized int link(ProcessPair pair) throws IOException {
        for (PairLink link : links) {
            if (link.pair == pair) {
                link.uses++;
                return link.armSlot;
            }
        }
        PairLink added = new PairLink(pair, this, doorbell, null);
        PairLink[] more = Arrays.copyOf(links, links.length + 1);
        more[links.length] = added;
        links = more;
        VarHandle.fullFence();
        if (offered.isAsleep()) {
            added.arm(PairHeader.ARMED);
        }
        return added.armSlot;
    }

    /** One less. */
    synchronized void unlink(ProcessPair pair) {
        for (PairLink link : links) {
            if (link.pair == pair && --link.uses == 0) {
                links = without(link);
                link.close();
                return;
            }
        }
    }

    private PairLink[] without(PairLink link) {
        PairLink[] present = links;
        PairLink[] fewer = new PairLink[present.length - 1];
        int count = 0;
        for (PairLink other : present) {
            if (other != link) {
                fewer[count++] = other;
            }
        }
        return fewer;
    }

    // The owner.

    @Override
    public int take(Object[] into) {
        // in turns, lest one kind takes all places every time
        watchedFirst = !watchedFirst;
        if (watchedFirst) {
            return takeOffered(into, watched.take(into, 0));
        }
        return watched.take(into, takeOffered(into, 0));
    }

    private int takeOffered(Object[] into, int from) {
        for (PairLink link : links) {
            link.takeReady();
        }
        int count = from;
        while (count < into.length) {
            GroupMember member = offered.poll();
            if (member == null) {
                break;
            }
            Object token = member.token;
            if (token != null) {
                into[count++] = token;
                watched.told(member);
            } else {
                forget(member);
            }
        }
        return count;
    }

    @Override
    public boolean prepareToSleep() {
        watched.ownerSleeps();
        synchronized (this) {
            offered.beginSleep();
            armAll(PairHeader.ARMED);
        }
        VarHandle.fullFence();
        if (hasSomething()) {
            awake();
            return false;
        }
        return true;
    }

    private boolean hasSomething() {
        if (!offered.isEmpty()) {
            return true;
        }
        for (PairLink link : links) {
            if (link.mayHaveReady()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public synchronized void awake() {
        offered.endSleep();
        armAll(PairHeader.NOT_ARMED);
    }

    /** The caller has the monitor. */
    private void armAll(int kind) {
        for (PairLink link : links) {
            link.arm(kind);
        }
    }

    @Override
    public void signal() {
        doorbell.ring();
    }

    @Override
    public void drain() {
        doorbell.drain();
    }

    @Override
    public void destroy() {
        List<GroupMember> present;
        synchronized (this) {
            present = List.copyOf(members.values());
        }
        for (GroupMember member : present) {
            // And with the last of them the links go.
            member.queue.leave(this);
        }
        assert links.length == 0;
        doorbell.close();
        device.release();
    }
}
