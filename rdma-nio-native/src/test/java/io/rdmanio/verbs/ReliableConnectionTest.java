package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.HandMade.Completion;
import io.rdmanio.verbs.HandMade.Two;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reliable connections made by hand: every operation, and every way in which one fails. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
@Needs(Feature.OWN_CONNECTIONS)
class ReliableConnectionTest {
    private static final int LENGTH = 3000;
    private static final int TARGET = 8192;
    private static final int IMMEDIATE = 0x12345678;

    private static Two pair() throws VerbsException {
        return HandMade.connected(QueuePairType.RELIABLE_CONNECTED);
    }

    private static void assertSucceeded(Completion completion, int opcode) {
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isEqualTo(opcode);
    }

    private static SendWorkRequest toPeer(Two pair, int opcode, int flags, int length) {
        return pair.left()
                .prepare(opcode, flags, 0, length)
                .remote(
                        pair.right().region.address() + TARGET,
                        pair.right().region.remoteKey());
    }

    @Test
    void send_arrivesInReceive() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().fill(0, LENGTH, 1);
            pair.right().postReceive(7, TARGET, LENGTH);
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH));
            assertThat(pair.right().awaitReceive())
                    .isEqualTo(new Completion(
                            7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, LENGTH, null));
            assertThat(pair.right().bytes(TARGET, LENGTH)).isEqualTo(pair.left().bytes(0, LENGTH));
            assertSucceeded(pair.left().awaitSend(), WorkCompletionOpcode.SEND);
        }
    }

    @Test
    void sendWithImmediate_carriesIt() throws VerbsException {
        try (Two pair = pair()) {
            pair.right().postReceive(7, TARGET, LENGTH);
            pair.left()
                    .pair
                    .postSend(pair.left()
                            .prepare(SendOpcode.SEND_WITH_IMM, SendFlags.SIGNALED | SendFlags.SOLICITED, 0, 0)
                            .immediateData(IMMEDIATE));
            assertThat(pair.right().awaitReceive())
                    .isEqualTo(new Completion(
                            7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, 0, IMMEDIATE));
            assertSucceeded(pair.left().awaitSend(), WorkCompletionOpcode.SEND);
        }
    }

    @Test
    void write_arrivesInMemoryAlone() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().fill(0, LENGTH, 2);
            pair.left().pair.postSend(toPeer(pair, SendOpcode.WRITE, SendFlags.SIGNALED, LENGTH));
            assertSucceeded(pair.left().awaitSend(), WorkCompletionOpcode.WRITE);
            assertThat(pair.right().bytes(TARGET, LENGTH)).isEqualTo(pair.left().bytes(0, LENGTH));
            assertThat(pair.right().isSilent(pair.right().receives)).isTrue();
        }
    }

    @Test
    void writeWithImmediate_completesAReceive() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().fill(0, LENGTH, 3);
            pair.right().postReceive(8, 0, 0);
            pair.left()
                    .pair
                    .postSend(toPeer(pair, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, LENGTH)
                            .immediateData(IMMEDIATE));
            assertThat(pair.right().awaitReceive())
                    .isEqualTo(new Completion(
                            8,
                            WorkCompletionStatus.SUCCESS,
                            WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM,
                            LENGTH,
                            IMMEDIATE));
            assertThat(pair.right().bytes(TARGET, LENGTH)).isEqualTo(pair.left().bytes(0, LENGTH));
        }
    }

    @Test
    void emptyReceives_areCompletedInTheirOrder() throws VerbsException {
        try (Two pair = pair()) {
            int most = pair.right().pair.capabilities().maxReceiveWorkRequests();
            pair.right().pair.postEmptyReceives(most - 1);
            pair.right().pair.postEmptyReceives(1);
            for (int i = 0; i < 2 * most; i++) {
                pair.left()
                        .pair
                        .postSend(toPeer(pair, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 1)
                                .immediateData(i));
                assertSucceeded(pair.left().awaitSend(), WorkCompletionOpcode.WRITE);
                assertThat(pair.right().awaitReceive())
                        .isEqualTo(new Completion(
                                i < most - 1 ? i : Math.max(i - most - 1, 0),
                                WorkCompletionStatus.SUCCESS,
                                WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM,
                                1,
                                i));
                if (i == most - 1) {
                    // Behind the end of the queue: what was told of the first must be told anew.
                    pair.right().postReceive(0, TARGET, LENGTH);
                    pair.right().pair.postEmptyReceives(most - 1);
                }
            }
        }
    }

    @Test
    void noReceives_cannotBePosted() throws VerbsException {
        try (Two pair = pair()) {
            assertThatThrownBy(() -> pair.right().pair.postEmptyReceives(0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void read_fetchesMemory() throws VerbsException {
        try (Two pair = pair()) {
            pair.right().fill(TARGET, LENGTH, 4);
            pair.left().pair.postSend(toPeer(pair, SendOpcode.READ, SendFlags.SIGNALED, LENGTH));
            Completion completion = pair.left().awaitSend();
            assertSucceeded(completion, WorkCompletionOpcode.READ);
            assertThat(completion.lengthBytes()).isEqualTo(LENGTH);
            assertThat(pair.left().bytes(0, LENGTH)).isEqualTo(pair.right().bytes(TARGET, LENGTH));
        }
    }

    @Test
    void atomics_changeEightBytesAndTellWhatWasThere() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            HandMade right = pair.right();
            long target = right.region.address() + TARGET;
            int key = right.region.remoteKey();
            right.memory.set(ValueLayout.JAVA_LONG, TARGET, 100);
            left.pair.postSend(left.prepare(SendOpcode.FETCH_AND_ADD, SendFlags.SIGNALED, 0, 8)
                    .atomic(target, key, 23, 0));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.FETCH_AND_ADD);
            assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(100);
            assertThat(right.memory.get(ValueLayout.JAVA_LONG, TARGET)).isEqualTo(123);

            left.pair.postSend(left.prepare(SendOpcode.COMPARE_AND_SWAP, SendFlags.SIGNALED, 0, 8)
                    .atomic(target, key, 123, -5));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.COMPARE_AND_SWAP);
            assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(123);
            assertThat(right.memory.get(ValueLayout.JAVA_LONG, TARGET)).isEqualTo(-5);

            left.pair.postSend(left.prepare(SendOpcode.COMPARE_AND_SWAP, SendFlags.SIGNALED, 0, 8)
                    .atomic(target, key, 123, 77));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.COMPARE_AND_SWAP);
            assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-5);
            assertThat(right.memory.get(ValueLayout.JAVA_LONG, TARGET)).isEqualTo(-5);
        }
    }

    @Test
    void fencedSend_comesAfterTheRead() throws VerbsException {
        try (Two pair = pair();
                SendWorkRequest fenced = new SendWorkRequest(1)) {
            HandMade left = pair.left();
            pair.right().fill(TARGET, LENGTH, 9);
            pair.right().postReceive(7, 0, LENGTH);
            // What is read is what is sent.
            fenced.workRequestId(99)
                    .opcode(SendOpcode.SEND)
                    .flags(SendFlags.SIGNALED | SendFlags.FENCE)
                    .sgeCount(1)
                    .sge(0, left.region, 0, LENGTH);
            left.pair.postSend(
                    toPeer(pair, SendOpcode.READ, SendFlags.SIGNALED, LENGTH).next(fenced));
            assertThat(left.await(left.sends, 2))
                    .extracting(Completion::id)
                    .containsExactly((long) SendOpcode.READ, 99L);
            assertThat(pair.right().awaitReceive().lengthBytes()).isEqualTo(LENGTH);
            assertThat(pair.right().bytes(0, LENGTH)).isEqualTo(pair.right().bytes(TARGET, LENGTH));
        }
    }

    @Test
    void inlineData_isTakenAtPost() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            int length = left.pair.capabilities().maxInlineBytes();
            assertThat(length).isGreaterThanOrEqualTo(HandMade.INLINE_BYTES);
            left.fill(0, length, 5);
            byte[] sent = left.bytes(0, length);
            pair.right().postReceive(7, TARGET, length);
            // Memory that is not registered: no key.
            left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED | SendFlags.INLINE, 0, length)
                    .sge(0, left.memory.address(), length, 0));
            left.fill(0, length, 6);
            assertThat(pair.right().awaitReceive().lengthBytes()).isEqualTo(length);
            assertThat(pair.right().bytes(TARGET, length)).isEqualTo(sent);
        }
    }

    /** Of every kind of buffer, at a position, and the buffer is the caller's again at once, though no receive is there yet. */
    @Test
    void dataOfABuffer_isTakenAtPost() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            int length = Math.min(left.pair.capabilities().maxInlineBytes(), LENGTH);
            byte[] bytes = new byte[length + 20];
            new Random(5).nextBytes(bytes);
            ByteBuffer heap = ByteBuffer.wrap(bytes.clone());
            ByteBuffer direct =
                    ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
            for (ByteBuffer buffer : List.of(heap, heap.asReadOnlyBuffer(), direct, direct.slice(0, length + 20))) {
                heap.put(0, bytes);
                direct.put(0, bytes);
                buffer.position(3);
                left.pair.postSend(
                        left.prepare(SendOpcode.SEND, SendFlags.SIGNALED | SendFlags.INLINE, 0, 0), buffer, 10, length);
                heap.put(0, new byte[bytes.length]);
                direct.put(0, new byte[bytes.length]);
                pair.right().postReceive(7, TARGET, length);
                assertThat(pair.right().awaitReceive().lengthBytes()).isEqualTo(length);
                assertThat(pair.right().bytes(TARGET, length)).isEqualTo(Arrays.copyOfRange(bytes, 10, 10 + length));
                assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND);
                assertThat(buffer.position()).isEqualTo(3);
            }
        }
    }

    @Test
    void dataOfABuffer_isWrittenWithImmediateData() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            int length = Math.min(left.pair.capabilities().maxInlineBytes(), LENGTH);
            for (int round = 0; round < 3; round++) {
                byte[] bytes = new byte[length];
                new Random(round).nextBytes(bytes);
                pair.right().postReceive(7, 0, 0);
                left.pair.postSend(
                        toPeer(pair, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED | SendFlags.INLINE, 0)
                                .immediateData(IMMEDIATE),
                        ByteBuffer.wrap(bytes),
                        0,
                        length);
                assertThat(pair.right().awaitReceive().immediate()).isEqualTo(IMMEDIATE);
                assertThat(pair.right().bytes(TARGET, length)).isEqualTo(bytes);
                assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE);
            }
        }
    }

    @Test
    void dataOfABuffer_thatCanNotBePosted_isRefusedAndNothingIsSent() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            ByteBuffer data = ByteBuffer.allocate(16).limit(8);
            SendWorkRequest request = left.prepare(SendOpcode.SEND, SendFlags.INLINE, 0, 0);
            assertThatThrownBy(() -> left.pair.postSend(request, data, 1, 8))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> left.pair.postSend(request.flags(0), data, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not flagged");
            request.flags(SendFlags.INLINE);
            try (SendWorkRequest other = new SendWorkRequest(1)) {
                assertThatThrownBy(() -> left.pair.postSend(request.next(other), data, 0, 8))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("has a next");
                request.next(null);
            }
            int tooMany = left.pair.capabilities().maxInlineBytes() + 1;
            assertThatThrownBy(() -> left.pair.postSend(request, ByteBuffer.allocate(tooMany), 0, tooMany))
                    .isInstanceOf(PostException.class)
                    .hasMessageContaining("inline");
            ByteBuffer freed;
            try (Arena arena = Arena.ofShared()) {
                freed = arena.allocate(8).asByteBuffer();
            }
            assertThatThrownBy(() -> left.pair.postSend(request, freed, 0, 8))
                    .isInstanceOf(IllegalStateException.class);
            pair.right().postReceive(7, TARGET, LENGTH);
            left.pair.postSend(request.flags(SendFlags.INLINE | SendFlags.SIGNALED), data.put(0, (byte) 42), 0, 8);
            assertThat(pair.right().awaitReceive().lengthBytes()).isEqualTo(8);
            assertThat(pair.right().bytes(TARGET, 1)).containsExactly(42);
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND);
        }
    }

    @Test
    void scatterGather_joinsAndSplits() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            HandMade right = pair.right();
            left.fill(0, 3000, 7);
            right.pair.postReceive(right.receive
                    .workRequestId(7)
                    .sgeCount(3)
                    .sge(0, right.region, 5000, 10)
                    .sge(1, right.region, 0, 50)
                    .sge(2, right.region, 8192, 100));
            left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 1)
                    .sgeCount(3)
                    .sge(0, left.region, 2000, 30)
                    .sge(1, left.region, 0, 40)
                    .sge(2, left.region, 1000, 50));
            assertThat(right.awaitReceive().lengthBytes()).isEqualTo(120);
            byte[] sent = join(left.bytes(2000, 30), left.bytes(0, 40), left.bytes(1000, 50));
            assertThat(join(right.bytes(5000, 10), right.bytes(0, 50), right.bytes(8192, 60)))
                    .isEqualTo(sent);
        }
    }

    private static byte[] join(byte[]... parts) {
        return ByteBuffer.allocate(120)
                .put(parts[0])
                .put(parts[1])
                .put(parts[2])
                .array();
    }

    @Test
    void unsignaledSends_completeSilently() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            for (int i = 0; i < 4; i++) {
                left.pair.postSend(toPeer(pair, SendOpcode.WRITE, 0, 10).workRequestId(i));
            }
            left.pair.postSend(
                    toPeer(pair, SendOpcode.WRITE, SendFlags.SIGNALED, 10).workRequestId(4));
            assertThat(left.awaitSend().id()).isEqualTo(4);
            assertThat(left.isSilent(left.sends)).isTrue();
        }
    }

    @Test
    void signalAll_signalsWithoutTheFlag() throws VerbsException {
        try (HandMade left = new HandMade(QueuePairType.RELIABLE_CONNECTED);
                HandMade right = new HandMade(QueuePairType.RELIABLE_CONNECTED);
                QueuePair all = left.domain.createQueuePair(
                        left.attributes(QueuePairType.RELIABLE_CONNECTED, 4).withSignalAll(true))) {
            all.modify(HandMade.toInitialized(all.type()));
            all.modify(left.toReadyToReceive(right.pair.number()));
            all.modify(left.toReadyToSend());
            right.connect(all.number());
            assertThat(all.initAttributes().signalAll()).isTrue();
            all.postSend(
                    left.prepare(SendOpcode.WRITE, 0, 0, 10).remote(right.region.address(), right.region.remoteKey()));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE);
        }
    }

    @Test
    void list_isPostedAtOnceAndPolledInOrder() throws VerbsException {
        int count = HandMade.DEPTH;
        try (Two pair = pair()) {
            HandMade left = pair.left();
            HandMade right = pair.right();
            List<SendWorkRequest> sends = IntStream.range(0, count)
                    .mapToObj(i -> new SendWorkRequest(1)
                            .workRequestId(i)
                            .opcode(SendOpcode.SEND)
                            .flags(SendFlags.SIGNALED)
                            .sgeCount(1)
                            .sge(0, left.region, i, i + 1))
                    .toList();
            List<ReceiveWorkRequest> receives = IntStream.range(0, count)
                    .mapToObj(i -> new ReceiveWorkRequest(1)
                            .workRequestId(100 + i)
                            .sgeCount(1)
                            .sge(0, right.region, i * 64L, 64))
                    .toList();
            for (int i = 1; i < count; i++) {
                sends.get(i - 1).next(sends.get(i));
                receives.get(i - 1).next(receives.get(i));
            }
            right.pair.postReceive(receives.getFirst());
            left.pair.postSend(sends.getFirst());
            assertThat(left.await(left.sends, count))
                    .extracting(Completion::id)
                    .containsExactlyElementsOf(
                            LongStream.range(0, count).boxed().toList());
            List<Completion> received = right.await(right.receives, count);
            assertThat(received)
                    .extracting(Completion::id)
                    .containsExactlyElementsOf(
                            LongStream.range(100, 100 + count).boxed().toList());
            assertThat(received)
                    .extracting(Completion::lengthBytes)
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(1, count).boxed().toList());
            sends.forEach(SendWorkRequest::close);
            receives.forEach(ReceiveWorkRequest::close);
        }
    }

    @Test
    void fullSendQueue_namesTheRequestAndLosesNone() throws VerbsException {
        try (Two pair = HandMade.connected(QueuePairType.RELIABLE_CONNECTED, 2)) {
            HandMade left = pair.left();
            int room = left.pair.capabilities().maxSendWorkRequests();
            int count = room + 10; // a driver may have a little more room than it tells
            List<SendWorkRequest> sends = IntStream.range(0, count)
                    .mapToObj(i -> new SendWorkRequest(1)
                            .workRequestId(1000 + i)
                            .opcode(SendOpcode.WRITE)
                            .flags(SendFlags.SIGNALED)
                            .remote(
                                    pair.right().region.address(),
                                    pair.right().region.remoteKey())
                            .sgeCount(1)
                            .sge(0, left.region, 0, 1))
                    .toList();
            for (int i = 1; i < count; i++) {
                sends.get(i - 1).next(sends.get(i));
            }
            int[] posted = new int[1];
            assertThatThrownBy(() -> left.pair.postSend(sends.getFirst()))
                    .isInstanceOfSatisfying(PostException.class, e -> {
                        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                        assertThat(e.failedIndex()).isGreaterThanOrEqualTo(room).isLessThan(count);
                        assertThat(e.failedWorkRequestId()).isEqualTo(1000 + e.failedIndex());
                        assertThat(e).hasMessageContaining("the send queue is full");
                        posted[0] = e.failedIndex();
                    });
            assertThat(left.await(left.sends, posted[0]))
                    .extracting(Completion::id)
                    .containsExactlyElementsOf(
                            LongStream.range(1000, 1000 + posted[0]).boxed().toList());
            // The queue is empty again: the rest goes on from the request that was named.
            left.pair.postSend(sends.get(posted[0]).next(null));
            assertThat(left.awaitSend().id()).isEqualTo(1000 + posted[0]);
            sends.forEach(SendWorkRequest::close);
        }
    }

    @Test
    void fullReceiveQueue_namesTheRequest() throws VerbsException {
        try (HandMade alone = new HandMade(QueuePairType.RELIABLE_CONNECTED, 2)) {
            alone.pair.modify(HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED));
            int room = alone.pair.capabilities().maxReceiveWorkRequests();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < room + 10; i++) {
                            alone.postReceive(i, 0, 10);
                        }
                    })
                    .isInstanceOfSatisfying(PostException.class, e -> {
                        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                        assertThat(e.failedIndex()).isZero();
                        assertThat(e.failedWorkRequestId()).isGreaterThanOrEqualTo(room);
                        assertThat(e).hasMessageContaining("the receive queue is full");
                    });
        }
    }

    @Test
    void requestsThatAreTooLarge_areRefused() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            int sges = left.pair.capabilities().maxSendSges() + 1;
            try (SendWorkRequest wide = new SendWorkRequest(sges)
                    .workRequestId(5)
                    .opcode(SendOpcode.SEND)
                    .sgeCount(sges)) {
                for (int i = 0; i < sges; i++) {
                    wide.sge(i, left.region, i, 1);
                }
                assertThatThrownBy(() -> left.pair.postSend(wide))
                        .isInstanceOfSatisfying(
                                PostException.class,
                                e -> assertThat(e.failedWorkRequestId()).isEqualTo(5))
                        .hasMessageContaining("at most " + (sges - 1));
            }
            int inline = left.pair.capabilities().maxInlineBytes() + 1;
            assertThatThrownBy(() -> left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.INLINE, 0, inline)))
                    .isInstanceOf(PostException.class)
                    .hasMessageContaining("inline");
        }
    }

    @Test
    void concurrentFailures_nameTheirOwnRequests() throws Exception {
        try (HandMade alone = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            alone.pair.modify(HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED));
            int sges = alone.pair.capabilities().maxReceiveSges() + 1;
            List<Thread> threads = IntStream.range(0, 4)
                    .mapToObj(n -> new Thread(() -> {
                        try (ReceiveWorkRequest wide =
                                new ReceiveWorkRequest(sges).workRequestId(n).sgeCount(sges)) {
                            for (int i = 0; i < 200; i++) {
                                assertThatThrownBy(() -> alone.pair.postReceive(wide))
                                        .isInstanceOfSatisfying(
                                                PostException.class,
                                                e -> assertThat(e.failedWorkRequestId())
                                                        .isEqualTo(n));
                            }
                        }
                    }))
                    .toList();
            List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
            threads.forEach(thread -> thread.setUncaughtExceptionHandler((_, e) -> failures.add(e)));
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
        }
    }

    @Test
    void missingReceive_exhaustsRnrRetries() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
            assertThat(pair.left().awaitSend().status())
                    .isEqualTo(WorkCompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
            assertThat(pair.left().pair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void silentPeer_exhaustsRetries() throws VerbsException {
        try (Two pair = pair()) {
            pair.right().pair.close();
            pair.left().pair.postSend(toPeer(pair, SendOpcode.WRITE, SendFlags.SIGNALED, 10));
            assertThat(pair.left().awaitSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
        }
    }

    @Test
    void wrongKey_isARemoteAccessError() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            left.pair.postSend(left.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10)
                    .remote(pair.right().region.address(), pair.right().region.remoteKey() ^ 0x7700));
            assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void accessBehindTheRegion_isARemoteAccessError() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            left.pair.postSend(left.prepare(SendOpcode.READ, SendFlags.SIGNALED, 0, 10)
                    .remote(
                            pair.right().region.address() + HandMade.MEMORY_BYTES - 9,
                            pair.right().region.remoteKey()));
            assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void wrongLocalKey_isALocalProtectionError() throws VerbsException {
        try (Two pair = pair()) {
            HandMade left = pair.left();
            pair.right().postReceive(1, 0, 10);
            left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10)
                    .sge(0, left.region.address(), 10, left.region.localKey() ^ 0x7700));
            // rxe tells the second.
            assertThat(left.awaitSend().status())
                    .isIn(
                            WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                            WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        }
    }

    @Test
    void receiveThatIsTooSmall_isALengthError() throws VerbsException {
        try (Two pair = pair()) {
            pair.right().postReceive(7, 0, 10);
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 11));
            // rxe tells the second on either side.
            assertThat(pair.left().awaitSend().status())
                    .isIn(WorkCompletionStatus.REMOTE_INVALID_REQUEST, WorkCompletionStatus.REMOTE_OPERATION_ERROR);
            assertThat(pair.right().awaitReceive().status())
                    .isIn(
                            WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                            WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        }
    }

    @Test
    void errorState_flushesInOrder() throws VerbsException {
        try (Two pair = pair()) {
            HandMade right = pair.right();
            for (int i = 0; i < 5; i++) {
                right.postReceive(i, 0, 10);
            }
            right.pair.toError();
            List<Completion> flushed = right.await(right.receives, 5);
            assertThat(flushed).extracting(Completion::id).containsExactly(0L, 1L, 2L, 3L, 4L);
            assertThat(flushed).extracting(Completion::status).containsOnly(WorkCompletionStatus.FLUSHED);
            right.pair.postSend(right.prepare(SendOpcode.SEND, 0, 0, 1).workRequestId(50));
            Completion send = right.awaitSend();
            assertThat(send.id()).isEqualTo(50);
            assertThat(send.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
    }

    @Test
    void reset_makesTheQueuePairUsableAgain() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().pair.toError();
            for (HandMade side : List.of(pair.left(), pair.right())) {
                side.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                assertThat(side.pair.state()).isEqualTo(QueuePairState.RESET);
            }
            pair.left().connect(pair.right().pair.number());
            pair.right().connect(pair.left().pair.number());
            pair.left().pair.postSend(toPeer(pair, SendOpcode.WRITE, SendFlags.SIGNALED, 10));
            assertSucceeded(pair.left().awaitSend(), WorkCompletionOpcode.WRITE);
        }
    }

    @Test
    void postSend_beforeReadyToSend_explainsItself() throws VerbsException {
        try (HandMade alone = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            // Software drivers take it and let it wait, or refuse it; none may crash or lose the queue pair.
            try {
                alone.pair.postSend(alone.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 1));
            } catch (PostException e) {
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                assertThat(e).hasMessageContaining("IBV_QPS_RTS");
            }
            assertThat(alone.pair.state()).isEqualTo(QueuePairState.RESET);
        }
    }
}
