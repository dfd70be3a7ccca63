package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.HandMade.Completion;
import io.rdmanio.verbs.cm.TestDevice;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What queue pairs make of a wire that loses packets, and of one that nothing comes out of any more. They are of two
 * devices, and connected by hand: the connection manager takes an address of this machine for the same device's.
 */
@Tag("rdma")
@Needs(Feature.LOSSY_WIRE)
@ExtendWith(LeakCheck.class)
class PacketLossTest {
    /** A message has its piece of the memory. */
    private static final int SLOT_BYTES = HandMade.MEMORY_BYTES / HandMade.DEPTH;

    /** A message of a slot has four packets. */
    private static final int PATH_MTU_BYTES = SLOT_BYTES / 4;

    private static final int TIMEOUT_CODE = 16;
    /** 4.096 microseconds times two to the power of the code. */
    private static final long TIMEOUT_NANOS = 4096L << TIMEOUT_CODE;

    private static final int RETRIES = 3;

    /** The specification counts to seven; rxe takes this for no limit, as the specification does for RNR retries. */
    private static final int RETRY_FOR_EVER = 7;

    private static final int SHORT_TIMEOUT_CODE = 12;

    private static final LossyWire WIRE = new LossyWire();

    @BeforeAll
    static void createWire() throws Exception {
        WIRE.create();
        for (LossyWire.End end : WIRE.ends()) {
            TestDevice.useNew(end.address());
        }
    }

    @AfterEach
    void restoreWire() throws Exception {
        WIRE.restore();
    }

    @AfterAll
    static void retireWire() throws Exception {
        WIRE.retire();
    }

    private static void connect(HandMade left, HandMade right, int timeoutCode, int retries) throws VerbsException {
        connect(left, right.pair.number(), timeoutCode, retries);
        connect(right, left.pair.number(), timeoutCode, retries);
    }

