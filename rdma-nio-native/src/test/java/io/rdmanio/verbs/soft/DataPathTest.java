package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.soft.SoftSide.Completion;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages, remote access and atomics between two software devices, whichever way the bytes take. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class DataPathTest {
    private static final int TARGET = 300_000;
    private static final int IMMEDIATE = 0x12345678;

    private SoftDevice leftDevice;
    private SoftDevice rightDevice;
    private SoftSide left;
    private SoftSide right;

    @BeforeEach
    void open() throws Exception {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
    }

    @AfterEach
    void close() throws VerbsException {
        if (left != null) {
            left.close();
            right.close();
        }
        leftDevice.close();
        rightDevice.close();
    }

    private void connect(Options options) throws VerbsException {
        SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, options);
        left = sides[0];
        right = sides[1];
    }

    private void connect(boolean foreign) throws VerbsException {
        connect(foreign ? Options.DEFAULT.withForeignMemory() : Options.DEFAULT);
    }

    private static void assertSucceeded(Completion completion, int opcode, int length) {
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isEqualTo(opcode);
        assertThat(completion.lengthBytes()).isEqualTo(length);
    }

    @ParameterizedTest
    @CsvSource({
        "0, false",
        "1, false",
        "32, false",
        "33, false",
        "8192, false",
        "8193, false",
        "200000, false",
        "0, true",
        "200000, true"
    })
    void send_arrivesInReceive(int length, boolean shared) throws VerbsException {
        connect(shared ? Options.DEFAULT.withSharedReceives() : Options.DEFAULT);
        left.fill(0, length, 1);
        right.postReceive(7, TARGET, length);
        left.pair.postSend(left.prepare(SendOpcode.SEND_WITH_IMM, SendFlags.SIGNALED, 0, length)
                .immediateData(IMMEDIATE));
        assertThat(right.awaitReceive())
                .isEqualTo(new Completion(
                        7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, length, IMMEDIATE));
        assertThat(right.bytes(TARGET, length)).isEqualTo(left.bytes(0, length));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, length);
    }

    /** Their copies and completions need more memory than a queue has at first; every third's bytes are copied as well. */
    @Test
    void requestsAndCompletions_thatPileUp_keepTheirOrder() throws VerbsException {
        int count = 300;
        connect(Options.DEFAULT.withDepth(count));
        List<Completion> expected = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean inline = i % 3 == 0;
            left.memory.set(ValueLayout.JAVA_INT, 4L * i, i);
            int flags = SendFlags.SIGNALED | (inline ? SendFlags.INLINE : 0);
            left.pair.postSend(left.prepare(SendOpcode.SEND, flags, 4L * i, 4).workRequestId(i));
            if (inline) {
                left.memory.set(ValueLayout.JAVA_INT, 4L * i, -1);
            }
            expected.add(new Completion(i, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, 4, null));
        }
        for (int i = 0; i < count; i++) {
            right.postReceive(i, TARGET + 4L * i, 4);
        }
        assertThat(right.await(right.receives, count)).isEqualTo(expected);
        for (int i = 0; i < count; i++) {
            assertThat(right.memory.get(ValueLayout.JAVA_INT, TARGET + 4L * i)).isEqualTo(i);
        }
        assertThat(left.await(left.sends, count))
                .extracting(Completion::id)
                .isSorted()
                .hasSize(count);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 32, 33, 8192, 8193, 200_000})
    void writes_arriveInMemoryAndWithImmediateInAReceive(int length) throws VerbsException {
        for (boolean foreign : new boolean[] {false, true}) {
            connect(foreign);
            left.fill(0, length, 3);
            left.pair.postSend(left.toPeer(right, SendOpcode.WRITE, SendFlags.SIGNALED, 0, length, TARGET));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE, length);
            assertThat(right.bytes(TARGET, length)).isEqualTo(left.bytes(0, length));
            assertThat(right.receives.poll(right.completions)).isZero();

            left.fill(0, length, 4);
            right.postReceive(8, 0, 0);
            left.pair.postSend(left.toPeer(right, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, length, TARGET)
                    .immediateData(IMMEDIATE));
            assertThat(right.awaitReceive())
                    .isEqualTo(new Completion(
                            8,
                            WorkCompletionStatus.SUCCESS,
                            WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM,
                            length,
                            IMMEDIATE));
            assertThat(right.bytes(TARGET, length)).isEqualTo(left.bytes(0, length));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE, length);
            left.close();
            right.close();
            left = null;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8192, 8193, 200_000})
    void read_fetchesMemory(int length) throws VerbsException {
        for (boolean foreign : new boolean[] {false, true}) {
            connect(foreign);
            right.fill(TARGET, length, 5);
            left.pair.postSend(left.toPeer(right, SendOpcode.READ, SendFlags.SIGNALED, 0, length, TARGET));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.READ, length);
            assertThat(left.bytes(0, length)).isEqualTo(right.bytes(TARGET, length));
            left.close();
            right.close();
            left = null;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void atomics_changeEightBytesAndTellWhatWasThere(boolean foreign) throws VerbsException {
        connect(foreign);
        long target = right.region.address() + TARGET;
        int key = right.region.remoteKey();
        right.memory.set(ValueLayout.JAVA_LONG, TARGET, 100);
        left.pair.postSend(
                left.prepare(SendOpcode.FETCH_AND_ADD, SendFlags.SIGNALED, 0, 8).atomic(target, key, 23, 0));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.FETCH_AND_ADD, 8);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(100);
        left.pair.postSend(left.prepare(SendOpcode.COMPARE_AND_SWAP, SendFlags.SIGNALED, 0, 8)
                .atomic(target, key, 123, -5));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.COMPARE_AND_SWAP, 8);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(123);
        left.pair.postSend(left.prepare(SendOpcode.COMPARE_AND_SWAP, SendFlags.SIGNALED, 0, 8)
                .atomic(target, key, 123, 77));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.COMPARE_AND_SWAP, 8);
        assertThat(right.memory.get(ValueLayout.JAVA_LONG, TARGET)).isEqualTo(-5);
        left.pair.postSend(
                left.prepare(SendOpcode.FETCH_AND_ADD, SendFlags.SIGNALED, 0, 8).atomic(target + 4, key, 1, 0));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_INVALID_REQUEST);
    }

    /** The progress thread completes the receive here, while another thread polls. */
    @Test
    void postReceive_findsRoomInAFullQueueOnceACompletionWasSeen() throws VerbsException {
        connect(Options.DEFAULT.withForeignMemory().withDepth(1));
        right.postReceive(0, TARGET, 64);
        for (int i = 1; i <= 5_000; i++) {
            left.pair.postSend(left.toPeer(right, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, 64, TARGET)
                    .immediateData(i));
            assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            right.postReceive(i, TARGET, 64);
            assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void refusedWriteWithImmediate_tellsTheOwnerByItsReceive() throws VerbsException {
        connect(Options.DEFAULT);
        right.postReceive(1, TARGET, 64);
        left.pair.postSend(left.prepare(SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, 64)
                .remote(right.region.address(), right.region.remoteKey() ^ 1));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void everyKindOfRequest_keepsItsOrder(boolean foreign, boolean shared) throws VerbsException {
        Options options = foreign ? Options.DEFAULT.withForeignMemory() : Options.DEFAULT;
        connect(shared ? options.withSharedReceives() : options);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int[] opcodes = {
            SendOpcode.SEND, SendOpcode.WRITE, SendOpcode.READ, SendOpcode.WRITE_WITH_IMM, SendOpcode.SEND_WITH_IMM
        };
        long sent = 0;
        long completed = 0;
        long receivesPosted = 0;
        long received = 0;
        ArrayDeque<Integer> expectedImmediates = new ArrayDeque<>();
        while (completed < 3_000) {
            if (receivesPosted - received < SoftSide.DEPTH && random.nextInt(3) != 0) {
                right.postReceive(receivesPosted++, TARGET, 40_000);
            }
            if (sent - completed < SoftSide.DEPTH && random.nextBoolean()) {
                int opcode = opcodes[random.nextInt(opcodes.length)];
                int length = random.nextInt(4) == 0 ? random.nextInt(40_000) : random.nextInt(100);
                left.pair.postSend(left.toPeer(right, opcode, SendFlags.SIGNALED, 0, length, TARGET)
                        .workRequestId(sent)
                        .immediateData((int) sent));
                if (opcode != SendOpcode.WRITE && opcode != SendOpcode.READ) {
                    expectedImmediates.add(opcode == SendOpcode.SEND ? -1 : (int) sent);
                }
                sent++;
            }
            int count = left.sends.poll(left.completions);
            for (int i = 0; i < count; i++) {
                assertThat(left.completions.workRequestId(i))
                        .as("seed %d", seed)
                        .isEqualTo(completed++);
                assertThat(left.completions.succeeded(i)).as("seed %d", seed).isTrue();
            }
            count = right.receives.poll(right.completions);
            for (int i = 0; i < count; i++) {
                assertThat(right.completions.workRequestId(i))
                        .as("seed %d", seed)
                        .isEqualTo(received++);
                assertThat(right.completions.succeeded(i)).as("seed %d", seed).isTrue();
                int expected = expectedImmediates.remove();
                if (expected >= 0) {
                    assertThat(right.completions.immediateData(i))
                            .as("seed %d", seed)
                            .isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void scatterGather_joinsAndSplits() throws VerbsException {
        connect(Options.DEFAULT);
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
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        sent.writeBytes(left.bytes(2000, 30));
        sent.writeBytes(left.bytes(0, 40));
        sent.writeBytes(left.bytes(1000, 50));
        ByteArrayOutputStream arrived = new ByteArrayOutputStream();
        arrived.writeBytes(right.bytes(5000, 10));
        arrived.writeBytes(right.bytes(0, 50));
        arrived.writeBytes(right.bytes(8192, 60));
        assertThat(arrived.toByteArray()).isEqualTo(sent.toByteArray());
    }

    @Test
    void inlineData_isTakenAtPostEvenWhenItMustWait() throws VerbsException {
        connect(Options.DEFAULT);
        left.fill(0, 4096, 1);
        byte[] expected = left.bytes(0, 4096);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED | SendFlags.INLINE, 0, 4096)
                .sge(0, left.memory.address(), 4096, 0));
        left.fill(0, 4096, 2);
        right.postReceive(1, TARGET, 4096);
        assertThat(right.awaitReceive().lengthBytes()).isEqualTo(4096);
        assertThat(right.bytes(TARGET, 4096)).isEqualTo(expected);
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, 4096);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inlineWrite_needsNoKeyAndIsBounded(boolean foreign) throws VerbsException {
        connect(foreign);
        left.fill(0, 4097, 1);
        right.postReceive(1, 0, 0);
        // Twice: the first has to ask for the key.
        for (int i = 1; i <= 2; i++) {
            left.pair.postSend(inlineWrite(i == 1 ? SendOpcode.WRITE : SendOpcode.WRITE_WITH_IMM, i * 2048));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE, i * 2048);
            assertThat(right.bytes(TARGET, i * 2048)).isEqualTo(left.bytes(0, i * 2048));
            left.fill(0, 4097, 2);
        }
        assertThat(right.awaitReceive().lengthBytes()).isEqualTo(4096);
        assertThatThrownBy(() -> left.pair.postSend(inlineWrite(SendOpcode.WRITE, 4097)))
                .isInstanceOfSatisfying(
                        PostException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }

    private SendWorkRequest inlineWrite(int opcode, int length) {
        return left.toPeer(right, opcode, SendFlags.SIGNALED | SendFlags.INLINE, 0, length, TARGET)
                .immediateData(IMMEDIATE)
                .sge(0, left.memory.address(), length, 0);
    }

    @Test
    void moreThanTheRingHolds_arrivesWithoutAPoller() throws VerbsException {
        int depth = 400;
        connect(Options.DEFAULT.withDepth(depth));
        for (int i = 0; i < depth; i++) {
            right.postReceive(i, TARGET, 200);
        }
        for (int i = 0; i < depth; i++) {
            left.pair.postSend(
                    left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 200).workRequestId(i));
        }
        List<Completion> sent = left.await(left.sends, depth);
        assertThat(sent).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        List<Completion> received = right.await(right.receives, depth);
        for (int i = 0; i < depth; i++) {
            assertThat(received.get(i).id()).isEqualTo(i);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void missingReceive_isWaitedForAsLongAsRetriesSay(boolean shared) throws Exception {
        Options options = shared ? Options.DEFAULT.withSharedReceives() : Options.DEFAULT;
        connect(options);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.isSilent(left.sends)).isTrue();
        right.postReceive(1, TARGET, 10);
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, 10);
        assertThat(right.awaitReceive().id()).isEqualTo(1);
        left.close();
        right.close();
        connect(options.withRnrRetries(2));
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        left.pair.postSend(left.prepare(SendOpcode.SEND, 0, 0, 10).workRequestId(99));
        List<Completion> ended = left.await(left.sends, 2);
        assertThat(ended.getFirst().status()).isEqualTo(WorkCompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
        Completion flushed = ended.get(1);
        assertThat(flushed.id()).isEqualTo(99);
        assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        assertThat(left.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void silentPeer_exhaustsRetries() throws VerbsException {
        connect(Options.DEFAULT);
        right.pair.close();
        left.pair.postSend(left.toPeer(right, SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10, 0));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void accessThatIsNotGranted_isRefused(boolean foreign) throws VerbsException {
        long[] addresses = {0, SoftSide.MEMORY_BYTES - 9, -1};
        int[] keys = {0x7700, 0, 0};
        for (int i = 0; i < addresses.length; i++) {
            for (int opcode : new int[] {SendOpcode.WRITE, SendOpcode.READ}) {
                connect(foreign);
                left.pair.postSend(left.prepare(opcode, SendFlags.SIGNALED, 0, 10)
                        .remote(right.region.address() + addresses[i], right.region.remoteKey() ^ keys[i]));
                assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                assertThat(left.pair.state()).isEqualTo(QueuePairState.ERROR);
                left.close();
                right.close();
            }
        }
        left = null;
    }

    @Test
    void rights_areThoseOfTheRegion() throws VerbsException {
        connect(Options.DEFAULT);
        try (MemoryRegion readable = right.domain.allocateMemory(4096, AccessFlags.REMOTE_READ)) {
            left.pair.postSend(left.prepare(SendOpcode.READ, SendFlags.SIGNALED, 0, 10)
                    .remote(readable.address(), readable.remoteKey()));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.READ, 10);
            left.pair.postSend(left.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10)
                    .remote(readable.address(), readable.remoteKey()));
            assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void deregisteredKey_isRefusedAtOnce() throws VerbsException {
        connect(Options.DEFAULT);
        MemoryRegion region = right.domain.allocateMemory(4096, SoftSide.ALL_ACCESS);
        long address = region.address();
        int key = region.remoteKey();
        left.pair.postSend(
                left.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10).remote(address, key));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.WRITE, 10);
        region.close();
        left.pair.postSend(
                left.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10).remote(address, key));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void wrongLocalKey_isALocalProtectionError() throws VerbsException {
        connect(Options.DEFAULT);
        right.postReceive(1, 0, 10);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10)
                .sge(0, left.region.address(), 10, left.region.localKey() ^ 0x7700));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void receiveThatIsTooSmall_isALengthErrorOnBothSides(boolean shared) throws VerbsException {
        connect(shared ? Options.DEFAULT.withSharedReceives() : Options.DEFAULT);
        right.postReceive(7, 0, 10);
        right.postReceive(8, 0, 10);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 11));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_INVALID_REQUEST);
        List<Completion> received = right.await(right.receives, shared ? 1 : 2);
        assertThat(received.getFirst().id()).isEqualTo(7);
        assertThat(received.getFirst().status()).isEqualTo(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        if (!shared) {
            assertThat(received.get(1).status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
        assertThat(right.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void receiveWithAWrongKey_endsBothSides() throws VerbsException {
        connect(Options.DEFAULT);
        right.pair.postReceive(right.receive
                .workRequestId(7)
                .sgeCount(1)
                .sge(0, right.region.address(), 10, right.region.localKey() ^ 0x7700));
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void errorState_flushesInOrderAndWhatIsPostedLater() throws VerbsException {
        connect(Options.DEFAULT);
        for (int i = 0; i < 5; i++) {
            right.postReceive(i, 0, 10);
        }
        right.pair.toError();
        right.postReceive(5, 0, 10);
        List<Completion> flushed = right.await(right.receives, 6);
        assertThat(flushed).extracting(Completion::id).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(flushed).extracting(Completion::status).containsOnly(WorkCompletionStatus.FLUSHED);
        right.pair.postSend(right.prepare(SendOpcode.SEND, 0, 0, 1).workRequestId(50));
        assertThat(right.awaitSend().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
    }

    @Test
    void reset_makesTheQueuePairUsableAgain() throws VerbsException {
        connect(Options.DEFAULT);
        for (int round = 0; round < 3; round++) {
            left.pair.toError();
            for (SoftSide side : List.of(left, right)) {
                side.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            }
            left.connect(right);
            right.connect(left);
            right.postReceive(1, TARGET, 10);
            left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
            assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, 10);
            assertThat(right.awaitReceive().id()).isEqualTo(1);
        }
    }

    @Test
    void deathOfThePeer_flushesEverything() throws VerbsException {
        connect(Options.DEFAULT);
        right.postReceive(1, TARGET, 10);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, 10);
        right.postReceive(2, TARGET, 10);
        left.pair.postSend(
                left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10).workRequestId(1));
        left.pair.postSend(
                left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10).workRequestId(2));
        left.postReceive(9, 0, 10);
        // Ends the pair of the two as the peer's end of it would.
        rightDevice.host.queuePairs().find(right.pair.number()).fault(new ViolationException("a test"));
        List<Completion> sends = left.await(left.sends, 2);
        assertThat(sends.get(0).id()).isEqualTo(1);
        assertThat(sends.get(1).status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        assertThat(left.awaitReceive().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        assertThat(left.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void notification_comesOncePerRequest() throws Exception {
        connect(Options.DEFAULT);
        right.postReceive(1, TARGET, 10);
        right.postReceive(2, TARGET, 10);
        right.receives.requestNotification(false);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(Poll.awaitReadable(right.channel.fileDescriptor(), -1, 5_000))
                .isEqualTo(1);
        assertThat(right.channel.takeEvent()).isSameAs(right.receives);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(Poll.awaitReadable(right.channel.fileDescriptor(), -1, 100)).isZero();
        assertThat(right.channel.takeEvent()).isNull();
        assertThat(right.await(right.receives, 2)).hasSize(2);
    }

    @Test
    void eventDrivenPingPong_losesNoWakeUp() throws Exception {
        connect(Options.DEFAULT);
        int rounds = 2_000;
        Thread echo = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < rounds; i++) {
                    right.postReceive(i, TARGET, 64);
                    awaitByEvent(right);
                    right.pair.postSend(right.prepare(SendOpcode.SEND, 0, 0, 64));
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        for (int i = 0; i < rounds; i++) {
            left.postReceive(i, TARGET, 64);
            left.pair.postSend(left.prepare(SendOpcode.SEND, 0, 0, 64));
            awaitByEvent(left);
        }
        echo.join();
    }

    private static void awaitByEvent(SoftSide side) throws Exception {
        while (side.receives.poll(side.completions) == 0) {
            side.receives.requestNotification(false);
            if (side.receives.poll(side.completions) != 0) {
                return;
            }
            assertThat(Poll.awaitReadable(side.channel.fileDescriptor(), -1, 10_000))
                    .isEqualTo(1);
            side.channel.takeEvent();
        }
    }

    @Test
    void sharedQueue_tellsItsLimit() throws VerbsException {
        connect(Options.DEFAULT.withSharedReceives());
        right.postReceive(1, TARGET, 10);
        right.postReceive(2, TARGET, 10);
        right.shared.setLimit(2);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertSucceeded(left.awaitSend(), WorkCompletionOpcode.SEND, 10);
        try (AsyncEvent event = rightDevice.awaitAsyncEvent()) {
            assertThat(event.type()).isEqualTo(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
        }
    }

    @Test
    void loopback_connectsAQueuePairWithItself() throws VerbsException {
        left = new SoftSide(leftDevice, Options.DEFAULT);
        right = new SoftSide(leftDevice, Options.DEFAULT);
        left.connect(left);
        left.fill(0, 100, 3);
        left.postReceive(1, TARGET, 100);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 100));
        assertThat(left.awaitReceive().lengthBytes()).isEqualTo(100);
        assertThat(left.bytes(TARGET, 100)).isEqualTo(left.bytes(0, 100));
    }
}
