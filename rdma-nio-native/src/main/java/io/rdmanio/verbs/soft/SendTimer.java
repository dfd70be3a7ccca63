package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.WorkCompletionStatus;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How long the oldest request of a send queue may wait, and for what: for a peer that is away, for a receive, or for
 * anything that a peer does which is there. The first two are counted for each request. The last is watched by one timer
 * that looks from time to time whether anything has moved, so that requests cost nothing which are answered in time. It
 * must find the peer idle more than once, lest a request ends because this process was stopped itself.
 *
 * <p>{@code io.rdmanio.soft.answerTimeoutMillis}, {@value #DEFAULT_ANSWER_MILLIS} by default, is how long a peer that
 * is there may do nothing, such as a process that was stopped; more, if the queue pair's own timeout and retries allow
 * more. A queue pair whose timeout is 0 waits for ever, as the verbs have it.
 *
 * <p>Thread safety: everything is guarded by the send claim.
 */
final class SendTimer {
    private static final String ANSWER_PROPERTY = "io.rdmanio.soft.answerTimeoutMillis";
    private static final int DEFAULT_ANSWER_MILLIS = 30_000;
    private static final int FOR_EVER = 7;
    // What a progress thread can tell apart, and a receiver's thread can do when the machine is busy.
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long TIMEOUT_UNIT_NANOS = 4_096;
    private static final long MIN_SEARCH_NANOS = TimeUnit.SECONDS.toNanos(2);
    // In the time that a peer may do nothing.
    private static final int LOOKS = 2;
    // The codes of min_rnr_timer in units of 10 microseconds (InfiniBand specification, table "NAK timer").
    private static final int[] PAUSES = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };
    private static final long PAUSE_UNIT_NANOS = TimeUnit.MICROSECONDS.toNanos(10);

    /** A time after which somebody looks. */
    static final class Limit {
        private final int needs;
        private final int position;
        // Of a limit for an answer: how things stood, and how often they were found so since.
        private final int consumed;
        private final int wait;
        private final int idleLooks;
        private ProgressThread.Timer timer;

        private Limit(int needs, int position, int consumed, int wait, int idleLooks) {
            this.needs = needs;
            this.position = position;
            this.consumed = consumed;
            this.wait = wait;
            this.idleLooks = idleLooks;
        }

        /** How the oldest request ends. */
        int status() {
            return (needs == Requester.NEEDS_CREDIT
                            ? WorkCompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED
                            : WorkCompletionStatus.RETRY_EXCEEDED)
                    .value();
        }
    }

    private final SoftQueuePair queuePair;
    private final SendQueue sends;
    private final Consumer<Limit> whenOver;
    private final long answerNanos =
            TimeUnit.MILLISECONDS.toNanos(Math.max(1, Integer.getInteger(ANSWER_PROPERTY, DEFAULT_ANSWER_MILLIS)));
    // Of the oldest request, for a peer or a receive.
    private Limit oldest;
    // For the peer to do anything.
    private Limit answer;
    private boolean waitsForAnswer;
    // How often that has begun: a request may wait for a receive in between, which counts for nothing here.
    private int waits;

    /**
     * Begins with nothing to watch.
     *
     * @param whenOver called by the progress thread when a time is over; asks {@link #isOver} under the claim
     */
    SendTimer(SoftQueuePair queuePair, SendQueue sends, Consumer<Limit> whenOver) {
        this.queuePair = queuePair;
        this.sends = sends;
        this.whenOver = whenOver;
    }

    /**
     * The send queue can't go on for the moment.
     *
     * @param needs why the next request can't be executed; {@link Requester#DONE} when there is none
     * @param peer the peer, or null
     * @param begun whether the next request is under way
     */
    void watch(int needs, Outbound peer, boolean begun) {
        boolean waited = waitsForAnswer;
        waitsForAnswer = false;
        if (sends.head == sends.tail) {
            return;
        }
        boolean unanswered = sends.head != sends.next || begun;
        boolean isAway = peer == null || !Area.isOpen(peer.area.state());
        if (needs == Requester.NEEDS_PEER || (unanswered && isAway)) {
            limit(Requester.NEEDS_PEER, timeoutNanos(peer == null));
        } else if (unanswered ? isStarved(peer) : needs == Requester.NEEDS_CREDIT) {
            limit(Requester.NEEDS_CREDIT, pauseNanos(Area.minRnrTimer(peer.area.state())));
        } else {
            endOldest();
            if (unanswered || needs != Requester.DONE) {
                watchAnswer(peer, waited);
            }
        }
    }

    private static boolean isStarved(Outbound peer) {
        int sequence = peer.area.starved();
        return sequence != 0 && !peer.isConsumed(sequence);
    }

    private void watchAnswer(Outbound peer, boolean waited) {
        waitsForAnswer = true;
        if (!waited) {
            waits++;
        }
        if (answer == null) {
            lookLater(peer, 0);
        }
    }

    private void lookLater(Outbound peer, int idleLooks) {
        if (queuePair.timeout() != 0) {
            answer = begin(
                    new Limit(Requester.NEEDS_ANSWER, sends.head, peer.consumed(), waits, idleLooks),
                    Math.max(answerNanos, timeoutNanos(false)) / LOOKS);
        }
    }

    /**
     * How long the peer may be away; 0 for ever. Finding each other takes the progress threads of two processes, so that
     * a busy machine gets more time for it than a wire would.
     */
    private long timeoutNanos(boolean isUnknown) {
        int code = queuePair.timeout();
        if (code == 0) {
            return 0;
        }
        long nanos = (TIMEOUT_UNIT_NANOS << code) * (queuePair.retryCount() + 1);
        return isUnknown ? Math.max(nanos, MIN_SEARCH_NANOS) : nanos;
    }

    /** How long the peer may have no receive; 0 for ever. */
    private long pauseNanos(int code) {
        int retries = queuePair.rnrRetryCount();
        return retries == FOR_EVER
                ? 0
                : Math.max(PAUSES[code] * PAUSE_UNIT_NANOS, MIN_PAUSE_NANOS) * Math.max(1, retries);
    }

    private void limit(int needs, long nanos) {
        if (oldest != null && oldest.needs == needs && oldest.position == sends.head) {
            return;
        }
        endOldest();
        if (nanos != 0) {
            oldest = begin(new Limit(needs, sends.head, 0, 0, 0), nanos);
        }
    }

    private Limit begin(Limit limit, long nanos) {
        limit.timer = queuePair.schedule(nanos, () -> whenOver.accept(limit));
        return limit;
    }

    /**
     * Whether the oldest request has waited too long. The send queue has just been driven.
     *
     * @param limit what was begun
     * @param peer the peer, or null
     */
    boolean isOver(Limit limit, Outbound peer) {
        if (limit == oldest) {
            oldest = null;
            return true;
        }
        if (limit != answer) {
            return false;
        }
        answer = null;
        if (!waitsForAnswer || peer == null) {
            return false;
        }
        boolean idle = sends.head == limit.position && peer.consumed() == limit.consumed && waits == limit.wait;
        if (idle && limit.idleLooks == LOOKS - 1) {
            return true;
        }
        lookLater(peer, idle ? limit.idleLooks + 1 : 0);
        return false;
    }

    /** The peer is another one: the time until now was not this one's. */
    void attach() {
        waits++;
    }

    /** The oldest request has been completed: the next one has time of its own. */
    void endOldest() {
        if (oldest != null) {
            oldest.timer.cancel();
            oldest = null;
        }
    }

    /** Nothing waits any more, and nothing will. */
    void end() {
        endOldest();
        waitsForAnswer = false;
        if (answer != null) {
            answer.timer.cancel();
            answer = null;
        }
    }
}
