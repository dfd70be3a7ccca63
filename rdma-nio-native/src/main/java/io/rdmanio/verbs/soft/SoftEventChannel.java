package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.TakenEvent;
import java.io.IOException;
import java.util.Objects;

/**
 * An event channel of the software device. An id that the program has not given one yet has one without a descriptor.
 * Thread-safe.
 */
final class SoftEventChannel implements EventChannelHandle {
    private final ConnectionDevice device;
    private final ConnectionManager manager;
    private final EventQueue queue;

    /**
     * Takes over one use of the host.
     *
     * @param device the device
     * @param queue an empty queue
     */
    SoftEventChannel(ConnectionDevice device, EventQueue queue) {
        this.device = device;
        this.manager = device.connections();
        this.queue = queue;
    }

    /**
     * Opens a channel that can be waited for.
     *
     * @param device the device
     * @param function for whom
     * @return the channel, one more use of the host
     * @throws VerbsException when no descriptor is left
     */
    static SoftEventChannel open(ConnectionDevice device, String function) throws VerbsException {
        EventQueue queue;
        try {
            queue = EventQueue.open();
        } catch (IOException e) {
            throw Failures.of(function, "", e);
        }
        device.retain();
        return new SoftEventChannel(device, queue);
    }

    /** The channel of an id that the program is to give one. */
    static SoftEventChannel hidden(ConnectionDevice device) {
        device.retain();
        return new SoftEventChannel(device, EventQueue.hidden());
    }

    /** Under the manager's lock. */
    EventQueue queue() {
        return queue;
    }

    ConnectionDevice device() {
        return device;
    }

    @Override
    public int fileDescriptor() {
        return queue.fileDescriptor();
    }

    @Override
    public TakenEvent takeEvent() {
        manager.lock.lock();
        try {
            EventQueue.Event event = queue.poll();
            if (event == null) {
                return null;
            }
            return new TakenEvent(
                    0,
                    event.type(),
                    event.status(),
                    event.target().owner().token(),
                    event.request() == null ? null : adopt(event, this),
                    event.privateData(),
                    event.parameters());
        } finally {
            manager.lock.unlock();
        }
    }

    /** The new id of a request that is taken; under the manager's lock. */
    private static SoftCommunicationId adopt(EventQueue.Event event, SoftEventChannel channel) {
        event.target().requestTaken();
        return new SoftCommunicationId(channel, event.request(), PortSpace.TCP);
    }

    /** Takes a request of the listener that has this channel for itself, which has no other events. */
    SoftListener.Request takeRequest() {
        manager.lock.lock();
        try {
            EventQueue.Event event = queue.poll();
            if (event == null) {
                return null;
            }
            SoftCommunicationId id = adopt(event, hidden(device));
            id.ownChannel();
            return new SoftListener.Request(id, event);
        } finally {
            manager.lock.unlock();
        }
    }

    /** Nobody counts: whoever owns an id pays for its events before it destroys the id. */
    @Override
    public void acknowledge(TakenEvent event) {}

    @Override
    public CommunicationIdHandle createId(PortSpace space, long token) {
        SoftCommunicationId id = createId(space);
        id.setToken(token);
        return id;
    }

    SoftCommunicationId createId(PortSpace space) {
        manager.lock.lock();
        try {
            return new SoftCommunicationId(this, manager.create(), space);
        } finally {
            manager.lock.unlock();
        }
    }

    /** Drops what is queued; of a channel that the program does not have. */
    void forgetEvents() {
        manager.run(() -> queue.remove(event -> true));
    }

    /** The name of an event, as rdma_event_str(3) has it. */
    static String eventString(int value) {
        return Objects.requireNonNullElse(CommunicationEventType.of(value).nativeName(), "UNKNOWN EVENT");
    }

    @Override
    public void destroy() {
        manager.lock.lock();
        try {
            queue.close();
        } finally {
            manager.lock.unlock();
        }
        device.release();
    }
}
