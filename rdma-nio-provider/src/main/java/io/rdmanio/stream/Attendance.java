package io.rdmanio.stream;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Finds the connections that the application leaves alone: nobody waits for them, and nobody has looked at them for a while. What
 * their peers send must be taken in all the same, as a kernel does, so that the buffer grows to what it may be and a peer that
 * writes before the application reads is not held up at its first half.
 *
 * <p>A timer looks at the connections that were in use when it looked last; while there are none, it rests. Thread-safe.
 */
final class Attendance {
    /** How long a connection is left alone before the event loop looks after it. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final StreamRuntime runtime;
    private final Set<StreamConnection> attended = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    Attendance(StreamRuntime runtime) {
        this.runtime = runtime;
    }

    /** Somebody uses a connection, or did; it says itself when that is no longer so. */
    void add(StreamConnection connection) {
        attended.add(connection);
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
        if (!attended.isEmpty()) {
            lookSoon();
        }
    }
}
