package io.rdmanio.stream;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.verbs.CompletionQueueGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.openjdk.jcstress.infra.results.Z_Result;

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

    /** How long a thread waits that nobody wakes. */
    private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How a wait ended. */
    private enum Wait {
        READY,
        ENDED,
        SLEPT_THROUGH
    }

    private static Wait await(Source source) {
        long begin = System.nanoTime();
        try {
            boolean ready = source.await(SelectionKey.OP_READ, begin + LOST_NANOS, true);
            // at the end of its time it looks once more, and sees what nobody told it of
            return System.nanoTime() - begin >= LOST_NANOS ? Wait.SLEPT_THROUGH : ready ? Wait.READY : Wait.ENDED;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A thread begins to wait in a read while the source becomes ready. r1: it is told so. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "It saw that, or was woken.")
    @Outcome(id = "false", expect = FORBIDDEN, desc = "It slept through it until its time was up.")
    @State
    public static class AwaitVersusArrival {
        private final Meeting meeting = new Meeting();
        private final Source source = new Source();

        /** A reader. */
        @Actor
        public void reader(Z_Result result) {
            meeting.await();
            result.r1 = await(source) == Wait.READY;
        }

        /** The device. */
        @Actor
        public void device() {
            meeting.awaitAndLinger();
            source.arrive();
        }
    }

    /** A thread begins to wait where a key sleeps already while the source becomes ready. r1: the thread, r2: the key is told. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "Both know.")
    @Outcome(expect = FORBIDDEN, desc = "One of them sleeps through it.")
    @State
    public static class AwaitBesideKeyVersusArrival {
        private final Meeting meeting = new Meeting();
        private final Source source = new Source();
        private final Key key = new Key();

        /** The key sleeps. */
        public AwaitBesideKeyVersusArrival() {
            source.add(key);
            if (source.readyOrSleep(key, SelectionKey.OP_READ, false) != 0) {
                throw new AssertionError("nothing has arrived");
            }
        }

        /** A reader. */
        @Actor
        public void reader(ZZ_Result result) {
            meeting.await();
            result.r1 = await(source) == Wait.READY;
        }

        /** The device. */
        @Actor
        public void device() {
            meeting.awaitAndLinger();
            source.arrive();
        }

        /** Whether the key knows. */
        @Arbiter
        public void known(ZZ_Result result) {
            result.r2 = key.told;
        }
    }

    /** A channel is closed while a thread begins to wait in a read of it. r1: the thread's wait ends before its time is up. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "It saw the close, or was woken.")
    @Outcome(id = "false", expect = FORBIDDEN, desc = "It waits on in a closed channel.")
    @State
    public static class AwaitVersusClose {
        private final Meeting meeting = new Meeting();
        private final Source source = new Source();

        /** A reader. */
        @Actor
        public void reader(Z_Result result) {
            meeting.await();
            result.r1 = await(source) == Wait.ENDED;
        }

        /** Closes. */
        @Actor
        public void closer() {
            meeting.awaitAndLinger();
            source.endWaits();
        }
    }

    /**
     * A selector's thread comes back and goes away again while the timer, which saw it away once, looks a last time. r1: what came is
     * taken in without the thread; r2: the timer goes on looking.
     */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The timer saw it away after it had ended to look.")
    @Outcome(
            id = "false, true",
            expect = ACCEPTABLE,
            desc = "The timer saw another selection, or was told to look again.")
    @Outcome(
            id = "true, true",
            expect = ACCEPTABLE,
            desc = "The timer saw it away before it came back, and was told to look again.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "The thread is away, and nobody looks after its channels.")
    @State
    public static class LeaveVersusTimer {
        private final AtomicBoolean watched = new AtomicBoolean();
        private final AtomicBoolean leftAlone = new AtomicBoolean();
        private final Presence presence = new Presence(ignored -> watched.set(true), () -> leftAlone.set(true));

        /** It has been away since the timer looked last. */
        public LeaveVersusTimer() {
            presence.leave();
            if (!presence.stillAttended()) {
                throw new AssertionError("a selection has ended since");
            }
            watched.set(false);
        }

        /** The selector's thread. */
        @Actor
        public void selector() {
            presence.arrive();
            presence.leave();
        }

        /** The timer. */
        @Actor
        public void timer() {
            if (presence.stillAttended()) {
                watched.set(true);
            }
        }

        /** Who looks after the channels. */
        @Arbiter
        public void known(ZZ_Result result) {
            result.r1 = leftAlone.get();
            result.r2 = watched.get();
        }
    }
}
