package io.rdmanio.stream;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.verbs.CompletionQueueGroup;
import java.lang.invoke.VarHandle;
import java.nio.channels.SelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Threads and keys that sleep until a stream is ready: none sleeps through it. */
public final class SleepStress {
    private SleepStress() {}

    /** A thread is woken while it goes to sleep. r1: who wakes must signal; r2: the thread sleeps. */
    @JCStressTest
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "It was woken before it said that it sleeps.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "Each saw the other.")
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It slept before, and is signalled.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "Neither saw the other: the wake-up is lost.")
    @State
    public static class WakeVersusSleep {
        private final SleepFlags flags = new SleepFlags();

        /** Wakes. */
        @Actor
        public void waker(ZZ_Result result) {
            result.r1 = flags.wake();
        }

        /** Goes to sleep. */
        @Actor
        public void sleeper(ZZ_Result result) {
            result.r2 = flags.beginSleep();
        }
    }

    /**
     * A thread that had been woken ends its sleep, and looks, while something else happens. What happens is published first; the
     * thread resets, and looks afterwards. r1: the thread saw it; r2: it will be seen, for the next sleep is none.
     */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It saw it, and looks again for nothing.")
    @Outcome(
            id = "true, false",
            expect = ACCEPTABLE,
            desc = "The wake-up came before the reset; it saw what it was for.")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "It looked before; the next sleep is none.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "The reset has lost what the wake-up was for.")
    @State
    public static class WakeVersusReset {
        private final SleepFlags flags = new SleepFlags();
        private volatile boolean happened;

        /** Publishes, and wakes. */
        @Actor
        public void waker() {
            happened = true;
            boolean ignored = flags.wake();
        }

        /** Ends a sleep, and looks. */
        @Actor
        public void sleeper(ZZ_Result result) {
            flags.reset();
            result.r1 = happened;
        }

        /** The next sleep. */
        @Arbiter
        public void next(ZZ_Result result) {
            result.r2 = !flags.beginSleep();
        }
    }

    /** A source like a connection: a device makes it ready, and makes an event if it is armed. */
    private static final class Source extends ReadinessSource {
        private volatile boolean arrived;
        private final AtomicBoolean armed = new AtomicBoolean();
        private boolean ready;

        @Override
        int readiness() {
            return ready ? SelectionKey.OP_READ : 0;
        }

        @Override
        void update() {
            while (true) {
                if (arrived) {
                    boolean news = !ready;
                    ready = true;
                    if (news) {
                        publish();
                    }
                    return;
                }
                if (!anyoneSleeps() || armed.get()) {
                    return;
                }
                armed.set(true);
                VarHandle.fullFence();
            }
        }

        @Override
        void notified() {
            armed.set(false);
        }

        @Override
        void watchByEventLoop() {}

        @Override
        public int descriptor() {
            return -1;
        }

        /** The device, and the event loop, which hears of its event. */
        void arrive() {
            arrived = true;
            if (armed.compareAndSet(true, false)) {
                descriptorReady();
            }
        }
    }

    private static final class Key extends Watch {
        volatile boolean told;

        @Override
        public CompletionQueueGroup group() {
            return null;
        }

        @Override
        protected void ready() {
            told = true;
        }
    }

    /** Two keys of two selectors look at one source while it becomes ready. r1, r2: that key's selector knows. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both know.")
    @Outcome(expect = FORBIDDEN, desc = "A key sleeps through it.")
    @State
    public static class TwoKeysVersusArrival {
        private final Source source = new Source();
        private final Key first = new Key();
        private final Key second = new Key();
        private boolean firstFound;
        private boolean secondFound;

        /** Adds both. */
        public TwoKeysVersusArrival() {
            source.add(first);
            source.add(second);
        }

        /** A selector. */
        @Actor
        public void firstSelector() {
            firstFound = source.readyOrSleep(first, SelectionKey.OP_READ, false) != 0;
        }

        /** Another. */
        @Actor
        public void secondSelector() {
            secondFound = source.readyOrSleep(second, SelectionKey.OP_READ, false) != 0;
        }

        /** The device. */
        @Actor
        public void device() {
            source.arrive();
        }

        /** Who knows. */
        @Arbiter
        public void known(II_Result result) {
            result.r1 = firstFound || first.told ? 1 : 0;
            result.r2 = secondFound || second.told ? 1 : 0;
        }
    }

    /** One of two keys is cancelled while the source becomes ready. r1: the other knows; r2: it is told after it was removed. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The other knows, and who is gone is left alone.")
    @Outcome(expect = FORBIDDEN, desc = "A key sleeps through it, or is told when it is gone.")
    @State
    public static class CancelVersusArrival {
        private final Source source = new Source();
        private final Key staying = new Key();
        private final Key leaving = new Key();
        private boolean toldWhenRemoved;

        /** Both sleep. */
        public CancelVersusArrival() {
            source.add(staying);
            source.add(leaving);
            if (source.readyOrSleep(staying, SelectionKey.OP_READ, false) != 0
                    || source.readyOrSleep(leaving, SelectionKey.OP_READ, false) != 0) {
                throw new AssertionError("nothing has arrived");
            }
        }

        /** A selector that flushes a cancelled key. */
        @Actor
        public void selector() {
            source.remove(leaving);
            toldWhenRemoved = leaving.told;
        }

        /** The device. */
        @Actor
        public void device() {
            source.arrive();
        }

        /** Who knows. */
        @Arbiter
        public void known(ZZ_Result result) {
            result.r1 = staying.told;
            result.r2 = leaving.told && !toldWhenRemoved;
        }
    }
}
