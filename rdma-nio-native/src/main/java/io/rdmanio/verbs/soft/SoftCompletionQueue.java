package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A completion queue. Completions of sends, and receives that the progress thread placed, wait in a ring of its own;
 * whoever polls takes further receives straight from the rings of the queue pairs. Which those are is told by the ready
 * sets of the process pairs; those that had something lately are looked at anyway, and while that goes on (they are
 * <em>watched</em>) their peers need not tell.
 *
 * <p>Thread safety: {@code poll} is called by one thread at a time and owns the fields so marked. {@code arming} guards
 * the request for an event, and which queue pairs are watched. {@code ready} and {@code waiting} are stacks that any
 * thread adds to and the poller takes as a whole. The array of links is copied when it changes, under this object's monitor.
 */
final class SoftCompletionQueue implements CompletionQueueHandle {
    /** The most completions that a queue can hold. */
    static final int MAX_ENTRIES = 1 << 22;

    private static final int MAX_ACTIVE = 16;
    private static final int IDLE_POLLS = 2000;
    // How often a queue is polled without an event being asked for, before its queue pairs are watched.
    private static final int POLLS_BEFORE_WATCHING = 16;
    private static final PairLink[] NONE = {};
    private static final VarHandle ARMED;

    static {
        try {
            ARMED = MethodHandles.lookup()
                    .findVarHandle(SoftCompletionQueue.class, "armed", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Where a queue pair receives. */
    private static final class Attachment {
        final ProcessPair pair;
        final Area area;
        /** The slot to be named when the queue has changed the group. */
        int nextArmSlot;

        Attachment(ProcessPair pair, Area area) {
            this.pair = pair;
            this.area = area;
        }
    }

    private final SoftContext context;
    private final SoftCompletionChannel channel;
    private final long token;
    private final long asyncElement;
    private final CompletionRing ring;
    private final AtomicReference<Inbound> ready = new AtomicReference<>();
    private final AtomicReference<Sender> waiting = new AtomicReference<>();
    private volatile PairLink[] links = NONE;
    // Whose completions come here; guarded by this object's monitor.
    private final Map<Inbound, Attachment> attached = new HashMap<>();
    private volatile int attachedCount;
    // The group that tells of this queue; changed under this object's monitor and arming. Never with a channel.
    private volatile GroupMember membership;

    // Guarded by arming.
    private final Claim arming = new Claim();
    private final Inbound[] active = new Inbound[MAX_ACTIVE];
    private int activeCount; // which the poller reads without
    private volatile int wanted;

    // The request for an event as those see it who add to the ring.
    private int armed;
    private volatile boolean overrun;

    // The poller's own.
    private final int[] idlePolls = new int[MAX_ACTIVE];
    private int nextActive;
    private Inbound pending;
    private Inbound lastPending;
    private boolean readyFirst;
    private Sender waitingSenders;
    private int pollsSinceArmed;

    SoftCompletionQueue(SoftContext context, int depthEntries, SoftCompletionChannel channel, long token) {
        this.context = context;
        this.channel = channel;
        this.token = token;
        this.asyncElement = context.nextElement();
        this.ring = new CompletionRing(depthEntries);
        if (channel != null) {
            channel.add(this);
        }
    }

    SoftCompletionChannel channel() {
        return channel;
    }

    long token() {
        return token;
    }

    // Completions come in.

    /**
     * Adds a completion.
     *
     * @param sender whose send it was; null for a receive
     * @param position which of its sends
     * @param solicited whether the peer asked for an event
     */
    void push(
            SendQueue sender,
            int position,
            long workRequestId,
            int status,
            int opcode,
            int lengthBytes,
            int immediate,
            int queuePairNumber,
            int flags,
            boolean solicited) {
        if (!ring.push(
                sender, position, workRequestId, status, opcode, lengthBytes, immediate, queuePairNumber, flags)) {
            overrun();
            return;
        }
        if (channel != null) {
            VarHandle.fullFence();
            notice(solicited || status != 0);
        } else {
            offerToGroup();
        }
    }

    /** Something was published, which who changes the membership looks for afterwards. */
    private void offerToGroup() {
        VarHandle.fullFence();
        GroupMember member = membership;
        if (member != null) {
            member.group.offer(member);
        }
    }

    /** Adds the completion of a receive that nothing will come for. */
    void pushFlushed(long workRequestId, int queuePairNumber) {
        int status = WorkCompletionStatus.FLUSHED.value();
        push(null, 0, workRequestId, status, WorkCompletionOpcode.RECEIVE, 0, 0, queuePairNumber, 0, true);
    }

    private void overrun() {
        if (!overrun) {
            overrun = true;
            context.raise(TakenAsyncEvent.ofObject(AsyncEventType.COMPLETION_QUEUE_ERROR, asyncElement));
        }
    }

    /** Makes the event if one is wanted; a completion was published, and a full fence or an atomic step executed, before. */
    private void notice(boolean solicited) {
        int seen = (int) ARMED.getVolatile(this);
        if (seen != PairHeader.NOT_ARMED
                && (seen == PairHeader.ARMED || solicited)
                && ARMED.compareAndSet(this, seen, PairHeader.NOT_ARMED)) {
            channel.fire();
        }
    }

    /**
     * A queue pair has something in its ring. Called by any thread that took it out of a ready set.
     *
     * @param inbound the queue pair
     * @param taker the queue whose poller took it, which may be this
     */
    void offerReady(Inbound inbound, SoftCompletionQueue taker) {
        boolean enlisted = inbound.enlist();
        if (enlisted) {
            Inbound top;
            do {
                top = ready.get();
                inbound.nextReady = top;
            } while (!ready.compareAndSet(top, inbound));
        }
        if (taker == this) {
            return;
        }
        // Whoever waits may have looked while the queue pair was in nobody's list.
        if (channel == null) {
            // Also when it was in the list: what put it there may have been told of, and a poll have left it there.
            offerToGroup();
        } else if (enlisted) {
            notice((int) ARMED.getVolatile(this) == PairHeader.ARMED_SOLICITED && inbound.hasSolicited());
        }
    }

    // Polling.

    @Override
    public int poll(int capacity, MemorySegment completions) {
        int count = ring.take(completions, 0, capacity);
        if (count == capacity) {
            return count;
        }
        pollsSinceArmed++;
        count = pollQueuePairs(completions, count, capacity);
        while (count < capacity && hasWaiting()) {
            // What came into the ring meanwhile may have held up receives, which must not be left behind.
            count = ring.take(completions, count, capacity);
            count = pollQueuePairs(completions, count, capacity);
        }
        if (count != 0) {
            return count;
        }
        if (waitingSenders != null || waiting.getPlain() != null) {
            progressSenders();
        }
        // What they completed, and the progress thread meanwhile.
        return ring.take(completions, 0, capacity);
    }

    /** Those that are active and those that are ready take turns at being first, lest one kind fills every poll. */
    private int pollQueuePairs(MemorySegment into, int before, int capacity) {
        int count = before;
        if (!readyFirst && activeCount != 0) {
            count = pollActive(into, count, capacity);
        }
        if (membership == null || activeCount != attachedCount || readyFirst) {
            // Otherwise all queue pairs were looked at, and whoever polls the group looks into the ready sets.
            for (PairLink link : links) {
                link.takeReady();
            }
        }
        if (pending != null || ready.getPlain() != null) {
            count = pollReady(into, count, capacity);
        }
        if (readyFirst && activeCount != 0) {
            count = pollActive(into, count, capacity);
        }
        if (count == capacity) {
            readyFirst = !readyFirst;
        }
        return count;
    }

    /** The sends of a queue pair wait for its peer. Called by any thread. */
    void offerWaiting(Sender sender) {
        if (!sender.enlist()) {
            return;
        }
        Sender top;
        do {
            top = waiting.get();
            sender.nextWaiting = top;
        } while (!waiting.compareAndSet(top, sender));
    }

    private void progressSenders() {
        Sender still = progressSenders(waitingSenders, null);
        waitingSenders = progressSenders(waiting.getAndSet(null), still);
    }

    /** Lets those of a list go on; those that wait still are put before a list. */
    private static Sender progressSenders(Sender list, Sender before) {
        Sender still = before;
        Sender sender = list;
        while (sender != null) {
            Sender next = sender.nextWaiting;
            if (sender.progressByPoller()) {
                sender.nextWaiting = still;
                still = sender;
            } else {
                // Whoever begins to wait from now on enlists anew; who did just before is woken by the progress thread.
                sender.nextWaiting = null;
                sender.delist();
            }
            sender = next;
        }
        return still;
    }

    private int pollActive(MemorySegment into, int before, int capacity) {
        int count = before;
        // Downwards, since one that is dropped is replaced by the last; from where the former poll was full.
        int i = Math.min(nextActive, activeCount);
        for (int left = activeCount; left > 0 && count < capacity; left--) {
            i = i == 0 ? activeCount - 1 : i - 1;
            Inbound inbound = active[i];
            int now = inbound.poll(this, into, count, capacity);
            if (now != count) {
                count = now;
                idlePolls[i] = 0;
                if (membership == null && !inbound.isWatched() && pollsSinceArmed > POLLS_BEFORE_WATCHING) {
                    watch(inbound);
                }
            } else if (++idlePolls[i] > IDLE_POLLS || inbound.isDetached()) {
                deactivate(i);
            }
        }
        nextActive = i;
        return count;
    }

    private void watch(Inbound inbound) {
        arming.acquire();
        try {
            if (wanted == PairHeader.NOT_ARMED && membership == null) {
                inbound.setWatched(true);
            }
        } finally {
            arming.release();
        }
    }

    private void activate(Inbound inbound) {
        arming.acquire();
        try {
            for (int i = 0; i < activeCount; i++) {
                if (active[i] == inbound) {
                    return;
                }
            }
            if (activeCount < MAX_ACTIVE) {
                idlePolls[activeCount] = 0;
                active[activeCount++] = inbound;
            }
        } finally {
            arming.release();
        }
    }

    private void deactivate(int index) {
        Inbound inbound = active[index];
        arming.acquire();
        try {
            inbound.setWatched(false);
            int last = --activeCount;
            active[index] = active[last];
            idlePolls[index] = idlePolls[last];
            active[last] = null;
        } finally {
            arming.release();
        }
        keepPending(inbound);
    }

    /** Has the next poll look at a queue pair, if it has something. */
    private void keepPending(Inbound inbound) {
        if (inbound.hasEntry() && inbound.enlist()) {
            addPending(inbound);
        }
    }

    private void addPending(Inbound inbound) {
        inbound.nextReady = null;
        if (pending == null) {
            pending = inbound;
        } else {
            lastPending.nextReady = inbound;
        }
        lastPending = inbound;
    }

    private int pollReady(MemorySegment into, int before, int capacity) {
        takeFresh();
        int count = before;
        boolean held = false;
        while (pending != null && count < capacity && !held) {
            Inbound inbound = pending;
            pending = inbound.nextReady;
            inbound.nextReady = null;
            inbound.delist();
            count = inbound.poll(this, into, count, capacity);
            if (!inbound.isDetached()) {
                activate(inbound);
            }
            held = hasWaiting();
            if (held || count == capacity) {
                keepPending(inbound);
            }
        }
        return count;
    }

    /** Those that came last are on top of the stack. */
    private void takeFresh() {
        Inbound oldest = null;
        Inbound fresh = ready.getAndSet(null);
        while (fresh != null) {
            Inbound next = fresh.nextReady;
            fresh.nextReady = oldest;
            oldest = fresh;
            fresh = next;
        }
        while (oldest != null) {
            Inbound next = oldest.nextReady;
            addPending(oldest);
            oldest = next;
        }
    }

    /** Whether completions wait that are older than what is in the rings of queue pairs. */
    boolean hasWaiting() {
        return !ring.isEmpty();
    }

    // Events.

    @Override
    public int requestNotification(boolean solicitedOnly) {
        if (channel == null) {
            return 0;
        }
        arming.acquire();
        try {
            if (solicitedOnly && wanted == PairHeader.ARMED && !eventHappened()) {
                return 0;
            }
            int kind = solicitedOnly ? PairHeader.ARMED_SOLICITED : PairHeader.ARMED;
            for (int i = 0; i < activeCount; i++) {
                active[i].setWatched(false);
            }
            wanted = kind;
            pollsSinceArmed = 0;
            ARMED.setOpaque(this, kind);
            armLinks(kind);
            VarHandle.fullFence();
        } finally {
            arming.release();
        }
        return 0;
    }

    private void armLinks(int kind) {
        for (PairLink link : links) {
            link.arm(kind);
        }
    }

    /** The caller has arming. */
    private boolean eventHappened() {
        if (wanted == PairHeader.NOT_ARMED) {
            return false;
        }
        if ((int) ARMED.getAcquire(this) == PairHeader.NOT_ARMED) {
            return true;
        }
        for (PairLink link : links) {
            if (link.isDisarmed()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the event that was asked for has happened. */
    boolean hasEvent() {
        if (wanted == PairHeader.NOT_ARMED) {
            return false;
        }
        arming.acquire();
        try {
            return eventHappened();
        } finally {
            arming.release();
        }
    }

    /** Takes the event, so that there is none until one is asked for. */
    boolean takeEvent() {
        if (wanted == PairHeader.NOT_ARMED) {
            return false;
        }
        arming.acquire();
        try {
            if (!eventHappened()) {
                return false;
            }
            wanted = PairHeader.NOT_ARMED;
            ARMED.setOpaque(this, PairHeader.NOT_ARMED);
            armLinks(PairHeader.NOT_ARMED);
            return true;
        } finally {
            arming.release();
        }
    }

    @Override
    public void acknowledgeEvents(int events) {
        // Nothing waits for it: an event holds no reference to the queue.
    }

    // The process pairs whose queue pairs complete here.

    /**
     * A queue pair of a process pair completes here from now on.
     *
     * @param inbound the queue pair's receiving end
     * @param pair the pair that it receives over
     * @param area where; it names where who waits asks to be woken
     * @throws IOException when the pair has no slot left, or no descriptor is
     */
    synchronized void link(Inbound inbound, ProcessPair pair, Area area) throws IOException {
        PairLink link = find(pair);
        int groupSlot = membership == null ? PairLink.NEVER : membership.group.link(pair);
        try {
            if (link == null) {
                link = add(new PairLink(pair, this, channel == null ? null : channel.doorbell(), this));
            } else {
                link.uses++;
            }
        } catch (IOException e) {
            if (membership != null) {
                membership.group.unlink(pair);
            }
            throw e;
        }
        attached.put(inbound, new Attachment(pair, area));
        attachedCount = attached.size();
        area.setArmSlot(membership == null ? link.armSlot : groupSlot);
    }

    private PairLink find(ProcessPair pair) {
        for (PairLink link : links) {
            if (link.pair == pair) {
                return link;
            }
        }
        return null;
    }

    private PairLink add(PairLink link) {
        PairLink[] more = Arrays.copyOf(links, links.length + 1);
        more[links.length] = link;
        arming.acquire();
        try {
            if (channel != null) {
                link.arm(wanted);
            }
            links = more;
        } finally {
            arming.release();
        }
        return link;
    }

    private void remove(PairLink link) {
        // Who arms all of them does so before this, or finds it no more.
        arming.acquire();
        try {
            links = Arrays.stream(links).filter(other -> other != link).toArray(PairLink[]::new);
        } finally {
            arming.release();
        }
    }

    /** A queue pair completes here no longer. */
    void unlink(Inbound inbound) {
        forget(inbound);
        synchronized (this) {
            Attachment former = attached.remove(inbound);
            if (former == null) {
                return;
            }
            attachedCount = attached.size();
            PairLink link = find(former.pair);
            if (--link.uses == 0) {
                remove(link);
                link.close();
            }
            if (membership != null) {
                membership.group.unlink(former.pair);
            }
        }
    }

    // The group.

    /**
     * Joins a group, and leaves the one that it is in.
     *
     * @param group the group
     * @param token by which the group tells of this queue
     * @throws IOException when a process pair has no slot left, or no descriptor is; it is in the former group then
     */
    synchronized void join(SoftCompletionQueueGroup group, Object token) throws IOException {
        GroupMember former = membership;
        if (former == null || former.group != group) {
            linkAll(group);
            enter(group.admit(this, token));
            endStay(former);
        } else {
            GroupMember same = group.admit(this, token);
            assert same == former;
            VarHandle.fullFence();
        }
        if (hasSomething()) {
            group.offer(membership);
        }
    }

    private void linkAll(SoftCompletionQueueGroup group) throws IOException {
        int linked = 0;
        try {
            for (Attachment attachment : attached.values()) {
                attachment.nextArmSlot = group.link(attachment.pair);
                linked++;
            }
        } catch (IOException e) {
            for (Attachment attachment : attached.values()) {
                if (linked-- > 0) {
                    group.unlink(attachment.pair);
                }
            }
            throw e;
        }
    }

    /** Leaves the group, if it is in one. */
    synchronized void leave() {
        for (Attachment attachment : attached.values()) {
            attachment.nextArmSlot = PairLink.NEVER;
        }
        GroupMember former = membership;
        enter(null);
        endStay(former);
    }

    /** Has the peers wake somebody else from now on; what they published before is to be looked for. */
    private void enter(GroupMember next) {
        arming.acquire();
        try {
            // In this order: who wakes the new group finds it to be the queue's.
            membership = next;
            for (Map.Entry<Inbound, Attachment> entry : attached.entrySet()) {
                entry.getKey().setWatched(false);
                entry.getValue().area.setArmSlot(entry.getValue().nextArmSlot);
            }
        } finally {
            arming.release();
        }
        VarHandle.fullFence();
    }

    /**
     * Has the owner of the group look into the ring of the queue's only active queue pair, whose peer need not tell of it then.
     *
     * @param member the place in the group
     * @return where it receives; null when there isn't one, or the queue has left the group
     */
    Inbound watchFor(GroupMember member) {
        arming.acquire();
        try {
            if (membership != member || activeCount != 1) {
                return null;
            }
            Inbound only = active[0];
            only.setWatched(true);
            return only.isWatched() ? only : null;
        } finally {
            arming.release();
        }
    }

    /** Ends that, if the queue has not left the group; who calls looks into the ring afterwards. */
    void endWatching(GroupMember member, Inbound inbound) {
        arming.acquire();
        try {
            if (membership == member) {
                inbound.setWatched(false);
            }
        } finally {
            arming.release();
        }
    }

    private boolean hasSomething() {
        if (hasWaiting()) {
            return true;
        }
        for (Inbound inbound : attached.keySet()) {
            if (inbound.hasEntry()) {
                return true;
            }
        }
        return false;
    }

    private void endStay(GroupMember former) {
        if (former != null) {
            for (Attachment attachment : attached.values()) {
                former.group.unlink(attachment.pair);
            }
            former.group.dismiss(former);
        }
    }

    /** Leaves a group, if it is in that one. */
    synchronized void leave(SoftCompletionQueueGroup group) {
        if (membership != null && membership.group == group) {
            leave();
        }
    }

    /** Watching ends, so that the peer needs the ready set again; the poller finds it detached and drops it. */
    private void forget(Inbound inbound) {
        arming.acquire();
        try {
            inbound.setWatched(false);
        } finally {
            arming.release();
        }
    }

    // The rest.

    @Override
    public int depthEntries() {
        return ring.capacity();
    }

    @Override
    public void resize(int depthEntries) throws VerbsException {
        if (depthEntries > MAX_ENTRIES || !ring.resize(depthEntries)) {
            throw new VerbsException(
                    "ibv_resize_cq",
                    "entries=" + depthEntries,
                    Errno.EINVAL,
                    "A queue holds at most " + MAX_ENTRIES
                            + " completions (maxCompletionQueueEntries), and no fewer than wait to be polled.");
        }
    }

    @Override
    public long asyncElement() {
        return asyncElement;
    }

    @Override
    public void destroy() {
        if (channel != null) {
            channel.remove(this);
        }
        leave();
        context.forget(asyncElement);
    }
}
