package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The owner's side of a queue pair's area: takes entries out of the ring, has them executed, and tells the initiator how
 * far it has come. Whoever polls the completion queue does it, or the progress thread when the initiator asks for it.
 *
 * <p>Thread safety: {@code claim} guards taking, and with it the responder and the taking end of the receive queue.
 * Attaching and detaching take it too. The list of a completion queue that this is in is that queue's business.
 */
final class Inbound {
    private static final VarHandle ENLISTED;

    static {
        try {
            ENLISTED = MethodHandles.lookup()
                    .findVarHandle(Inbound.class, "enlisted", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The next in a completion queue's list of those that have something. */
    Inbound nextReady;

    private final SoftQueuePair queuePair;
    private final Responder responder;
    private final Claim claim = new Claim();
    // Read by any thread, to see whether there is something; null when detached.
    private volatile Area area;
    private volatile boolean watched;
    private int enlisted;

    // Guarded by claim.
    private int consumed;
    private int announced;
    private int consumedWhenKicked;
    // The next entry was refused, or the queue pair is in error: nothing is taken any more.
    private boolean ended;

    Inbound(SoftQueuePair queuePair, Responder responder) {
        this.queuePair = queuePair;
        this.responder = responder;
    }

    Claim claim() {
        return claim;
    }

    /** The area, or null. */
    Area area() {
        return area;
    }

    /** Begins to receive there. The caller has the claim. */
    void attach(Area fresh) {
        consumed = 0;
        announced = 0;
        consumedWhenKicked = 0;
        ended = false;
        watched = false;
        area = fresh;
    }

    /** Receives no more. The caller has the claim. */
    void detach() {
        area = null;
        watched = false;
        responder.reset();
    }

    boolean isDetached() {
        return area == null;
    }

    // The lists and the attention of the completion queue.

    /** Begins to be in the list. */
    boolean enlist() {
        return (int) ENLISTED.getOpaque(this) == 0 && ENLISTED.compareAndSet(this, 0, 1);
    }

    /** Is no longer in the list; looks at the ring afterwards. */
    void delist() {
        ENLISTED.setVolatile(this, 0);
    }

    boolean isWatched() {
        return watched;
    }

    /** The caller has the completion queue's arming. */
    void setWatched(boolean watch) {
        Area current = area;
        if (current == null || watched == watch) {
            return;
        }
        // Who finds it not to be watched looks into the ring: by then the peer must know.
        if (watch) {
            watched = true;
            current.setWatched(true);
        } else {
            current.setWatched(false);
            watched = false;
        }
    }

    /** Whether an entry waits, read by any thread. */
    boolean hasEntry() {
        Area current = area;
        return current != null && isPresent(current, consumed);
    }

    /** The index of the entry that is taken next, read by any thread. */
    int nextEntry() {
        return consumed;
    }

    /**
     * Looks for entries without taking them, by any thread.
     *
     * @param index of the first to look at, not before {@link #nextEntry}
     * @return the index of the first that is not there
     */
    int behindPresent(int index) {
        Area current = area;
        int behind = index;
        if (current != null) {
            int limit = index + current.ringMask + 1;
            while (behind != limit && isPresent(current, behind)) {
                behind++;
            }
        }
        return behind;
    }

    /** Whether an entry waits whose sender asked for an event. */
    boolean hasSolicited() {
        Area current = area;
        if (current == null) {
            return false;
        }
        for (int index = consumed; isPresent(current, index) && index - consumed <= current.ringMask; index++) {
            int kind = SharedWords.get(current.memory, current.entryOffset(index) + Entry.KIND);
            if ((kind >>> Entry.FLAGS_SHIFT & Entry.SOLICITED) != 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPresent(Area area, int index) {
        return SharedWords.getAcquire(area.memory, area.entryOffset(index) + Entry.SEQUENCE) == index + 1;
    }

    // Taking.

    /**
     * Takes receives for a poller.
     *
     * @param queue the poller's queue
     * @param into where completions go
     * @param count how many are there already
     * @param capacity how many fit
     * @return how many are there now
     */
    int poll(SoftCompletionQueue queue, MemorySegment into, int count, int capacity) {
        if (!hasEntry()) {
            return count;
        }
        // Not given up for the progress thread's sake: it may have looked before this entry came.
        claim.acquire();
        boolean failed = false;
        int now = count;
        responder.beginPoll(into, count, capacity);
        try {
            Area current = area;
            // What the progress thread took before comes first.
            if (current != null && !queue.hasWaiting() && queuePair.isReceiving()) {
                failed = take(current, false);
            }
        } catch (ViolationException e) {
            queuePair.fault(e);
        } finally {
            now = responder.endPoll();
            claim.release();
        }
        if (failed) {
            queuePair.finishError();
        }
        return now;
    }

    /**
     * Takes what is there into the completion queue, and wakes the initiator if it waits. Called by the progress thread.
     *
     * @return false when somebody else was at it, so that it must be called again
     */
    boolean progress() {
        if (area == null) {
            return true;
        }
        if (!claim.tryAcquire()) {
            return false;
        }
        boolean failed = false;
        try {
            Area current = area;
            if (current != null) {
                failed = queuePair.isReceiving() && take(current, true);
                wakeInitiator(current);
            }
        } catch (ViolationException e) {
            queuePair.fault(e);
        } finally {
            claim.release();
        }
        if (failed) {
            queuePair.finishError();
        }
        return true;
    }

    /**
     * Takes what is there when the queue pair ends in error: it arrived before. What arrives afterwards is nobody's, as the
     * receives that the peer has counted on are flushed. The caller has the claim.
     */
    void takeLast() {
        Area current = area;
        try {
            if (current != null) {
                take(current, true);
            }
        } finally {
            ended = true;
            responder.flush();
        }
    }

    /** Executes entries; true when one was refused. */
    private boolean take(Area current, boolean wake) {
        int limit = consumed + current.ringMask + 1;
        boolean failed = false;
        while (!ended && consumed != limit && responder.hasRoom() && isPresent(current, consumed)) {
            int status = responder.execute(current, current.entryOffset(consumed), consumed);
            if (status == Responder.STARVED) {
                break;
            }
            if (status != WorkCompletionStatus.SUCCESS.value()) {
                current.setConsumed(consumed);
                current.setRefusal(status);
                announced = consumed;
                ended = true;
                queuePair.markError();
                queuePair.kickPeer();
                failed = true;
                break;
            }
            consumed++;
        }
        if (consumed != announced) {
            announced = consumed;
            current.setConsumed(consumed);
            if (!wake && current.waiting() != 0) {
                wakeInitiator(current);
            }
        }
        return failed;
    }

    private void wakeInitiator(Area current) {
        // Whoever waits has set its flags, and asked the progress thread to look, before it looked at ours.
        VarHandle.fullFence();
        int waiting = current.waiting();
        if ((waiting & (Area.WAITING_SPACE | Area.WAITING_ACKNOWLEDGEMENT)) != 0 && consumedWhenKicked != consumed) {
            consumedWhenKicked = consumed;
            queuePair.kickPeer();
        }
        if ((waiting & Area.WAITING_CREDIT) != 0) {
            queuePair.wantCredit();
        }
    }
}
