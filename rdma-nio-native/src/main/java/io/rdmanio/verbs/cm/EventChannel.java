package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.TakenEvent;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Where the events of communication ids arrive ({@code struct rdma_event_channel}): a descriptor that can be waited
 * for, and that is readable while an event is queued.
 *
 * <p>Thread safety: all methods may be called by any thread; events are taken by one at a time. {@code events} guards
 * the table of ids, which of their events are unacknowledged, and an event's way from the native queue into that table;
 * nothing blocks under it. The locks of two channels are taken in the order of the channels' age.
 */
public final class EventChannel implements AutoCloseable {
    private static final AtomicLong CREATED = new AtomicLong();

    private final RdmaEngine engine;
    private final EventChannelHandle handle;
    private final Lifecycle life;
    private final int fileDescriptor;
    private final ReentrantLock events = new ReentrantLock();
    // Ids by token. Native pointers are reused, tokens are not.
    private final Map<Long, CommunicationId> ids = new HashMap<>();
    private final AtomicLong lastToken = new AtomicLong();
    // Two channels are locked in this order.
    private final long order = CREATED.incrementAndGet();

    private EventChannel(RdmaEngine engine, EventChannelHandle handle) {
        this.engine = engine;
        this.handle = handle;
        this.fileDescriptor = handle.fileDescriptor();
        this.life = new Lifecycle(HandleKind.EVENT_CHANNEL, handle::destroy);
    }

    /**
     * Opens an event channel (rdma_create_event_channel(3)). Makes system calls and takes a descriptor.
     *
     * @param engine whose connection manager
     * @return the channel, to be closed by the caller
     * @throws VerbsException when a library is missing, or there is no device, no connection manager or no right to it
     *     ({@code ENODEV}, {@code ENOENT}, {@code EACCES}, or {@code ENOSYS} for all of them: the message tells which), or
     *     no descriptor left ({@code EMFILE})
     */
    public static EventChannel open(RdmaEngine engine) throws VerbsException {
        return new EventChannel(engine, VerbsAccess.get().engine(engine).openEventChannel());
    }

    /**
     * The descriptor, to be waited for. {@code O_NONBLOCK} and {@code FD_CLOEXEC} are set.
     *
     * @return its number; it means nothing after close
     */
    public int fileDescriptor() {
        return fileDescriptor;
    }

