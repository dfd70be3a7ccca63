package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.soft.SoftSide.Completion;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Moments of the end of a queue pair that a race would have to hit, brought about step by step. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class SoftQueuePairEndTest {
    private static final int TARGET = 300_000;

    private SoftDevice leftDevice;
    private SoftDevice rightDevice;
    private SoftSide left;
    private SoftSide right;
    private SoftSide[] others;

    @BeforeEach
    void open() throws Exception {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
        others = SoftSide.connected(leftDevice, rightDevice, Options.DEFAULT);
    }

    @AfterEach
    void close() throws VerbsException {
        left.close();
        right.close();
        others[0].close();
        others[1].close();
        leftDevice.close();
        rightDevice.close();
    }

    private SoftQueuePair connect(Options options) throws VerbsException {
        SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, options);
        left = sides[0];
        right = sides[1];
        left.pair.postSend(left.toPeer(right, SendOpcode.WRITE, SendFlags.SIGNALED, 0, 1, TARGET));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        return rightDevice.host.queuePairs().find(right.pair.number());
    }

    /** The left side sees the right one as it was before its error. */
    private static void showOpen(SoftQueuePair queuePair) {
        queuePair.inbound().area().setState(Area.OPEN, SoftSide.ALL_ACCESS, 1);
    }

    private void assertOthersLive() throws VerbsException {
        others[1].postReceive(5, TARGET, 10);
        others[0].pair.postSend(others[0].prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(others[0].awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(others[1].awaitReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void messageThatCameAfterTheFlush_isNoViolationWhenErrorIsEnteredAgain() throws VerbsException {
        SoftQueuePair queuePair = connect(Options.DEFAULT);
        right.postReceive(1, TARGET, 10);
        right.pair.toError();
        assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        showOpen(queuePair);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        right.pair.toError();
        assertThat(right.isSilent(right.receives)).isTrue();
        assertOthersLive();
    }

    @Test
    void receivePostedAsTheErrorBegins_doesNotFlushThoseThatMessagesHaveCome() throws VerbsException {
        SoftQueuePair queuePair = connect(Options.DEFAULT);
        right.postReceive(1, TARGET, 10);
        right.postReceive(2, TARGET, 10);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(queuePair.markError()).isTrue();
        right.postReceive(3, TARGET, 10);
        queuePair.finishError();
        List<Completion> received = right.await(right.receives, 3);
        assertThat(received).extracting(Completion::id).containsExactly(1L, 2L, 3L);
        assertThat(received)
                .extracting(Completion::status)
                .containsExactly(
                        WorkCompletionStatus.SUCCESS, WorkCompletionStatus.FLUSHED, WorkCompletionStatus.FLUSHED);
        assertOthersLive();
    }

    @Test
    void receivesPostedInError_areNotCountedByThePeer() throws VerbsException {
        SoftQueuePair queuePair = connect(Options.DEFAULT);
        right.pair.toError();
        for (int i = 0; i < 2 * SoftSide.DEPTH; i++) {
            right.postReceive(i, TARGET, 10);
            assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
        showOpen(queuePair);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.isSilent(left.sends)).isTrue();
        assertOthersLive();
    }

    @Test
    void errorThatIsFinishedAfterReset_leavesWhatIsPostedSince() throws VerbsException {
        SoftQueuePair queuePair = connect(Options.DEFAULT);
        assertThat(queuePair.markError()).isTrue();
        right.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        right.connect(left);
        right.postReceive(1, TARGET, 10);
        queuePair.finishError();
        assertThat(right.isSilent(right.receives)).isTrue();
    }

    @Test
    void messageThatNeverBecomesWhole_givesItsSharedReceiveBackFlushed() throws VerbsException {
        connect(Options.DEFAULT.withSharedReceives());
        right.postReceive(7, TARGET, 100_000);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 20_000)
                .sgeCount(2)
                .sge(1, left.region.address(), 10_000, left.region.localKey() ^ 0x7700));
        assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(right.isSilent(right.receives)).isTrue();
        right.pair.toError();
        Completion flushed = right.awaitReceive();
        assertThat(flushed.id()).isEqualTo(7);
        assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
    }

    @Test
    void requestThatAFormerPeerHasNotAcknowledged_failsWhenThePeerComesAnew() throws VerbsException {
        connect(Options.DEFAULT.withSharedReceives());
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
        assertThat(left.isSilent(left.sends)).isTrue();
        right.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        right.connect(left);
        right.postReceive(1, TARGET, 10);
        left.pair.postSend(
                left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10).workRequestId(2));
        List<Completion> ended = left.await(left.sends, 2);
        assertThat(ended)
                .extracting(Completion::status)
                .containsExactly(WorkCompletionStatus.RETRY_EXCEEDED, WorkCompletionStatus.FLUSHED);
        assertThat(right.isSilent(right.receives)).isTrue();
    }

    /** What the peer's processor may still be writing must have an end before the memory is somebody else's. */
    @Test
    void quietTask_waitsForThePeerToBeThrough() throws Exception {
        connect(Options.DEFAULT);
        CountDownLatch quiet = new CountDownLatch(1);
        right.pair.onQuiet(quiet::countDown);
        assertThatThrownBy(() -> right.pair.onQuiet(() -> {})).isInstanceOf(IllegalStateException.class);
        CountDownLatch peerGoesOn = new CountDownLatch(1);
        CountDownLatch peerIsBusy = new CountDownLatch(1);
        leftDevice.host.progress().execute(() -> {
            peerIsBusy.countDown();
            awaitUninterruptibly(peerGoesOn);
        });
        awaitUninterruptibly(peerIsBusy);
        right.pair.close();
        assertThat(quiet.await(100, TimeUnit.MILLISECONDS)).isFalse();
        peerGoesOn.countDown();
        assertThat(quiet.await(20, TimeUnit.SECONDS)).isTrue();
        assertOthersLive();
    }

    @Test
    void quietTask_waitsForNobodyWithoutAPeerOrWhenItDies() throws Exception {
        connect(Options.DEFAULT);
        CountDownLatch quiet = new CountDownLatch(1);
        right.pair.onQuiet(quiet::countDown);
        leftDevice.host.queuePairs().find(left.pair.number()).fault(new ViolationException("a test"));
        right.pair.close();
        assertThat(quiet.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
