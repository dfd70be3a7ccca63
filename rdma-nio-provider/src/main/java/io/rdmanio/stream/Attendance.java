package io.rdmanio.stream;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Finds the connections that the application leaves alone: nobody waits for them, or a selector does whose thread is busy with
 * something else, and nobody has looked at them for a while. What their peers send must be taken in all the same, as a kernel
 * does, so that the buffer grows to what it may be and a peer that writes before the application reads is not held up at its
 * first half.
 *
 * <p>A timer looks at the connections and selectors that were in use when it looked last; while there are none, it rests.
 * Thread-safe.
 */
final class Attendance {
    /** How long a connection is left alone before the event loop looks after it. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final StreamRuntime runtime;
    private final Set<StreamConnection> attended = ConcurrentHashMap.newKeySet();
    private final Set<Presence> watched = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    Attendance(StreamRuntime runtime) {
        this.runtime = runtime;
    }

    /** What a selector says of its thread. */
    Presence presence(Runnable whenAway) {
        return new Presence(this::add, whenAway);
    }

    /** Somebody uses a connection, or did; it says itself when that is no longer so. */
    void add(StreamConnection connection) {
        attended.add(connection);
        lookSoon();
    }

    /** A selector's thread is away from now on; it says itself when it is so again after this has ended to look for it. */
    private void add(Presence presence) {
        watched.add(presence);
        lookSoon();
    }

    private void lookSoon() {
        if (looking.compareAndSet(false, true)) {
            var _ = runtime.after(LOOK_NANOS, this::look);
        }
    }

    private void look() {
        looking.set(false);
        attended.removeIf(connection -> !connection.stillAttended());
        for (Presence presence : List.copyOf(watched)) {
            // removed first, for it may be added again at any moment
            watched.remove(presence);
            if (presence.stillWatched()) {
                watched.add(presence);
            }
        }
        if (!attended.isEmpty() || !watched.isEmpty()) {
            lookSoon();
        }
    }
}
