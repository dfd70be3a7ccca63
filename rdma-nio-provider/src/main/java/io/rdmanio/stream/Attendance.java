package io.rdmanio.stream;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

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
    private static final System.Logger LOG = System.getLogger(Attendance.class.getName());

    /** Says whether a connection, or a selector, is in use. It is its own place among the newcomers. */
    abstract static class Attendee {
        /** Written before it is published, read after the newcomers are taken. */
        private Attendee next;

        /**
         * Whether it was in use since it was last asked. If not, it adds itself when it is so again, which may be before this
         * returns.
         */
        abstract boolean stillAttended();
    }

    /** Runs a task again and again, with pauses, until that is cancelled. */
    interface Timer {
        ScheduledFuture<?> every(long nanos, Runnable task);
    }

    /** How long a connection is left alone before the event loop looks after it. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Timer timer;
    /** Whom the timer has not looked at yet, the latest first. */
    private final AtomicReference<Attendee> newcomers = new AtomicReference<>();
    /** Whom the timer looks at; the timer's own. */
    private final List<Attendee> attendees = new ArrayList<>();

    private final Object looksLock = new Object();
    /** Null while the timer rests. */
    private volatile ScheduledFuture<?> looks; // written under looksLock

    Attendance(Timer timer) {
        this.timer = timer;
    }

    /** What a selector says of its thread. */
    Presence presence(Runnable whenAway) {
        return new Presence(this::add, whenAway);
    }

    /** It is in use, and neither looked at nor added yet. */
    void add(Attendee attendee) {
        Attendee latest;
        do {
            latest = newcomers.get();
            attendee.next = latest;
        } while (!newcomers.compareAndSet(latest, attendee));
        if (looks == null) {
            beginLooking();
        }
    }

    private void beginLooking() {
        synchronized (looksLock) {
            if (looks == null) {
                looks = timer.every(LOOK_NANOS, this::look);
            }
        }
    }

    private void look() {
        takeNewcomers();
        for (int i = attendees.size() - 1; i >= 0; i--) {
            if (!isStillAttended(attendees.get(i))) {
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

    private static boolean isStillAttended(Attendee attendee) {
        try {
            return attendee.stillAttended();
        } catch (RuntimeException | Error e) {
            // a bug in one must not keep the others from being asked; it is told loudly
            LOG.log(Level.ERROR, "Whether something is in use can't be found out", e);
            return false;
        }
    }

    private void takeNewcomers() {
        Attendee newcomer = newcomers.getAndSet(null);
        while (newcomer != null) {
            Attendee next = newcomer.next;
            // forgotten before it may be added again
            newcomer.next = null;
            attendees.add(newcomer);
            newcomer = next;
        }
    }

    private void rest() {
        synchronized (looksLock) {
            looks.cancel(false);
            looks = null;
        }
        if (newcomers.get() != null) {
            beginLooking(); // for who came before that and saw the timer at work
        }
    }
}
