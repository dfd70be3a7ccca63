package io.rdmanio.verbs.soft;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Groups of completion queues: no wake-up is lost, and no queue that has something is. */
public final class GroupStress {
    private static final int SLOT = 5;
    private static final int FORMER_SLOT = 7;
    private static final int NEW_SLOT = 8;
    private static final int FORMER_BELL = 1;
    private static final int NEW_BELL = 2;

    private GroupStress() {}

    /** A queue gets something while the group's owner goes to sleep. r1: who offers must ring; r2: the owner sleeps. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The offer was complete before the owner said that it sleeps.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Each saw the other.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The owner sleeps, and is woken.")
    @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The owner sleeps for ever.")
    @State
    public static class OfferVersusSleep {
        private final OfferedMembers offered = new OfferedMembers();
        private final GroupMember member = new GroupMember(null, null);

        /** Offers. */
        @Actor
        public void completer(II_Result result) {
            result.r1 = offered.offer(member) ? 1 : 0;
        }

        /** Goes to sleep, as {@link SoftCompletionQueueGroup#prepareToSleep} does. */
        @Actor
        public void owner(II_Result result) {
            offered.beginSleep();
            VarHandle.fullFence();
            result.r2 = offered.isEmpty() ? 1 : 0;
        }
    }

    /** Two wake one sleep. r1, r2: that one must ring. */
    @JCStressTest
    @Outcome(
            id = {"1, 0", "0, 1"},
            expect = ACCEPTABLE,
            desc = "One of them rings.")
    @Outcome(expect = FORBIDDEN, desc = "Each left it to the other, or both ring.")
    @State
    public static class TwoOffersVersusOneSleep {
        private final OfferedMembers offered = new OfferedMembers();
        private final GroupMember first = new GroupMember(null, null);
        private final GroupMember second = new GroupMember(null, null);

        /** The owner sleeps. */
        public TwoOffersVersusOneSleep() {
            offered.beginSleep();
        }

        /** Offers. */
        @Actor
        public void first(II_Result result) {
            result.r1 = offered.offer(first) ? 1 : 0;
        }

        /** Offers. */
        @Actor
        public void second(II_Result result) {
            result.r2 = offered.offer(second) ? 1 : 0;
        }
    }

    /**
     * A completion is added and its queue offered, while the owner takes the queue out for a former one, and polls. r1: how many
     * completions the owner found; r2: how many are left, and told of.
     */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The poll found it.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The queue is in the list once more.")
    @Outcome(expect = FORBIDDEN, desc = "The completion is there, and nobody tells of it.")
    @State
    public static class OfferVersusTake {
        private final OfferedMembers offered = new OfferedMembers();
        private final GroupMember member = new GroupMember(null, null);
        private final AtomicInteger completions = new AtomicInteger();

        /** The queue is in the list already. */
        public OfferVersusTake() {
            if (offered.offer(member)) {
                throw new AssertionError("nobody sleeps");
            }
        }

        /** Completes. */
        @Actor
        public void completer() {
            completions.setOpaque(1);
            VarHandle.fullFence();
            boolean ignored = offered.offer(member);
        }

        /** Takes, and polls. */
        @Actor
        public void owner(II_Result result) {
            if (offered.poll() == member) {
                result.r1 = completions.getAndSet(0);
            }
        }

        /** What the next round finds. */
        @Arbiter
        public void next(II_Result result) {
            if (offered.poll() == member) {
                result.r2 = completions.get();
            }
        }
    }

    /** Two queues are offered while the owner takes. r1: how many are taken, once each. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "Both, sooner or later.")
    @Outcome(expect = FORBIDDEN, desc = "One was lost or doubled.")
    @State
    public static class TwoOffersVersusTake {
        private final OfferedMembers offered = new OfferedMembers();
        private final GroupMember first = new GroupMember(null, null);
        private final GroupMember second = new GroupMember(null, null);
        private int taken;

        private void take() {
            while (offered.poll() != null) {
                taken++;
            }
        }

        /** Offers. */
        @Actor
        public void first() {
            boolean ignored = offered.offer(first);
        }

        /** Offers. */
        @Actor
        public void second() {
            boolean ignored = offered.offer(second);
        }

        /** Takes. */
        @Actor
        public void owner() {
            take();
        }

        /** What is left. */
        @Arbiter
        public void left(I_Result result) {
            take();
            result.r1 = taken;
        }
    }

    /**
     * A queue moves to a group whose owner sleeps, while somebody who took the queue pair out of a ready set tells the group.
     * As {@link SoftCompletionQueue} does it: both publish, execute a full fence, and look. r1: the new owner is woken or
     * has it in the list.
     */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The new group knows.")
    @Outcome(expect = FORBIDDEN, desc = "Only the former group was told.")
    @State
    public static class MoveVersusOffer {
        private final OfferedMembers formerList = new OfferedMembers();
        private final OfferedMembers newList = new OfferedMembers();
        private final GroupMember former = new GroupMember(null, null);
        private final GroupMember next = new GroupMember(null, null);
        private final AtomicInteger entries = new AtomicInteger();
        private volatile GroupMember membership = former;

        private void offer(GroupMember member) {
            boolean ignored = (member == former ? formerList : newList).offer(member);
        }

        /** Tells. */
        @Actor
        public void teller() {
            entries.setOpaque(1);
            VarHandle.fullFence();
            offer(membership);
        }

        /** Moves. */
        @Actor
        public void mover() {
            membership = next;
            VarHandle.fullFence();
            if (entries.getOpaque() != 0) {
                offer(next);
            }
        }

        /** Who knows. */
        @Arbiter
        public void known(I_Result result) {
            result.r1 = newList.poll() == next ? 1 : 0;
        }
    }

    /** An area, and the header where its peer looks whom to wake. */
    private static final class Shared {
        final Area area = new Area(Arena.ofAuto().allocate(Area.bytes(2, 2, 0), PairHeader.LINE_BYTES), 2, 2, 0);
        final PairHeader header = new PairHeader(Arena.ofAuto().allocate(PairHeader.BYTES, PairHeader.LINE_BYTES));

        /** As {@link Outbound} publishes and announces; the doorbell that is to be rung. */
        int send() {
            MemorySegment memory = area.memory;
            memory.set(ValueLayout.JAVA_INT, area.entryOffset(0) + Entry.KIND, 1);
            SharedWords.setRelease(memory, area.entryOffset(0) + Entry.SEQUENCE, 1);
            VarHandle.fullFence();
            header.ready().offer(SLOT);
            int slot = area.armSlot();
            return slot < 0 ? PairHeader.NOBODY : header.disarm(slot, false);
        }

        boolean hasEntry() {
            return SharedWords.getAcquire(area.memory, area.entryOffset(0) + Entry.SEQUENCE) == 1;
        }
    }

    /**
     * A queue moves to a group whose owner sleeps, while a peer's message arrives. r1: the doorbell that the peer rings; r2: who
     * moves the queue finds the message, and tells the new group.
     */
    @JCStressTest
    @Outcome(
            id = {FORMER_BELL + ", 1", NEW_BELL + ", 0", NEW_BELL + ", 1"},
            expect = ACCEPTABLE,
            desc = "The new owner is woken, by the peer or by who moves the queue.")
    @Outcome(expect = FORBIDDEN, desc = "The new owner sleeps for ever.")
    @State
    public static class MoveVersusMessage {
        private final Shared shared = new Shared();

        /** Both owners sleep; the queue is the former's. */
        public MoveVersusMessage() {
            shared.header.arm(FORMER_SLOT, PairHeader.ARMED, FORMER_BELL);
            shared.header.arm(NEW_SLOT, PairHeader.ARMED, NEW_BELL);
            shared.area.setArmSlot(FORMER_SLOT);
        }

        /** Sends. */
        @Actor
        public void peer(II_Result result) {
            result.r1 = shared.send();
        }

        /** Moves. */
        @Actor
        public void mover(II_Result result) {
            shared.area.setArmSlot(NEW_SLOT);
            VarHandle.fullFence();
            result.r2 = shared.hasEntry() ? 1 : 0;
        }
    }

    /** A message arrives while the owner goes to sleep. r1: the doorbell that the peer rings; r2: the owner sleeps. */
    @JCStressTest
    @Outcome(id = NEW_BELL + ", 0", expect = ACCEPTABLE, desc = "The peer rings, and the owner saw the message.")
    @Outcome(id = NEW_BELL + ", 1", expect = ACCEPTABLE, desc = "The owner sleeps, and is woken.")
    @Outcome(id = PairHeader.NOBODY + ", 0", expect = ACCEPTABLE, desc = "The owner saw the message.")
    @Outcome(id = PairHeader.NOBODY + ", 1", expect = FORBIDDEN, desc = "The owner sleeps for ever.")
    @State
    public static class MessageVersusSleep {
        private final Shared shared = new Shared();

        /** The queue is in a group. */
        public MessageVersusSleep() {
            shared.area.setArmSlot(NEW_SLOT);
        }

        /** Sends. */
        @Actor
        public void peer(II_Result result) {
            result.r1 = shared.send();
        }

        /** Goes to sleep. */
        @Actor
        public void owner(II_Result result) {
            shared.header.arm(NEW_SLOT, PairHeader.ARMED, NEW_BELL);
            VarHandle.fullFence();
            result.r2 = shared.header.ready().mayHaveAny() ? 0 : 1;
        }
    }

    /**
     * A peer is told of a doorbell, which its peer's memory has asked for already. It is rung by a message here, as one of a
     * process whose share is used up. r1: how often it is rung.
     */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "By who rings, or by who hears of the doorbell.")
    @Outcome(expect = FORBIDDEN, desc = "The ring is lost or doubled.")
    @State
    public static class RingVersusDoorbell {
        private static final int INDEX = 3;

        private final AtomicInteger rung = new AtomicInteger();
        private final Doorbells doorbells =
                new Doorbells(message -> rung.incrementAndGet(), new DescriptorShares(0), 1);

        /** The progress thread, which hears of it. */
        @Actor
        public void hearer() {
            try {
                doorbells.add(INDEX, -1);
            } catch (ProtocolException e) {
                throw new AssertionError(e);
            }
        }

        /** A sender that rings. */
        @Actor
        public void sender() {
            doorbells.ring(INDEX);
        }

        /** How often. */
        @Arbiter
        public void count(I_Result result) {
            result.r1 = rung.get();
        }
    }
}
