package io.rdmanio.verbs;

import java.util.HashSet;
import java.util.Set;

/**
 * What asynchronous events can be about: an object, or the device with its ports, and its events that are not
 * acknowledged. The native destroy of an object waits for those, so whoever owns one calls {@link #beginDestroy} first.
 *
 * <p>Thread safety: all methods may be called by any thread; the fields that change are guarded by the lock of
 * {@link AsyncEvents}.
 */
final class AsyncSource {
    final long element;
    final Set<AsyncEvent> unacknowledged = new HashSet<>();
    boolean dying;
    private final AsyncEvents events;
    private final Object subject;

    AsyncSource(AsyncEvents events, long element, Object subject) {
        this.events = events;
        this.element = element;
        this.subject = subject;
    }

    /** The object; null for the device. */
    Object subject() {
        return subject;
    }

    void acknowledge(AsyncEvent event) {
        events.acknowledge(this, event);
    }

    /** Acknowledges what is owed; an event that is taken from now on is acknowledged and passed over. */
    void beginDestroy() {
        events.settle(this);
    }

    /** The native object is gone, and its address may be another's already. */
    void endDestroy() {
        events.forget(this);
    }
}
