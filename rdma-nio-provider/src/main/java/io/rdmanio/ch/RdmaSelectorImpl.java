package io.rdmanio.ch;

import io.rdmanio.linux.Epoll;
import io.rdmanio.linux.EventFd;
import io.rdmanio.stream.BusyPoll;
import io.rdmanio.stream.EventLoop;
import io.rdmanio.stream.Presence;
import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Finds ready keys with one epoll instance, which watches the completion channels of connections, the group of those
 * connections that have none, and one eventfd for what other threads have found. Before it sleeps it looks busily for a
 * while, if that pays ({@link BusyPoll}).
 *
 * <p>A key is either active, that is, found ready and looked at again by every selection, or its watch sleeps and costs
 * nothing until the channel's descriptor becomes readable or another thread queues the key. So a selection costs what the
 * active keys cost. Thread-safe as {@link SelectorImpl} says.
 */
final class RdmaSelectorImpl extends SelectorImpl {
    private static final int EVENTS_AT_ONCE = 512;
    private static final int TOLD_AT_ONCE = 128;

    /** So that a selection comes to its end while ever more is told; who was not told of now comes first with the next. */
    private static final int TOLD_ROUNDS = EVENTS_AT_ONCE / TOLD_AT_ONCE;

    private static final long WAKEUP = -1;
    private static final long GROUP = -2;

    /** A hundred years; more overflows nanoseconds and is as good as endless. */
    private static final long LONGEST_TIMEOUT_MILLIS = TimeUnit.DAYS.toMillis(36_500);

    private final Epoll epoll = new Epoll(EVENTS_AT_ONCE);
    private final EventFd eventFd;
    private final ReadyQueue queue = new ReadyQueue();

    // begin: guarded by the selector's monitor
    private final ArrayList<SelectionKeyImpl> active = new ArrayList<>();
    private SelectionKeyImpl[] keysByDescriptor = new SelectionKeyImpl[64];
    private int descriptors;
    private final BusyPoll busyPoll = new BusyPoll();
    private final Object[] told = new Object[TOLD_AT_ONCE];
    /** What is said of the thread that selects; null while no source needs to know. */
    private Presence presence;

    private EventLoop.Registration virtualWait;
    private volatile Thread virtualWaiter;
    // end

    /** Opened for the first key that needs it; written under the selector's monitor. */
    private volatile CompletionQueueGroup group;

    private final Object updateLock = new Object();
    private final ArrayDeque<SelectionKeyImpl> updates = new ArrayDeque<>(); // guarded by updateLock

    private final Object releaseLock = new Object();
    private boolean released; // guarded by releaseLock

    RdmaSelectorImpl(SelectorProvider provider) throws IOException {
        super(provider);
        try {
            eventFd = new EventFd();
        } catch (IOException e) {
            epoll.close();
            throw e;
        }
        epoll.add(eventFd.fileDescriptor(), Epoll.IN, WAKEUP);
    }

    @Override
    SelectionKeyImpl newKey(SelectableChannel channel) {
        return new SelectionKeyImpl(channel, this);
    }

    // -- from any thread --

    /** The group of completion queues that this selector watches; there is one when a key's source needs it. */
    CompletionQueueGroup group() {
        return group;
    }

    @Override
    public Selector wakeup() {
        if (queue.wakeup()) {
            signal();
        }
        return this;
    }

    void enqueue(SelectionKeyImpl.KeyNode node) {
        if (queue.offer(node)) {
            signal();
        }
    }

    private void signal() {
        synchronized (releaseLock) {
            if (!released) {
                eventFd.signal();
            }
        }
    }

    /** The key's interest set has changed; the next selection goes by it. */
    void interestChanged(SelectionKeyImpl key) {
        synchronized (updateLock) {
            if (!key.updateQueued) {
                key.updateQueued = true;
                updates.add(key);
            }
        }
    }

    // -- a selection --

