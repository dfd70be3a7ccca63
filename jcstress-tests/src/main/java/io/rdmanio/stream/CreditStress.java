package io.rdmanio.stream;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The two ends of a stream, which share the table of halves and are each under a lock of its own: no credit is lost or doubled. */
public final class CreditStress {
    private static final int CREDITS = 2;
    private static final int HALF_BYTES = 4;
    private static final int MESSAGE_BYTES = 3;
    private static final int SEND_QUEUE_ENTRIES = SendWindow.CONTROL_SLOTS + 2;

    private CreditStress() {}

    /** Payload that has been written, and its message. */
    private record Data(long address, int bytes) {}

    /** What is under way, in the order of a queue pair: whoever takes a message sees what was written before it. */
    private static final class Wire {
        final MemorySegment table = Arena.ofAuto().allocate(TargetTable.LENGTH_BYTES, Long.BYTES);
        final Queue<Data> payload = new ConcurrentLinkedQueue<>();
        final Queue<Integer> limits = new ConcurrentLinkedQueue<>();
    }

    /** The end that writes, as {@link StreamProtocol} does it inline, over a device whose sends complete at once. */
    private static final class Sender {
        private final Wire wire;
        private final TargetTable target;
        private final SendWindow window = new SendWindow(SEND_QUEUE_ENTRIES, 1, 2 * SendWindow.MIN_FREE_BYTES);
        int sent;

        Sender(Wire wire) {
            this.wire = wire;
            this.target = new TargetTable(wire.table, new PeerParameters.BufferHalf(0, 0, HALF_BYTES));
            window.limit(CREDITS);
        }

        /** Takes what the peer has told; returns whether there was anything. */
        boolean listen() throws ProtocolException {
            boolean told = false;
            Integer limit;
            while ((limit = wire.limits.poll()) != null) {
                target.offered();
                window.limit(limit);
                told = true;
            }
            return told;
        }

        boolean canSend() {
            return target.length() != 0 && window.canSend();
        }

        void send() {
            int bytes = Math.min(MESSAGE_BYTES, target.length());
            boolean signalled = window.mustSignalData(0);
            wire.payload.add(new Data(target.address(), bytes));
            target.advance(bytes);
            window.dataPosted(0, signalled);
            if (signalled) {
                window.completed();
            }
            sent += bytes;
        }
    }

    /** The end that reads. */
    private static final class Receiver {
        private final Wire wire;
        private final ReceiveWindow window = new ReceiveWindow(
                CREDITS,
                new MemoryBlock(null, 0, HALF_BYTES),
                new MemoryBlock(null, HALF_BYTES, HALF_BYTES),
                new HalfLength(HALF_BYTES, HALF_BYTES),
                () -> 0);
        private int entry = 1;
        int received;
        boolean misplaced;

        Receiver(Wire wire) {
            this.wire = wire;
        }

        /** Reads all that has arrived, and tells the peer of what it may send; returns whether anything had. */
        boolean read() throws ProtocolException {
            boolean any = false;
            Data data;
            while ((data = wire.payload.poll()) != null) {
                window.arrived(data.bytes());
                misplaced |= window.readOffset(0) != data.address();
                window.consumed(data.bytes());
                received += data.bytes();
                any = true;
            }
            while (window.updateDue()) {
                if (window.halfDue()) {
                    MemoryBlock block = window.takeSpare();
                    MemorySegment told = wire.table.asSlice((long) entry * TargetTable.ENTRY_BYTES);
                    TargetTable.encodeEntry(told, 0, block.offset, 0, window.grant(block), false);
                    entry ^= 1;
                }
                int limit = window.limit();
                window.toldLimit();
                wire.limits.add(limit);
            }
            return any;
        }
    }

    /**
     * One end sends as long as it may, the other reads and gives credits. r1: bytes that were received where they should be; r2: the sender may go on when all is read; r3: what either took for a fault of its peer.
     */
    @JCStressTest
    @Outcome(
            id = "40, 1, 0",
            expect = ACCEPTABLE,
            desc = "Every byte arrived in its place, and every credit came back.")
    @Outcome(expect = FORBIDDEN, desc = "A credit or a half was lost, doubled, or used before it was given.")
    @State
    public static class SendVersusRead {
        private static final int ROUNDS = 8;
        private static final int STREAM_BYTES = 40;
        private static final int MISPLACED = 1000;

        private final Meeting meeting = new Meeting();
        private final Wire wire = new Wire();
        private final Sender sender = new Sender(wire);
        private final Receiver receiver = new Receiver(wire);
        private final AtomicInteger faults = new AtomicInteger();

        private void sendAll() {
            while (sender.sent < STREAM_BYTES && sender.canSend()) {
                sender.send();
            }
        }

        /** Sends. */
        @Actor
        public void sender() {
            try {
                meeting.await();
                for (int round = 0; round < ROUNDS; round++) {
                    boolean ignored = sender.listen();
                    sendAll();
                }
            } catch (ProtocolException e) {
                faults.addAndGet(1);
            }
        }

        /** Reads. */
        @Actor
        public void receiver() {
            try {
                meeting.await();
                for (int round = 0; round < ROUNDS; round++) {
                    boolean ignored = receiver.read();
                }
            } catch (ProtocolException e) {
                faults.addAndGet(2);
            }
        }

        /** What has become of it when all is read and told. */
        @Arbiter
        public void settled(III_Result result) {
            try {
                boolean read;
                boolean told;
                do {
                    read = receiver.read();
                    told = sender.listen();
                    sendAll();
                } while (read || told);
            } catch (ProtocolException e) {
                faults.addAndGet(4);
            }
            result.r1 = receiver.misplaced ? MISPLACED : receiver.received;
            result.r2 = sender.canSend() ? 1 : 0;
            result.r3 = faults.get();
        }
    }
}
