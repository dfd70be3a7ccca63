package io.rdmanio.verbs.soft;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The queues of one process: what is posted or completed while somebody closes or takes. */
public final class QueueStress {
    private QueueStress() {}

    /** A ring of completions whose fields all hold the same number, so that a torn one shows. */
    private static final class Numbered {
        /** What {@link #take} says of a completion that is torn. */
        static final int TORN = 100;

        private final CompletionRing ring;
        private final int most;
        private final MemorySegment memory;

        Numbered(CompletionRing ring, int most) {
            this.ring = ring;
            this.most = most;
            this.memory = Arena.ofAuto().allocate(most * WorkCompletionLayout.SIZE, 8);
        }

        void push(int number) {
            ring.push(null, 0, number, number, number, number, number, number, number);
        }

        /** Takes all there are; returns how many. */
        int take() {
            int count = ring.take(memory, 0, most);
            for (int i = 0; i < count; i++) {
                long base = i * WorkCompletionLayout.SIZE;
                if (WorkCompletionLayout.FLAGS.get(memory, base) != number(i)
                        || WorkCompletionLayout.STATUS.get(memory, base) != number(i)) {
                    return TORN;
                }
            }
            return count;
        }

        /** The number of one of those that were taken last. */
        int number(int index) {
            return (int) WorkCompletionLayout.WORK_REQUEST_ID.get(memory, index * WorkCompletionLayout.SIZE);
        }
    }

    /** Two threads that complete against one that polls. */
    @JCStressTest
    @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "The poller came first.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The poller came between the two.")
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "The poller came last.")
    @Outcome(expect = FORBIDDEN, desc = "A completion was lost, doubled or torn.")
    @State
    public static class PushVersusTake {
        private final Numbered ring = new Numbered(new CompletionRing(2), 2);

        /** Completes. */
        @Actor
        public void first() {
            ring.push(1);
        }

        /** Completes. */
        @Actor
        public void second() {
            ring.push(2);
        }

        /** Polls. */
        @Actor
        public void poller(II_Result result) {
            result.r1 = ring.take();
        }

        /** What is left. */
        @Arbiter
        public void left(II_Result result) {
            result.r2 = ring.take();
        }
    }

    /** A thread that completes more than there are slots for, twice, against one that polls. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "The poller came before both.")
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "The poller came between the two, and saw the slots of either.")
    @Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "The poller came last.")
    @Outcome(expect = FORBIDDEN, desc = "A completion was lost, doubled, torn or out of turn.")
    @State
    public static class GrowVersusTake {
        private static final int OUT_OF_TURN = 200;

        private final Numbered ring = new Numbered(new CompletionRing(4, 1), 4);
        private int next = 1;

        /** One waits already. */
        public GrowVersusTake() {
            ring.push(1);
        }

        private int takeInTurn() {
            int count = ring.take();
            for (int i = 0; count != Numbered.TORN && i < count; i++) {
                if (ring.number(i) != next) {
                    return OUT_OF_TURN;
                }
                next++;
            }
            return count;
        }

        /** Completes two. */
        @Actor
        public void pusher() {
            ring.push(2);
            ring.push(3);
        }

        /** Polls. */
        @Actor
        public void poller(II_Result result) {
            result.r1 = takeInTurn();
        }

        /** What is left. */
        @Arbiter
        public void left(II_Result result) {
            result.r2 = takeInTurn();
        }
    }

    /**
     * A post against the queue pair's end, as {@link Receiver} and {@link SoftQueuePair#finishError} do it: the poster looks
     * at the state under its claim, after it appended; the other changes the state, waits for the claim once, and flushes.
     */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Flushed by who ended it, or by the poster who saw the end.")
    @Outcome(expect = FORBIDDEN, desc = "The request is lost, or completed twice.")
    @State
    public static class CloseVersusPost {
        private final Claim posting = new Claim();
        private final Claim taking = new Claim();
        private final AtomicInteger flushed = new AtomicInteger();
        private volatile boolean isError;
        private int posted;
        private int taken;

        private void flush() {
            taking.acquire();
            posting.acquire();
            int upTo = posted;
            posting.release();
            if (taken != upTo) {
                taken = upTo;
                flushed.incrementAndGet();
            }
            taking.release();
        }

        /** Posts. */
        @Actor
        public void poster() {
            posting.acquire();
            posted++;
            boolean late = isError;
            posting.release();
            if (late) {
                flush();
            }
        }

        /** Ends the queue pair. */
        @Actor
        public void closer() {
            isError = true;
            posting.acquire();
            posting.release();
            flush();
        }

        /** How often it was flushed, and how many are left. */
        @Arbiter
        public void result(II_Result result) {
            result.r1 = flushed.get();
            result.r2 = posted - taken;
        }
    }
}
