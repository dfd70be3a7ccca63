package io.rdmanio.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Finds the connections that the application leaves alone: nobody waits for them, or a selector does whose thread is busy with
 * something else, and nobody has looked at them for a while. What their peers send must be taken in all the same, as a kernel
 * does, so that the buffer grows to what it may be and a peer that writes before the application reads is not held up at its
 * first half.
 *
 * <p>A timer looks at the connections and selectors that were in use when it looked last; while there are none, it rests. A
 * look leaves no garbage. Thread-safe.
 */
final class Attendance {
    /** What may be in use: a connection, or a selector. */
    interface Attendee {
        /**
         * Whether it was in use since it was last asked. If not, it adds itself when it is so again, which may be before this
         * returns.
         */
        boolean stillAttended();
    }

    /** How long a connection is left alone before the event loop looks after it. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final StreamRuntime runtime;
    private final Queue<Attendee> newcomers = new ConcurrentLinkedQueue<>();
    /** Whom the timer looks at; the timer's own. */
    private final List<Attendee> attendees = new ArrayList<>();

    private final Object looksLock = new Object();
    /** Null while the timer rests. */
    private volatile ScheduledFuture<?> looks; // written under looksLock

    Attendance(StreamRuntime runtime) {
        this.runtime = runtime;
    }

    /** What a selector says of its thread. */
    Presence presence(Runnable whenAway) {
        return new Presence(this::add, whenAway);
    }

    /** It is in use, and not looked at yet. */
    void add(Attendee attendee) {
        newcomers.add(attendee);
        if (looks == null) {
            beginLooking();
        }
    }

    private void beginLooking() {
        synchronized (looksLock) {
            if (looks == null) {
                looks = runtime.every(LOOK_NANOS, this::look);
            }
        }
    }

    private void look() {
        for (Attendee newcomer = newcomers.poll(); newcomer != null; newcomer = newcomers.poll()) {
            attendees.add(newcomer);
        }
        for (int i = attendees.size() - 1; i >= 0; i--) {
            if (!attendees.get(i).stillAttended()) {
                // its place is for the last, which has been asked
                Attendee last = attendees.removeLast();
                if (i < attendees.size()) {
                    attendees.set(i, last);
                }
            }
        }
        if (attendees.isEmpty()) {
            rest();
        }
    }

    private void rest() {
        synchronized (looksLock) {
            looks.cancel(false);
            looks = null;
        }
        if (!newcomers.isEmpty()) {
            beginLooking(); // for who came before that and saw the timer at work
        }
    }
}
