package io.rdmanio.verbs.soft;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The ring of a queue pair, the ready set and the requests for events: an entry that can be seen is whole, and whoever
 * sleeps is woken for it.
 */
public final class RingStress {
    private static final int SLOT = 70;

    private RingStress() {}

    /** Memory as two processes share it. */
    private static class Shared {
        final Area area = new Area(Arena.ofAuto().allocate(Area.bytes(4, 0, 4096), 64), 4, 0, 4096);
        final PairHeader header = new PairHeader(Arena.ofAuto().allocate(PairHeader.BYTES, 64));

        void publish() {
            MemorySegment memory = area.memory;
            memory.set(ValueLayout.JAVA_INT, area.entryOffset(0) + Entry.LENGTH, 7);
            memory.set(ValueLayout.JAVA_LONG, area.entryOffset(0) + Entry.OPERAND, 42);
            SharedWords.setRelease(memory, area.entryOffset(0) + Entry.SEQUENCE, 1);
            VarHandle.fullFence();
        }

        boolean hasEntry() {
            return SharedWords.getAcquire(area.memory, area.entryOffset(0) + Entry.SEQUENCE) == 1;
        }

        int isReady() {
            int[] count = new int[1];
            header.ready().takeAll(slot -> count[0] += slot == SLOT ? 1 : 100);
            return count[0];
        }
    }

    /** An entry against its reader. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "The reader came first.")
    @Outcome(id = "1, 7, 42", expect = ACCEPTABLE, desc = "The reader saw the entry, and all of it.")
    @Outcome(expect = FORBIDDEN, desc = "The reader saw a part of the entry.")
    @State
    public static class EntryIsWhole {
        private final Shared shared = new Shared();

        /** Publishes. */
        @Actor
        public void initiator() {
            shared.publish();
        }

        /** Reads. */
        @Actor
        public void owner(III_Result result) {
            if (shared.hasEntry()) {
                result.r1 = 1;
                result.r2 = shared.area.memory.get(ValueLayout.JAVA_INT, shared.area.entryOffset(0) + Entry.LENGTH);
                result.r3 =
                        (int) shared.area.memory.get(ValueLayout.JAVA_LONG, shared.area.entryOffset(0) + Entry.OPERAND);
            }
        }
    }

    /** A poller that ceases to watch against an initiator that relies on it. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The initiator said nothing; the poller's last look found it.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The last look came first; the initiator told.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Told and found.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Neither: the message lies there for ever.")
    @State
    public static class UnwatchVersusPublish {
        private final Shared shared = new Shared();

        /** It is watched to begin with. */
        public UnwatchVersusPublish() {
            shared.area.setWatched(true);
        }

        /** Publishes, and tells if nobody watches. */
        @Actor
        public void initiator() {
            shared.publish();
            if (!shared.area.isWatched()) {
                shared.header.ready().offer(SLOT);
            }
        }

        /** Ceases to watch, and looks once more. */
        @Actor
        public void poller(II_Result result) {
            shared.area.setWatched(false);
            result.r1 = shared.hasEntry() ? 1 : 0;
        }

        /** Whether it was told. */
        @Arbiter
        public void told(II_Result result) {
            result.r2 = shared.isReady();
        }
    }

    /** Two offers against one who takes. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Taken after the first or both offers.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Taken too early; it is still there.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Taken between the two offers.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, or another slot.")
    @State
    public static class OfferVersusTake {
        private final Shared shared = new Shared();

        /** Offers. */
        @Actor
        public void first() {
            shared.header.ready().offer(SLOT);
        }

        /** Offers the same. */
        @Actor
        public void second() {
            shared.header.ready().offer(SLOT);
        }

        /** Takes. */
        @Actor
        public void taker(II_Result result) {
            result.r1 = shared.isReady();
        }

        /** What is left. */
        @Arbiter
        public void left(II_Result result) {
            result.r2 = shared.isReady();
        }
    }

    /** A program that asks for an event and polls once more, against a completion. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The poll found it; no event was asked for yet when it was told.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The poll came first; the event woke the program.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The poll found it, and there is an event too.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "The program sleeps for ever.")
    @State
    public static class ArmVersusComplete {
        private final Shared shared = new Shared();

        /** Publishes, and makes the event if one is wanted. */
        @Actor
        public void initiator(II_Result result) {
            shared.publish();
            if (shared.header.disarm(SLOT, false) != PairHeader.NOBODY) {
                result.r2 = 1;
            }
        }

        /** Asks, and polls. */
        @Actor
        public void program(II_Result result) {
            shared.header.arm(SLOT, PairHeader.ARMED, 1);
            VarHandle.fullFence();
            result.r1 = shared.hasEntry() ? 1 : 0;
        }
    }

    /** A progress thread that goes to sleep against work. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The last look found the work.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The doorbell is rung.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "The work waits for ever.")
    @State
    public static class SleepVersusWork {
        private final Shared shared = new Shared();

        /** Gives work. */
        @Actor
        public void peer(II_Result result) {
            result.r2 = shared.header.offerWork(SLOT) ? 1 : 0;
        }

        /** Goes to sleep. */
        @Actor
        public void progressThread(II_Result result) {
            shared.header.beginSleep();
            result.r1 = shared.header.work().mayHaveAny() ? 1 : 0;
        }
    }
}
