package io.rdmanio.verbs.soft;

import io.rdmanio.linux.EventFd;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.Predicate;

/**
 * Events of the connection manager on their way to the program, and the descriptor that is readable while there are any.
 * Not thread-safe: the manager's lock guards all of it, of several queues at once when an id moves between them.
 */
final class EventQueue {
    /**
     * An event.
     *
     * @param type what happened
     * @param status 0, a negative error number, or a reject reason
     * @param target whose it is; the listener's for a request to connect
     * @param request the new id of a request to connect; else null
     * @param privateData what the peer sent along
     * @param parameters what the peer wants, seen from this side
     */
    @SuppressWarnings("ArrayRecordComponent") // Handed on as it is; nobody compares events.
    record Event(
            CommunicationEventType type,
            int status,
            SoftConnection target,
            SoftConnection request,
            byte[] privateData,
            ConnectionParameters parameters) {}

    private final Deque<Event> events = new ArrayDeque<>();
    private final EventFd readable;

    private EventQueue(EventFd readable) {
        this.readable = readable;
    }

    /**
     * A queue that can be waited for.
     *
     * @return the queue, empty
     * @throws IOException when no descriptor is left
     */
    static EventQueue open() throws IOException {
        return new EventQueue(new EventFd());
    }

    /** The queue of an id that is moved to another queue before anybody waits for its events. */
    static EventQueue hidden() {
        return new EventQueue(null);
    }

    int fileDescriptor() {
        return readable.fileDescriptor();
    }

    void add(Event event) {
        events.add(event);
        if (events.size() == 1 && readable != null) {
            readable.signal();
        }
    }

    /** The oldest event; null when there is none. */
    Event poll() {
        Event event = events.poll();
        if (event != null) {
            drainWhenEmpty();
        }
        return event;
    }

    private void drainWhenEmpty() {
        if (events.isEmpty() && readable != null) {
            readable.drain();
        }
    }

    /** Takes out the events of an id, in their order. */
    Deque<Event> remove(Predicate<Event> which) {
        Deque<Event> removed = new ArrayDeque<>();
        for (Iterator<Event> all = events.iterator(); all.hasNext(); ) {
            Event event = all.next();
            if (which.test(event)) {
                all.remove();
                removed.add(event);
            }
        }
        if (!removed.isEmpty()) {
            drainWhenEmpty();
        }
        return removed;
    }

    /** Closes the descriptor; whoever is left in the queue is lost. */
    void close() {
        if (readable != null) {
            readable.close();
        }
    }
}
