package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ListenerHandle;

/** A listener that has an event channel for itself. Thread-safe. */
final class SoftListener implements ListenerHandle {
    /** A request that was taken, with its event. */
    record Request(SoftCommunicationId id, EventQueue.Event event) {}

    private final SoftCommunicationId id;
    private final SoftEventChannel channel;

    SoftListener(SoftCommunicationId id, SoftEventChannel channel) {
        this.id = id;
        this.channel = channel;
    }

    @Override
    public CommunicationIdHandle id() {
        return id;
    }

    @Override
    public int fileDescriptor() {
        return channel.fileDescriptor();
    }

    @Override
    public TakenRequest takeRequest() {
        Request request = channel.takeRequest();
        return request == null
                ? null
                : new TakenRequest(
                        request.id(),
                        request.event().privateData(),
                        request.event().parameters(),
                        null);
    }
}
