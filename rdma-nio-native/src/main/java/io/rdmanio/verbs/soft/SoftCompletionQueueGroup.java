package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionQueueGroupHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Completion queues that one thread watches together. Which of them have something is told by the ready sets of the
 * process pairs, and by whoever adds to a queue; a queue is in the list at most once, and is taken out before it is polled.
 * A request for a wake-up is one word for each process pair, however many queues and queue pairs there are.
 *
 * <p>Thread safety: {@code take}, {@code prepareToSleep} and {@code awake} are called by one thread at a time, which owns
 * {@code taken}; all else by any. Who offers publishes first and then looks whether the owner sleeps, and the owner says that it
 * sleeps and then looks, both with a full fence between. The array of links is copied when it changes, under this
 * object's monitor, which is taken after those of the queues.
 */
final class SoftCompletionQueueGroup implements CompletionQueueGroupHandle {
    private static final PairLink[] NONE = {};
    private static final VarHandle ASLEEP;

    static {
        try {
            ASLEEP = MethodHandles.lookup()
                    .findVarHandle(SoftCompletionQueueGroup.class, "asleep", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ConnectionDevice device;
    private final OwnDoorbell doorbell;
    private final AtomicReference<GroupMember> offered = new AtomicReference<>();
    private volatile PairLink[] links = NONE;
    private int asleep;

    // The owner's: out of the list already.
    private GroupMember taken;

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
        try {
            ((SoftCompletionQueue) queue).join(this, token);
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
        ((SoftCompletionQueue) queue).leave(this);
    }

    /** Has something, which was published, and a full fence executed, before. Called by any thread. */
    void offer(GroupMember member) {
        if (member.enlist()) {
            GroupMember top;
            do {
                top = offered.get();
                member.next = top;
            } while (!offered.compareAndSet(top, member));
        }
        if ((int) ASLEEP.getVolatile(this) != 0 && ASLEEP.compareAndSet(this, 1, 0)) {
            doorbell.ring();
        }
    }

    // The process pairs.

    /**
     * One more queue pair of a process pair completes in a queue of this group.
     *
     * @param pair the pair
     * @return what the queue pair's area is to say of whom to notify
     * @throws IOException when the pair has no slot left, or no descriptor is
     */
    synchronized int link(ProcessPair pair) throws IOException {
        for (PairLink link : links) {
            if (link.pair == pair) {
                link.uses++;
                return link.notifyWord;
            }
        }
        PairLink added = new PairLink(pair, this, doorbell, null);
        PairLink[] more = Arrays.copyOf(links, links.length + 1);
        more[links.length] = added;
        links = more;
        VarHandle.fullFence();
        if ((int) ASLEEP.getVolatile(this) != 0) {
            added.arm(PairHeader.ARMED);
        }
        return added.notifyWord;
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
        for (PairLink link : links) {
            link.takeReady();
        }
        int count = 0;
        while (count < into.length) {
            if (taken == null) {
                if (offered.getPlain() == null) {
                    break;
                }
                taken = oldestFirst(offered.getAndSet(null));
            }
            GroupMember member = taken;
            taken = member.next;
            member.next = null;
            // From here on it may be offered again.
            member.delist();
            if (member.queue.isPresent(member)) {
                into[count++] = member.token;
            }
        }
        return count;
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

    @Override
    public boolean prepareToSleep() {
        ASLEEP.setVolatile(this, 1);
        armAll(PairHeader.ARMED);
        VarHandle.fullFence();
        if (hasSomething()) {
            awake();
            return false;
        }
        return true;
    }

    private boolean hasSomething() {
        if (taken != null || offered.get() != null) {
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
    public void awake() {
        ASLEEP.setVolatile(this, 0);
        armAll(PairHeader.NOT_ARMED);
    }

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
        synchronized (this) {
            for (PairLink link : links) {
                link.close();
            }
            links = NONE;
        }
        doorbell.close();
        device.release();
    }
}
