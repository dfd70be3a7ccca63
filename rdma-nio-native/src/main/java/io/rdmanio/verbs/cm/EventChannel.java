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
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the events of communication ids arrive ({@code struct rdma_event_channel}): a descriptor that can be waited
 * for, and that is readable while an event is queued.
 *
 * <p>Thread safety: all methods may be called by any thread; events are taken by one at a time. {@code events} guards
 * the table of ids, which events are unacknowledged, and an event's way from the native queue into that table; nothing
 * blocks under it.
 */
public final class EventChannel implements AutoCloseable {
    private final RdmaEngine engine;
    private final EventChannelHandle handle;
    private final Lifecycle life;
    private final int fileDescriptor;
    private final ReentrantLock events = new ReentrantLock();
    // Ids by token. Native pointers are reused, tokens are not.
    private final Map<Long, CommunicationId> ids = new HashMap<>();
    private final AtomicLong lastToken = new AtomicLong();

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
                    CommunicationId target = ids.get(taken.idToken());
                    if (target != null || taken.newId() == null) {
                        return deliver(taken, target);
                    }
                    handle.acknowledge(taken);
                    orphan = taken.newId();
                } finally {
                    events.unlock();
                }
                orphan.destroy();
            }
        } finally {
            life.exit();
        }
    }

    /** Under {@link #events}. */
    private CommunicationEvent deliver(TakenEvent taken, CommunicationId target) {
        if (target == null) {
            handle.acknowledge(taken);
            return new CommunicationEvent(this, taken, null, null);
        }
        CommunicationEvent event = taken.newId() == null
                ? new CommunicationEvent(this, taken, target, null)
                : new CommunicationEvent(this, taken, adopt(taken.newId()), target);
        target.unacknowledged.add(event);
        HandleKind.COMMUNICATION_EVENT.opened();
        return event;
    }

    /** Under {@link #events}, and inside the life of this channel. */
    private CommunicationId adopt(CommunicationIdHandle newId) {
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

    DeviceContext context(ContextHandle contextHandle) {
        return VerbsAccess.get().borrowed(engine, contextHandle);
    }

    /** Acknowledges an event, once. */
    void acknowledge(CommunicationEvent event, CommunicationId debtor) {
        events.lock();
        try {
            if (debtor.unacknowledged.remove(event)) {
                pay(event);
            }
        } finally {
            events.unlock();
        }
    }

    /** Under {@link #events}. */
    private void pay(CommunicationEvent event) {
        handle.acknowledge(event.taken());
        HandleKind.COMMUNICATION_EVENT.closed();
    }

    /**
     * Forgets an id that is about to be destroyed, and acknowledges what it still owes: no event can name it
     * afterwards.
     */
    void forget(CommunicationId id, long token) {
        events.lock();
        try {
            ids.remove(token);
            id.unacknowledged.forEach(this::pay);
            id.unacknowledged.clear();
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