    @Override
    void findReady(long timeoutMillis) throws IOException {
        lookAtActive();
        applyUpdates();
        lookAtQueued();
        lookAtTold();
        if (timeoutMillis == 0 || !active.isEmpty()) {
            lookAtDescriptors();
            queue.consumeWakeup();
            return;
        }
        boolean endless = timeoutMillis < 0 || timeoutMillis > LONGEST_TIMEOUT_MILLIS;
        long deadlineNanos = System.nanoTime() + (endless ? 0 : TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
        while (true) {
            long leftMillis = endless ? -1 : millisUntil(deadlineNanos);
            if (!lookBusily(endless ? Long.MAX_VALUE : deadlineNanos - System.nanoTime())) {
                leftMillis = endless ? -1 : millisUntil(deadlineNanos);
                handle(sleep(leftMillis));
                lookAtTold();
                lookAtQueued();
            }
            if (queue.consumeWakeup() || !active.isEmpty() || leftMillis == 0) {
                return;
            }
        }
    }

    @Override
    void selectionBegins() {
        if (presence != null) {
            presence.arrive();
        }
    }

    @Override
    void selectionEnds() {
        if (presence != null) {
            presence.leave();
        }
    }

    /** The thread that selects does something else: what comes is taken in without it. */
    private void leaveAlone() {
        forEachKey(key -> {
            ReadinessSource source = key.rdmaChannel().source();
            if (source != null) {
                source.leaveAlone(key.watch);
            }
        });
    }

    private static long millisUntil(long deadlineNanos) {
        long left = deadlineNanos - System.nanoTime();
        return left <= 0 ? 0 : (left + 999_999) / 1_000_000;
    }

    /** Looks for a while before the thread sleeps; returns whether something came of it. */
    private boolean lookBusily(long leftNanos) throws IOException {
        if (leftNanos <= 0 || !busyPoll.begin(System.nanoTime(), leftNanos)) {
            return false;
        }
        boolean found = false;
        try {
            do {
                lookAtTold();
                lookAtDescriptors();
                lookAtQueued();
                found = !active.isEmpty() || !queue.maySleep();
            } while (!found && busyPoll.goesOn());
        } finally {
            busyPoll.end(found);
        }
        return found;
    }

    private int sleep(long millis) throws IOException {
        queue.prepareToSleep();
        CompletionQueueGroup watched = group;
        boolean prepared = false;
        try {
            if (!queue.maySleep()) {
                return epoll.await(0);
            }
            if (watched != null) {
                prepared = watched.prepareToSleep();
                if (!prepared) {
                    return epoll.await(0);
                }
            }
            int bounded = (int) Math.min(millis, Integer.MAX_VALUE);
            if (bounded != 0 && Thread.currentThread().isVirtual()) {
                return parkVirtual(bounded);
            }
            return epoll.await(bounded);
        } finally {
            queue.awake();
            if (prepared) {
                watched.awake();
            }
        }
    }

    /** A virtual thread must not block in a native call: the event loop watches the epoll descriptor for it. */
    private int parkVirtual(int millis) throws IOException {
        virtualWaiter = Thread.currentThread();
        try {
            if (virtualWait == null) {
                virtualWait =
                        EventLoop.get().register(epoll.fileDescriptor(), true, () -> LockSupport.unpark(virtualWaiter));
            } else {
                virtualWait.rearm();
            }
            int count = epoll.await(0);
            if (count == 0) {
                LockSupport.parkNanos(this, millis < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis));
                count = epoll.await(0);
            }
            return count;
        } finally {
            virtualWaiter = null;
        }
    }

    private void lookAtActive() throws IOException {
        for (int i = active.size() - 1; i >= 0; i--) {
            // a key that is ready no more leaves its place to the last, which has been looked at
            lookAt(active.get(i), false);
        }
    }

    private void applyUpdates() throws IOException {
        SelectionKeyImpl key;
        while ((key = nextUpdate()) != null) {
            key.appliedInterest = key.currentInterest();
            lookAtOrKeep(key);
        }
    }

    private SelectionKeyImpl nextUpdate() {
        synchronized (updateLock) {
            SelectionKeyImpl key = updates.poll();
            if (key != null) {
                key.updateQueued = false;
            }
            return key;
        }
    }

    private void lookAtQueued() throws IOException {
        ReadyQueue.Node node;
        while ((node = queue.poll()) != null) {
            lookAtOrKeep(((SelectionKeyImpl.KeyNode) node).key);
        }
    }

    private void lookAtOrKeep(SelectionKeyImpl key) throws IOException {
        try {
            lookAt(key, false);
        } catch (IOException e) {
            // as for want of a descriptor, which the next selection may have
            interestChanged(key);
            throw e;
        }
    }