    private static void connect(HandMade end, int peerNumber, int timeoutCode, int retries) throws VerbsException {
        end.pair.modify(HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED));
        end.pair.modify(end.toReadyToReceive(peerNumber).pathMtuBytes(PATH_MTU_BYTES));
        end.pair.modify(end.toReadyToSend().timeout(timeoutCode).retryCount(retries));
    }

    private static void reset(HandMade end) throws VerbsException {
        end.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    }

    /** Sends a message from one to the other, which finds it unchanged. */
    private static void sendOne(HandMade from, HandMade to, int seed) throws VerbsException {
        to.postReceive(seed, 0, SLOT_BYTES);
        from.fill(0, SLOT_BYTES, seed);
        from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, SLOT_BYTES));
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        Completion received = to.awaitReceive();
        assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(received.id()).isEqualTo(seed);
        assertThat(received.lengthBytes()).isEqualTo(SLOT_BYTES);
        assertThat(to.bytes(0, SLOT_BYTES)).isEqualTo(from.bytes(0, SLOT_BYTES));
    }

    private static void assertState(HandMade end, QueuePairState state) throws VerbsException {
        assertThat(end.pair.state()).isEqualTo(state);
    }

    /** The first of some requests failed, and the others were flushed in their order. */
    private static void assertFailed(List<Completion> completions, WorkCompletionStatus status) {
        assertThat(completions.getFirst().status()).isEqualTo(status);
        assertThat(completions.stream().map(Completion::id))
                .containsExactlyElementsOf(
                        LongStream.range(0, completions.size()).boxed().toList());
        assertThat(completions.stream().skip(1).map(Completion::status)).containsOnly(WorkCompletionStatus.FLUSHED);
    }

    /** Posts four sends, of which two would have no completion if all went well. */
    private static List<Completion> failToSend(HandMade from) throws VerbsException {
        for (int i = 0; i < 2; i++) {
            from.postReceive(i, 0, SLOT_BYTES);
        }
        for (int i = 0; i < 4; i++) {
            int flags = i % 2 == 0 ? SendFlags.SIGNALED : 0;
            from.pair.postSend(
                    from.prepare(SendOpcode.SEND, flags, 0, SLOT_BYTES).workRequestId(i));
        }
        return from.await(from.sends, 4);
    }

    private static void assertReceivesFlushed(HandMade end) throws VerbsException {
        List<Completion> receives = end.await(end.receives, 2);
        assertThat(receives.stream().map(Completion::id)).containsExactly(0L, 1L);
        assertThat(receives.stream().map(Completion::status)).containsOnly(WorkCompletionStatus.FLUSHED);
    }

    @Test
    void messages_goThroughBothInterfaces() throws Exception {
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, TIMEOUT_CODE, RETRIES);
            long sent = WIRE.counter(WIRE.left, "sent_pkts");
            long received = WIRE.counter(WIRE.right, "rcvd_pkts");
            long sentBytes = WIRE.statistic(WIRE.left, "tx_bytes");
            long receivedBytes = WIRE.statistic(WIRE.right, "rx_bytes");
            sendOne(left, right, 1);
            int packets = SLOT_BYTES / PATH_MTU_BYTES;
            assertThat(WIRE.counter(WIRE.left, "sent_pkts") - sent).isEqualTo(packets);
            assertThat(WIRE.counter(WIRE.right, "rcvd_pkts") - received).isEqualTo(packets);
            assertThat(WIRE.statistic(WIRE.left, "tx_bytes") - sentBytes).isGreaterThan(SLOT_BYTES);
            assertThat(WIRE.statistic(WIRE.right, "rx_bytes") - receivedBytes).isGreaterThan(SLOT_BYTES);
            sendOne(right, left, 2);
        }
    }

    @Test
    void wireThatLosesEverything_exhaustsTheRetriesUntilTheQueuePairIsReset() throws Exception {
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, TIMEOUT_CODE, RETRIES);
            sendOne(left, right, 1);
            right.postReceive(1, 0, SLOT_BYTES);
            long sent = WIRE.counter(WIRE.left, "sent_pkts");
            long retried = WIRE.counter(WIRE.left, "completer_retry_err");
            long exceeded = WIRE.counter(WIRE.left, "retry_exceeded_err");
            long received = WIRE.counter(WIRE.right, "rcvd_pkts");
            WIRE.lose(WIRE.left, 100);
            long begin = System.nanoTime();
            assertFailed(failToSend(left), WorkCompletionStatus.RETRY_EXCEEDED);
            // The specification lets a device wait up to four times as long before it retries.
            assertThat(System.nanoTime() - begin).isBetween(RETRIES * TIMEOUT_NANOS, 4 * (RETRIES + 1) * TIMEOUT_NANOS);
            assertReceivesFlushed(left);
            assertState(left, QueuePairState.ERROR);
            int packets = 4 * (SLOT_BYTES / PATH_MTU_BYTES);
            assertThat(WIRE.counter(WIRE.left, "sent_pkts") - sent).isBetween(RETRIES + 1L, (RETRIES + 1L) * packets);
            assertThat(WIRE.counter(WIRE.left, "completer_retry_err") - retried).isEqualTo(RETRIES);
            assertThat(WIRE.counter(WIRE.left, "retry_exceeded_err") - exceeded).isEqualTo(1);
            assertThat(WIRE.counter(WIRE.right, "rcvd_pkts")).isEqualTo(received);
            // The other end knows nothing of it.
            assertState(right, QueuePairState.READY_TO_SEND);
            assertThat(right.isSilent(right.receives)).isTrue();
            WIRE.loseNothing();
            reset(left);
            reset(right);
            connect(left, right, TIMEOUT_CODE, RETRIES);
            sendOne(left, right, 2);
            sendOne(right, left, 3);
        }
    }

    @Test
    void wireThatLosesHalfOfAllPackets_losesNoMessage() throws Exception {
        int messages = 100;
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, SHORT_TIMEOUT_CODE, RETRY_FOR_EVER);
            long retried = WIRE.counter(WIRE.left, "completer_retry_err");
            WIRE.lose(WIRE.left, 50);
            WIRE.lose(WIRE.right, 50);
            for (int i = 0; i < HandMade.DEPTH; i++) {
                right.postReceive(i, slot(i), SLOT_BYTES);
            }
            List<Completion> sends = new ArrayList<>();
            List<Completion> receives = new ArrayList<>();
            int posted = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            while (sends.size() < messages || receives.size() < messages) {
                assertThat(System.nanoTime())
                        .as("in time: %d posted, %d sent, %d received", posted, sends.size(), receives.size())
                        .isLessThan(deadline);
                // Both slots of a message are free again when its predecessor was sent, received and compared.
                if (posted < messages && posted < Math.min(sends.size(), receives.size()) + HandMade.DEPTH) {
                    left.fill(slot(posted), length(posted), posted);
                    left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, slot(posted), length(posted))
                            .workRequestId(posted));
                    posted++;
                } else {
                    LockSupport.parkNanos(1_000_000);
                }
                poll(left, left.sends, sends);
                int before = receives.size();
                poll(right, right.receives, receives);
                for (int i = before; i < receives.size(); i++) {
                    assertThat(right.bytes(slot(i), length(i))).isEqualTo(left.bytes(slot(i), length(i)));
                    // A message that comes a second time finds other bytes to write over.
                    right.fill(slot(i), SLOT_BYTES, i + 1);
                    right.postReceive(i + HandMade.DEPTH, slot(i), SLOT_BYTES);
                }
            }
            for (List<Completion> completions : List.of(sends, receives)) {
                assertThat(completions.stream().map(Completion::id))
                        .containsExactlyElementsOf(
                                LongStream.range(0, messages).boxed().toList());
                assertThat(completions.stream().map(Completion::status)).containsOnly(WorkCompletionStatus.SUCCESS);
            }
            for (int i = 0; i < messages; i++) {
                assertThat(receives.get(i).lengthBytes()).isEqualTo(length(i));
            }
            assertThat(right.isSilent(right.receives)).isTrue();
            assertThat(WIRE.counter(WIRE.left, "completer_retry_err") - retried).isPositive();
        }
    }

    private static int slot(int message) {
        return message % HandMade.DEPTH * SLOT_BYTES;
    }

    private static int length(int message) {
        return 1 + message * 97 % SLOT_BYTES;
    }

    private static void poll(HandMade end, CompletionQueue queue, List<Completion> found) throws VerbsException {
        int polled = queue.poll(end.completions);
        for (int i = 0; i < polled; i++) {
            found.add(Completion.of(end.completions, i));
        }
    }

    @Test
    void wireThatLosesHalfOfAllPackets_hasEveryAtomicDoneOnce() throws Exception {
        int additions = 50;
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, SHORT_TIMEOUT_CODE, RETRY_FOR_EVER);
            right.memory.set(ValueLayout.JAVA_LONG, 0, 0);
            WIRE.lose(WIRE.left, 50);
            WIRE.lose(WIRE.right, 50);
            for (int i = 0; i < additions; i++) {
                left.pair.postSend(left.prepare(SendOpcode.FETCH_AND_ADD, SendFlags.SIGNALED, 0, Long.BYTES)
                        .atomic(right.region.address(), right.region.remoteKey(), 1, 0));
                assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            }
            assertThat(right.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(additions);
        }
    }

    /** The peer's kernel drops what is for an address that it does not have, and nobody tells the sender. */
    @Test
    void peerWhoseAddressGoes_exhaustsTheRetries() throws Exception {
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, TIMEOUT_CODE, 1);
            sendOne(left, right, 1);
            long received = WIRE.counter(WIRE.right, "rcvd_pkts");
            long receivedBytes = WIRE.statistic(WIRE.right, "rx_bytes");
            WIRE.deleteAddress(WIRE.right);
            assertFailed(failToSend(left), WorkCompletionStatus.RETRY_EXCEEDED);
            assertReceivesFlushed(left);
            assertThat(WIRE.statistic(WIRE.right, "rx_bytes") - receivedBytes).isGreaterThan(SLOT_BYTES);
            assertThat(WIRE.counter(WIRE.right, "rcvd_pkts")).isEqualTo(received);
            assertState(right, QueuePairState.READY_TO_SEND);
        }
    }

    /** A queue pair names its address by an entry of the port's GID table, which is void now: there is no packet to send. */
    @Test
    void ownAddressThatGoes_failsTheNextRequestAtOnce() throws Exception {
        try (HandMade left = WIRE.open(WIRE.left);
                HandMade right = WIRE.open(WIRE.right)) {
            connect(left, right, TIMEOUT_CODE, RETRIES);
            sendOne(left, right, 1);
            WIRE.deleteAddress(WIRE.left);
            long sent = WIRE.counter(WIRE.left, "sent_pkts");
            assertFailed(failToSend(left), WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
            assertThat(WIRE.counter(WIRE.left, "sent_pkts")).isEqualTo(sent);
            assertReceivesFlushed(left);
            assertState(left, QueuePairState.ERROR);
            assertState(right, QueuePairState.READY_TO_SEND);
        }
    }
}
