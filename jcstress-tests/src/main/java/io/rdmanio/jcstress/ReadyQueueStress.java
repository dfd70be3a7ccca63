package io.rdmanio.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.ch.ReadyQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** {@link ReadyQueue}: no wake-up is lost, no key is lost, and no key is queued twice. */
public final class ReadyQueueStress {
    private ReadyQueueStress() {}

    private static final class Key extends ReadyQueue.Node {
        volatile int ready;
    }

    /** A key becomes ready while the selector goes to sleep. r1: the offerer must signal; r2: the selector sleeps. */
    @JCStressTest
    @Outcome(
            id = "false, false",
            expect = ACCEPTABLE,
            desc = "The offer was complete before the selector announced its sleep.")
    @Outcome(
            id = "true, false",
            expect = ACCEPTABLE,
            desc = "The selector announced, the offer saw that, the selector saw the key.")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The selector slept before the offer, which wakes it.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "Neither saw the other: the wake-up is lost.")
    @State
    public static class OfferAgainstSleep {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key key = new Key();

        @Actor
        public void offer(ZZ_Result result) {
            result.r1 = queue.offer(key);
        }

        @Actor
        public void sleep(ZZ_Result result) {
            queue.prepareToSleep();
            result.r2 = queue.maySleep();
        }
    }

    /** wakeup() is called while the selector goes to sleep. r1: the caller must signal; r2: the selector sleeps. */
    @JCStressTest
    @Outcome(
            id = "false, false",
            expect = ACCEPTABLE,
            desc = "The call was complete before the selector announced its sleep.")
    @Outcome(
            id = "true, false",
            expect = ACCEPTABLE,
            desc = "The selector announced, the call saw that, the selector saw the call.")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The selector slept before the call, which wakes it.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "Neither saw the other: the wake-up is lost.")
    @State
    public static class WakeupAgainstSleep {
        private final ReadyQueue queue = new ReadyQueue();

        @Actor
        public void wakeup(ZZ_Result result) {
            result.r1 = queue.wakeup();
        }

        @Actor
        public void sleep(ZZ_Result result) {
            queue.prepareToSleep();
            result.r2 = queue.maySleep();
        }
    }

    /**
     * wakeup() is called while a selection ends, which takes the wake-up if there is one. r1, r2: this selection takes it, and the
     * next.
     */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The call came before this selection looked, and ends it.")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The call came after that, and ends the next.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "The wake-up is lost.")
    @Outcome(id = "true, true", expect = FORBIDDEN, desc = "One wake-up ends two selections.")
    @State
    public static class WakeupAgainstConsume {
        private final ReadyQueue queue = new ReadyQueue();

        @Actor
        public void wakeup() {
            boolean ignored = queue.wakeup();
        }

        @Actor
        public void selection(ZZ_Result result) {
            result.r1 = queue.consumeWakeup();
        }

        @Arbiter
        public void nextSelection(ZZ_Result result) {
            result.r2 = queue.consumeWakeup();
        }
    }

    /** Two threads wake one sleep. r1, r2: that thread must signal. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The offer was the first to see the sleep, and signals.")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "wakeup() was the first to see the sleep, and signals.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "Each left it to the other: the wake-up is lost.")
    @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Both saw the sleep as unsignalled.")
    @State
    public static class OfferAgainstWakeup {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key key = new Key();

        public OfferAgainstWakeup() {
            queue.prepareToSleep();
        }

        @Actor
        public void offer(ZZ_Result result) {
            result.r1 = queue.offer(key);
        }

        @Actor
        public void wakeup(ZZ_Result result) {
            result.r2 = queue.wakeup();
        }
    }

    /** A key becomes ready while the sleep ends. r1: the offerer must signal; r2: the selector expects a signal. */
    @JCStressTest
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The sleep was over before the offer looked.")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The offer saw the sleep before it ended.")
    @Outcome(expect = FORBIDDEN, desc = "A signal that nobody takes up, or one expected that nobody gives.")
    @State
    public static class OfferAgainstAwake {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key key = new Key();

        public OfferAgainstAwake() {
            queue.prepareToSleep();
        }

        @Actor
        public void offer(ZZ_Result result) {
            result.r1 = queue.offer(key);
        }

        @Actor
        public void awake(ZZ_Result result) {
            result.r2 = queue.awake();
        }
    }

    /** Two threads offer one key. r1: how often it is in the queue. */
    @JCStressTest
    @Outcome(
            id = "1",
            expect = ACCEPTABLE,
            desc = "One marked the key as queued and pushed it; the other found it marked.")
    @Outcome(expect = FORBIDDEN, desc = "The key is lost or queued twice.")
    @State
    public static class OneKeyOfferedTwice {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key key = new Key();

        @Actor
        public void offer() {
            queue.offer(key);
        }

        @Actor
        public void offerToo() {
            queue.offer(key);
        }

        @Arbiter
        public void count(I_Result result) {
            // A key pushed twice may point to itself, so the count is bounded.
            while (result.r1 < 3 && queue.poll() != null) {
                result.r1++;
            }
        }
    }

    /** Two threads offer two keys while the selector's stack is shared. r1, r2: how often each key is in the queue. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Whoever pushed second linked to the first.")
    @Outcome(expect = FORBIDDEN, desc = "A push overwrote the other, or a key is queued twice.")
    @State
    public static class TwoKeysOffered {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key first = new Key();
        private final Key second = new Key();

        @Actor
        public void offerFirst() {
            queue.offer(first);
        }

        @Actor
        public void offerSecond() {
            queue.offer(second);
        }

        @Arbiter
        public void count(II_Result result) {
            for (int i = 0; i < 3; i++) {
                ReadyQueue.Node node = queue.poll();
                result.r1 += node == first ? 1 : 0;
                result.r2 += node == second ? 1 : 0;
            }
        }
    }

    /** One key is offered while the selector takes out another. r1: taken by the selector; r2: left for its next round. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The selector took the stack before the push.")
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "The selector took the stack after the push.")
    @Outcome(expect = FORBIDDEN, desc = "A key is lost or taken twice.")
    @State
    public static class OfferAgainstDrain {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key offered = new Key();

        public OfferAgainstDrain() {
            queue.offer(new Key());
        }

        @Actor
        public void offer() {
            queue.offer(offered);
        }

        @Actor
        public void drain(II_Result result) {
            result.r1 = drain();
        }

        @Arbiter
        public void drainRest(II_Result result) {
            result.r2 = drain();
        }

        private int drain() {
            int count = 0;
            while (count < 4 && queue.poll() != null) {
                count++;
            }
            return count;
        }
    }

    /**
     * A key that is queued becomes ready once more while the selector takes it out. r1: the selector saw the new readiness; r2: the
     * key is in the queue again.
     */
    @JCStressTest
    @Outcome(
            id = "1, 0",
            expect = ACCEPTABLE,
            desc = "The offer found the key queued; the selector took it out later and looked.")
    @Outcome(
            id = "0, 1",
            expect = ACCEPTABLE,
            desc = "The selector took it out and looked first; the offer queued it again.")
    @Outcome(
            id = "1, 1",
            expect = ACCEPTABLE,
            desc = "Taken out, made ready, looked at, and queued again: seen once too often.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "The offer relied on a look that was over: the readiness is lost.")
    @State
    public static class OfferAgainstLook {
        private final ReadyQueue queue = new ReadyQueue();
        private final Key key = new Key();

        public OfferAgainstLook() {
            queue.offer(key);
        }

        @Actor
        public void becomeReady() {
            key.ready = 1;
            queue.offer(key);
        }

        @Actor
        public void look(II_Result result) {
            if (queue.poll() == key) {
                result.r1 = key.ready;
            }
        }

        @Arbiter
        public void lookAgain(II_Result result) {
            result.r2 = queue.poll() == key ? 1 : 0;
        }
    }
}
