package io.rdmanio.stream;

import java.util.function.Consumer;

/**
 * Whether a selector's thread is in a selection. While it is, it takes in what comes for all channels of the selector. When it
 * stays away, as one that computes, or that writes to what it should read itself, somebody else must.
 *
 * <p>{@link #arrive} and {@link #leave} are for one thread at a time; they cost a store each.
 */
public final class Presence extends Attendance.Attendee {
    /** Told when the timer is to look for this. */
    private final Consumer<Presence> timer;

    private final Runnable whenAway;

    /** How many have ended; published by {@link #away}. */
    private int selections;

    private volatile boolean away;

    /** Whether the timer looks for it. */
    private volatile boolean watched;

    /** The selections when the timer looked last; the timer's business. */
    private int selectionsSeen;

    Presence(Consumer<Presence> timer, Runnable whenAway) {
        this.timer = timer;
        this.whenAway = whenAway;
    }

    /** A selection begins. */
    public void arrive() {
        away = false;
    }

    /** A selection ends. */
    public void leave() {
        selections++;
        away = true;
        if (!watched) {
            watched = true;
            timer.accept(this);
        }
    }

    /** {@inheritDoc} Not thread-safe. */
    @Override
    boolean stillAttended() {
        boolean isAway = away; // read first: it publishes the selections
        if (isAway && selections != selectionsSeen) {
            selectionsSeen = selections;
            return true;
        }
        watched = false; // before it is asked once more: who leaves from now on says so
        if (away) {
            whenAway.run();
        }
        return false;
    }
}