    /** Looks at keys of whose channels the group tells something. */
    private void lookAtTold() throws IOException {
        CompletionQueueGroup watched = group;
        if (watched == null) {
            return;
        }
        int count = told.length;
        for (int round = 0; round < TOLD_ROUNDS && count == told.length; round++) {
            count = watched.take(told);
            for (int i = 0; i < count; i++) {
                lookAt(((SelectionKeyImpl.KeyWatch) told[i]).key, true);
                told[i] = null;
            }
        }
    }

    private void lookAtDescriptors() throws IOException {
        if (descriptors != 0) {
            handle(epoll.await(0));
        }
    }

    private void handle(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            long data = epoll.data(i);
            if (data == WAKEUP) {
                eventFd.drain();
            } else if (data == GROUP) {
                group.drain();
            } else {
                SelectionKeyImpl key = keysByDescriptor[(int) data];
                if (key != null) {
                    lookAt(key, true);
                }
            }
        }
    }

    /** Asks the channel what is ready, and makes the key active or has its watch sleep. */
    private void lookAt(SelectionKeyImpl key, boolean notified) throws IOException {
        if (key.deregistered) {
            return;
        }
        follow(key);
        int interest = key.isValid() ? key.appliedInterest : 0;
        key.foundReady = key.source == null ? 0 : key.rdmaChannel().readyOps(key.watch, interest, notified);
        if (key.foundReady != 0 && key.activeIndex < 0) {
            key.activeIndex = active.size();
            active.add(key);
        } else if (key.foundReady == 0 && key.activeIndex >= 0) {
            deactivate(key);
        }
    }

    private void deactivate(SelectionKeyImpl key) {
        SelectionKeyImpl last = active.removeLast();
        if (last != key) {
            active.set(key.activeIndex, last);
            last.activeIndex = key.activeIndex;
        }
        key.activeIndex = -1;
    }

    /** Follows the channel to the source it has got and to the source's descriptor. */
    private void follow(SelectionKeyImpl key) throws IOException {
        if (key.source == null) {
            ReadinessSource source = key.rdmaChannel().source();
            if (source == null) {
                return;
            }
            if (source.needsGroup() && group == null) {
                openGroup(source);
            }
            if (presence == null) {
                presence = source.presence(this::leaveAlone);
            }
            key.source = source;
            source.add(key.watch);
        }
        int descriptor = key.source.descriptor();
        if (descriptor >= 0 && key.descriptor < 0) {
            if (descriptor >= keysByDescriptor.length) {
                keysByDescriptor = Arrays.copyOf(keysByDescriptor, Math.max(descriptor + 1, descriptor * 2));
            }
            epoll.add(descriptor, Epoll.IN, descriptor);
            key.descriptor = descriptor;
            keysByDescriptor[descriptor] = key;
            descriptors++;
        }
    }

    private void openGroup(ReadinessSource source) throws IOException {
        CompletionQueueGroup opened = source.openGroup();
        try {
            epoll.add(opened.fileDescriptor(), Epoll.IN, GROUP);
        } catch (IOException e) {
            opened.close();
            throw e;
        }
        group = opened;
    }

    @Override
    int processReady(Consumer<SelectionKey> action) {
        int count = 0;
        for (int i = 0; i < active.size(); i++) {
            SelectionKeyImpl key = active.get(i);
            int ready = key.foundReady & key.currentInterest();
            if (ready != 0 && key.isValid()) {
                count += deliver(key, ready, action);
            }
        }
        return count;
    }

    @Override
    void forget(SelectionKeyImpl key) throws IOException {
        key.deregistered = true;
        if (key.activeIndex >= 0) {
            deactivate(key);
        }
        if (key.source != null) {
            key.source.remove(key.watch);
        }
        if (key.descriptor >= 0) {
            keysByDescriptor[key.descriptor] = null;
            descriptors--;
            epoll.remove(key.descriptor);
        }
    }

    @Override
    void release() throws IOException {
        if (virtualWait != null) {
            virtualWait.close();
        }
        synchronized (releaseLock) {
            released = true;
            CompletionQueueGroup watched = group;
            try (eventFd;
                    watched) {
                epoll.close();
            }
        }
    }
}