    /**
     * Takes an event (rdma_get_cm_event(3)) and finds out whose it is before anybody acknowledges it. A request to
     * connect whose listener was closed is destroyed here, which rejects it, and passed over. Does not block.
     *
     * @return the event, to be closed by the caller; null when none is queued ({@code EAGAIN})
     * @throws VerbsException when it fails
     * @throws IllegalStateException after close
     */
    public CommunicationEvent takeEvent() throws VerbsException {
        life.enter();
        try {
            while (true) {
                CommunicationIdHandle orphan;
                events.lock();
                try {
                    TakenEvent taken = handle.takeEvent();
                    if (taken == null) {
                        return null;
                    }
                    CommunicationEvent event = deliver(taken);
                    if (event != null) {
                        return event;
                    }
                    orphan = taken.newId();
                } finally {
                    events.unlock();
                }
                if (orphan != null) {
                    orphan.destroy();
                }
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Waits for an event and takes it, as {@link #takeEvent} does (rdma_get_cm_event(3)). Blocks; a virtual
     * thread keeps its carrier meanwhile.
     *
     * @param timeoutMillis how long to wait; 0 looks only
     * @return the event, to be closed by the caller; null when the time is over
     * @throws IOException when taking or waiting fails
     * @throws IllegalArgumentException when the timeout is negative
     * @throws IllegalStateException after close, also while waiting
     */
    public CommunicationEvent awaitEvent(int timeoutMillis) throws IOException {
        return Waiting.await(life, fileDescriptor, timeoutMillis, this::takeEvent);
    }

    /** Under {@link #events}. Returns null when whatever the event is for is gone; it is paid then. */
    private CommunicationEvent deliver(TakenEvent taken) {
        CommunicationId target = ids.get(taken.idToken());
        if (target == null) {
            handle.acknowledge(taken);
            return taken.newId() == null ? new CommunicationEvent(taken, null, null, null) : null;
        }
        CommunicationEvent event;
        if (taken.newId() != null) {
            event = new CommunicationEvent(taken, adoptLocked(taken.newId()), target, null);
        } else if (taken.membershipToken() != 0) {
            MulticastMembership membership = target.memberships().find(taken.membershipToken());
            if (membership == null) {
                handle.acknowledge(taken);
                return null;
            }
            event = new CommunicationEvent(taken, target, null, membership);
        } else {
            event = new CommunicationEvent(taken, target, null, null);
        }
        target.unacknowledged.add(event);
        HandleKind.COMMUNICATION_EVENT.opened();
        return event;
    }

    /** Under {@link #events}, and inside the life of this channel. */
    private CommunicationId adoptLocked(CommunicationIdHandle newId) {
        long token = lastToken.incrementAndGet();
        newId.setToken(token);
        return register(newId, token);
    }

    /** Under {@link #events}, and inside the life of this channel. */
    private CommunicationId register(CommunicationIdHandle idHandle, long token) {
        CommunicationId id = new CommunicationId(this, idHandle, token);
        ids.put(token, id);
        return id;
    }

    /**
     * Creates a communication id (rdma_create_id(3)). Makes a system call.
     *
     * @param space its port space
     * @return the id, to be closed by the caller
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when the port space is UNKNOWN
     * @throws IllegalStateException after close
     */
    public CommunicationId createId(PortSpace space) throws VerbsException {
        if (space == PortSpace.UNKNOWN) {
            throw new IllegalArgumentException("a communication id needs a known port space");
        }
        life.enter();
        try {
            long token = lastToken.incrementAndGet();
            CommunicationIdHandle created = handle.createId(space, token);
            events.lock();
            try {
                return register(created, token);
            } finally {
                events.unlock();
            }
        } finally {
            life.exit();
        }
    }

    Lifecycle life() {
        return life;
    }

    RdmaEngine engine() {
        return engine;
    }

    DeviceContext context(ContextHandle contextHandle) {
        return VerbsAccess.get().borrowed(engine, contextHandle);
    }

    /** Takes over an id that was made without a channel: moves it here. */
    CommunicationId adopt(CommunicationIdHandle idHandle) throws VerbsException {
        life.enter();
        try {
            events.lock();
            try {
                idHandle.migrate(handle);
                return adoptLocked(idHandle);
            } finally {
                events.unlock();
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Moves an id. The caller is inside the lives of the id and of both channels, and lets no other move of this id
     * begin. The native call waits for events of the id that were taken and not acknowledged, so it is made when there
     * are none and, with both locks held, nobody can take one.
     */
    void moveTo(EventChannel target, CommunicationId id) throws VerbsException {
        EventChannel first = order < target.order ? this : target;
        EventChannel second = first == this ? target : this;
        first.events.lock();
        try {
            second.events.lock();
            try {
                payLocked(id, event -> true);
                id.handle().migrate(target.handle);
                ids.remove(id.token());
                long token = target.lastToken.incrementAndGet();
                id.handle().setToken(token);
                target.ids.put(token, id);
                id.movedTo(target, token);
            } finally {
                second.events.unlock();
            }
        } finally {
            first.events.unlock();
        }
        id.life().move(life, target.life);
    }

    /** Acknowledges those events of an id that are due and not acknowledged yet. */
    static void pay(CommunicationId debtor, Predicate<CommunicationEvent> due) {
        while (true) {
            EventChannel channel = debtor.channel();
            channel.events.lock();
            try {
                if (debtor.channel() == channel) {
                    channel.payLocked(debtor, due);
                    return;
                }
            } finally {
                channel.events.unlock();
            }
        }
    }

    /** Under {@link #events}. */
    private void payLocked(CommunicationId debtor, Predicate<CommunicationEvent> due) {
        debtor.unacknowledged.removeIf(event -> {
            boolean isDue = due.test(event);
            if (isDue) {
                handle.acknowledge(event.taken());
                HandleKind.COMMUNICATION_EVENT.closed();
            }
            return isDue;
        });
    }

    /**
     * Forgets an id that is about to be destroyed, and acknowledges what it still owes: no event can name it
     * afterwards.
     */
    void forget(CommunicationId id) {
        events.lock();
        try {
            ids.remove(id.token());
            payLocked(id, event -> true);
        } finally {
            events.unlock();
        }
    }

    /**
     * Destroys the channel (rdma_destroy_event_channel(3)) after its ids. Idempotent; waits for calls in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
