package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * Sees to it that somebody is told of a connection's completions: whoever sleeps, by their own group of completion queues or by
 * the descriptor of the connection's completion channel; and the event loop, which wakes all, when several sleep, when
 * something goes on by itself, and when the application leaves the connection alone. Guarded by the connection's lock but for
 * {@link #descriptor} and {@link #stillAttended}.
 */
final class CompletionWatch extends Attendance.Attendee {
    private static final System.Logger LOG = System.getLogger(CompletionWatch.class.getName());

    private final StreamConnection connection;
    private final StreamRuntime runtime;

    /** Null before there is anything to be told. */
    private StreamResources resources;

    private EventLoop.Registration loopRegistration;
    private boolean armed;

    /** The group that tells of the completions, and what it tells. */
    private CompletionQueueGroup joined;

    private Object joinedToken;

    /** How often somebody has looked, and how often when the timer did. */
    private int looks;

    private int looksSeen;

    /** Whether the timer looks for whether somebody does. */
    private boolean attended;

    /** Whether nobody has for a while, so that the event loop does. */
    private boolean unattended;

    private volatile int descriptor = -1;

    CompletionWatch(StreamConnection connection, StreamRuntime runtime) {
        this.connection = connection;
        this.runtime = runtime;
    }

    /**
     * There are resources, and soon completions. The peer gets to know the event loop's group, lest the want of a descriptor for
     * that breaks the stream later.
     */
    void introduce(StreamResources made) throws VerbsException {
        if (connection.needsGroup()) {
            runtime.loopGroup().add(made.completionQueue, connection);
            // until somebody sleeps nobody need be woken
            runtime.loopGroup().remove(made.completionQueue);
        }
        resources = made;
    }

    /** The connection is established. */
    void begin() {
        if (!connection.needsGroup()) {
            descriptor = resources.completionChannel.fileDescriptor();
        }
    }

    /** The descriptor of the completion channel, or -1. Needs no lock. */
    int descriptor() {
        return descriptor;
    }

    /**
     * Sees to it that somebody is told of what comes after what was taken in, if there is somebody.
     *
     * @return whether to take in once more, and ask again: what completed before the queue was armed is not told
     */
    boolean prepare() {
        if (connection.needsGroup()) {
            if (connection.goesOnByItself()) {
                join();
            }
            return false;
        }
        if (armed || !connection.needsNotification()) {
            return false;
        }
        try {
            resources.completionQueue.requestNotification(false);
            armed = true;
        } catch (VerbsException e) {
            connection.breakOff(e);
        }
        return armed;
    }

    /** The descriptor was readable. */
    void takeEvent() {
        if (connection.needsGroup()) {
            return;
        }
        try {
            if (resources.completionChannel.takeEvent() != null) {
                armed = false;
            }
        } catch (VerbsException e) {
            connection.breakOff(e);
        }
    }

    /** Others sleep than before. */
    void sleepersChanged() {
        if (connection.needsGroup()) {
            join();
        }
    }

    /** Has the event loop told, which wakes those who can't watch. */
    void byEventLoop() throws IOException {
        if (connection.needsGroup()) {
            join();
        } else if (loopRegistration == null) {
            loopRegistration = EventLoop.get().register(descriptor, false, connection::descriptorReady);
        }
    }

    /** Spares the event loop what nobody needs it for. */
    void reviewEventLoop() {
        if (!connection.goesOnByItself() && !connection.anyoneParks()) {
            leaveEventLoop();
        }
    }

    private void leaveEventLoop() {
        if (loopRegistration != null) {
            loopRegistration.close();
            loopRegistration = null;
        }
    }

    /** The resources are going to be destroyed, which makes the queue leave its group. */
    void end() {
        leaveEventLoop();
        forgetGroup();
    }

    // -- groups --

    /**
     * Has the completions told to whoever sleeps, or to the event loop: a selector whose thread does something else is no help
     * where something goes on by itself.
     */
    private void join() {
        boolean byItself = connection.goesOnByItself();
        Sleeper sleeper = byItself ? null : connection.onlySleeper();
        if (sleeper == null && !byItself) {
            return; // who sleeps next says where to tell
        }
        CompletionQueueGroup wanted = sleeper == null ? null : sleeper.group();
        try {
            if (wanted != null) {
                join(wanted, sleeper.token());
                return;
            }
        } catch (VerbsException e) {
            LOG.log(Level.DEBUG, "No descriptor to tell a peer of a sleeper; the event loop wakes it", e);
        }
        try {
            join(runtime.loopGroup(), connection);
        } catch (VerbsException e) {
            connection.breakOff(e);
        }
    }

    private void join(CompletionQueueGroup group, Object token) throws VerbsException {
        if (group != joined || !token.equals(joinedToken)) {
            group.add(resources.completionQueue, token);
            joined = group;
            joinedToken = token;
        }
    }

    private void leaveGroup() {
        joined.remove(resources.completionQueue);
        forgetGroup();
    }

    private void forgetGroup() {
        joined = null;
        joinedToken = null;
    }

    /** A watch looks no longer: its selector shall neither be woken for this nor be kept from the garbage collector. */
    void removed(Watch watch) {
        if (watch.equals(joinedToken)) {
            leaveGroup();
        }
    }

    // -- whether the application looks --

    /** Whether it has not for a while. */
    boolean unattended() {
        return unattended;
    }

    /** Somebody looks, or has stopped waiting and may never look again; the timer finds out if the stream is established. */
    void attend(boolean established) {
        looks++;
        if (!attended && established) {
            attended = true;
            runtime.attendance().add(this);
        }
        lookedAt();
    }

    void lookedAt() {
        if (!unattended) {
            return;
        }
        unattended = false;
        reviewEventLoop();
        if (joined != null && !connection.anyoneSleeps() && !connection.goesOnByItself()) {
            leaveGroup();
        }
    }

    /**
     * Nobody looks.
     *
     * @return whether that is new, and the event loop looks after the connection from now on
     */
    boolean leftAlone() {
        if (unattended) {
            return false;
        }
        unattended = true;
        try {
            byEventLoop();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "What comes for " + connection + " waits until the application looks", e);
            unattended = false;
        }
        return unattended;
    }

    /** {@inheritDoc} If nobody looks, nor waits, the event loop takes over. Who has the lock is not held up: it is in use. */
    @Override
    boolean stillAttended() {
        if (!connection.lock.tryLock()) {
            return true;
        }
        try {
            boolean used = looks != looksSeen;
            looksSeen = looks;
            boolean sleeps = connection.anyoneSleeps();
            attended = used && connection.established() && !sleeps;
            if (!used && !sleeps) {
                connection.leftAlone();
            }
            return attended;
        } finally {
            connection.lock.unlock();
        }
    }
}
