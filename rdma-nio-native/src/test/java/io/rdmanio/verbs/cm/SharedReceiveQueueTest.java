package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.Without;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.XrcDomain;
import io.rdmanio.verbs.cm.SharedReceivers.Receipt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Receives that several queue pairs share, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class SharedReceiveQueueTest {

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    @Test
    void twoQueuePairs_takeReceivesInTheOrderOfTheirPosting() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(2)) {
            receivers.post(0, 4);
            int[] clients = {0, 1, 1, 0, 1};
            for (int i = 0; i < clients.length; i++) {
                assertThat(receivers.exchange(clients[i], 50 + i))
                        .isEqualTo(new Receipt(
                                i,
                                WorkCompletionStatus.SUCCESS,
                                receivers.pairs.get(clients[i]).number(),
                                50 + i));
            }
        }
    }

    @Test
    void oneContext_hasHundredsOfSmallQueues() throws IOException {
        List<SharedReceiveQueue> queues = new ArrayList<>();
        try (OpenDeviceContext context = TestDevice.engine().open(TestDevice.name());
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            for (int i = 0; i < 200; i++) {
                queues.add(domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(32, 1, 0)));
            }
            for (SharedReceiveQueue queue : queues) {
                queue.close();
            }
        }
        assertThat(queues).hasSize(200);
    }

    @Test
    void list_isPostedInItsOrder() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1);
                ReceiveWorkRequest first = new ReceiveWorkRequest(1);
                ReceiveWorkRequest second = new ReceiveWorkRequest(1)) {
            receivers.prepare(second, 9);
            receivers.shared.postReceive(receivers.prepare(first, 8).next(second));
            assertThat(receivers.exchange(0, 1).number()).isEqualTo(8);
            assertThat(receivers.exchange(0, 2).number()).isEqualTo(9);
        }
    }

    @Test
    @Needs(Feature.RECEIVER_NOT_READY)
    void emptyQueue_makesTheSenderRepeat() throws Exception {
        try (SharedReceivers receivers = new SharedReceivers(2)) {
            receivers.send(1, 77);
            assertThat(receivers.isQuiet()).isTrue();
            receivers.post(3);
            Receipt receipt = receivers.awaitReceipt();
            assertThat(receipt.number()).isEqualTo(3);
            assertThat(receipt.value()).isEqualTo(77);
            assertThat(receivers.clients.get(1).awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    @Without(Feature.RECEIVER_NOT_READY)
    void emptyQueue_endsAnIwarpConnection() throws Exception {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.send(0, 77);
            TestDevice.expect(receivers.channel, CommunicationEventType.DISCONNECTED);
        }
    }

    @Test
    void creation_grantsWhatWasWanted() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            assertThat(receivers.shared.domain()).isSameAs(receivers.domain);
            assertThat(receivers.shared.isExtended()).isFalse();
            assertThat(receivers.shared.maxWorkRequests()).isGreaterThanOrEqualTo(SharedReceivers.WANTED);
            assertThat(receivers.shared.maxSges()).isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    @Needs(Feature.SHARED_QUEUE_QUERY)
    void attributes_areWhatWasGranted() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            SharedReceiveQueue queue = receivers.shared;
            // Some drivers do not say by how much they went beyond what was wanted.
            SharedReceiveQueueAttributes attributes = queue.attributes();
            assertThat(attributes.maxWorkRequests()).isGreaterThanOrEqualTo(queue.maxWorkRequests());
            assertThat(attributes.maxSges()).isGreaterThanOrEqualTo(queue.maxSges());
            assertThat(attributes.limit()).isZero();
        }
    }

    @Test
    void tooLarge_isExplained() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            int workRequests = receivers.device.attributes().maxSharedReceiveQueueWorkRequests();
            int sges = receivers.device.attributes().maxSharedReceiveQueueSges();
            for (SharedReceiveQueueAttributes wanted : new SharedReceiveQueueAttributes[] {
                new SharedReceiveQueueAttributes(workRequests + 1, 1, 0),
                new SharedReceiveQueueAttributes(1, sges + 1, 0)
            }) {
                assertThatThrownBy(() -> receivers.domain.createSharedReceiveQueue(wanted))
                        .isInstanceOfSatisfying(VerbsException.class, e -> {
                            assertThat(e.operation()).isEqualTo("ibv_create_srq");
                            assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                            assertThat(e)
                                    .hasMessageContaining(wanted.toString())
                                    .hasMessageContaining("maxSharedReceiveQueueWorkRequests");
                        });
            }
        }
    }

    @Test
    void fullQueue_isExplained() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            // A device may have room for more than it granted.
            int tooMany = 10 * receivers.shared.maxWorkRequests();
            assertThatThrownBy(() -> receivers.post(0, tooMany)).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("ibv_post_srq_recv");
                assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                assertThat(e).hasMessageContaining("shared receive queue is full");
            });
        }
    }

    @Test
    void tooManyScatterGatherEntries_areExplained() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            int sges = receivers.shared.maxSges();
            // siw has room for as many as the device has, whatever the queue was created with.
            int tooMany = receivers.device.attributes().maxSges() + 1;
            try (ReceiveWorkRequest request = new ReceiveWorkRequest(tooMany)) {
                receivers.prepare(request, 0).sgeCount(tooMany);
                assertThatThrownBy(() -> receivers.shared.postReceive(request))
                        .isInstanceOfSatisfying(VerbsException.class, e -> {
                            assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                            assertThat(e).hasMessageContaining("more than " + sges + " scatter-gather entries");
                        });
            }
        }
    }

    @Test
    void limit_isToldOnceUntilItIsSetAnew() throws Exception {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.post(0, 5);
            receivers.shared.setLimit(4);
            for (int round = 0; round < 2; round++) {
                // Six are there; the third that goes leaves three, which is fewer than four.
                receivers.exchange(0, 1);
                receivers.exchange(0, 2);
                assertThat(receivers.device.takeAsyncEvent()).isNull();
                receivers.exchange(0, 3);
                try (AsyncEvent event =
                        TestDevice.nextAsync(receivers.device, AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED)) {
                    assertThat(event.sharedReceiveQueue()).isSameAs(receivers.shared);
                    assertThat(event.queuePair()).isNull();
                    assertThat(event.completionQueue()).isNull();
                }
                receivers.exchange(0, 4);
                assertThat(receivers.isQuiet()).isTrue();
                assertThat(receivers.device.takeAsyncEvent()).isNull();
                receivers.post(0, 3);
                receivers.shared.setLimit(4);
            }
            receivers.shared.setLimit(0);
            for (int i = 0; i < 6; i++) {
                receivers.exchange(0, i);
            }
            assertThat(receivers.isQuiet()).isTrue();
            assertThat(receivers.device.takeAsyncEvent()).isNull();
        }
    }

    @Test
    void close_doesNotWaitForAnEventThatNobodyAcknowledged() throws IOException {
        for (boolean take : new boolean[] {true, false}) {
            try (SharedReceivers receivers = new SharedReceivers(1)) {
                receivers.post(0, 1);
                receivers.shared.setLimit(2);
                receivers.exchange(0, 1);
                AsyncEvent event = null;
                if (take) {
                    event = TestDevice.nextAsync(receivers.device, AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
                }
                receivers.shared.close();
                assertThat(receivers.device.takeAsyncEvent()).isNull();
                if (take) {
                    assertThat(event.sharedReceiveQueue()).isSameAs(receivers.shared);
                    event.close();
                }
            }
        }
    }

    @Test
    void limitBeyondTheQueue_isExplained() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            int tooMuch = 100 * receivers.shared.maxWorkRequests();
            assertThatThrownBy(() -> receivers.shared.setLimit(tooMuch))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_modify_srq");
                        assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                        assertThat(e)
                                .hasMessageContaining("srq_limit=" + tooMuch)
                                .hasMessageContaining("limit must not be more than the queue holds");
                    });
            assertThatThrownBy(() -> receivers.shared.setLimit(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Needs(Feature.RESIZED_SHARED_QUEUES)
    void resize_keepsWhatIsPosted() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(2)) {
            SharedReceiveQueue queue = receivers.shared;
            int before = queue.maxWorkRequests();
            receivers.post(0, 3);
            receivers.exchange(0, 1);
            queue.resize(4 * before);
            assertThat(queue.maxWorkRequests()).isGreaterThanOrEqualTo(4 * before);
            assertThat(queue.attributes().maxWorkRequests()).isGreaterThanOrEqualTo(queue.maxWorkRequests());
            receivers.post(4, 4 * before);
            for (int i = 1; i <= 5; i++) {
                assertThat(receivers.exchange(i % 2, i).number()).isEqualTo(i);
            }
            queue.resize(5 * before, 3);
            assertThat(queue.attributes().limit()).isEqualTo(3);
        }
    }

    @Test
    @Needs(Feature.RESIZED_SHARED_QUEUES)
    void resize_thatCannotBeIsExplainedAndChangesNothing() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            SharedReceiveQueue queue = receivers.shared;
            receivers.post(0, SharedReceivers.WANTED - 1);
            SharedReceiveQueueAttributes before = queue.attributes();
            int tooMany = receivers.device.attributes().maxSharedReceiveQueueWorkRequests() + 1;
            assertThatThrownBy(() -> queue.resize(tooMany))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_modify_srq(max_wr=" + tooMany + ")")
                    .hasMessageContaining("maxSharedReceiveQueueWorkRequests");
            assertThatThrownBy(() -> queue.resize(1))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("receives that are posted");
            assertThat(queue.attributes()).isEqualTo(before);
        }
    }

    @Test
    @Without(Feature.RESIZED_SHARED_QUEUES)
    void resizeAndQuery_whereTheDeviceCannotAreErrors() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            assertThatThrownBy(() -> receivers.shared.resize(100))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_modify_srq(max_wr=100)")
                    .hasMessageContaining("EOPNOTSUPP");
            assertThatThrownBy(receivers.shared::attributes)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_query_srq")
                    .hasMessageContaining("EOPNOTSUPP");
        }
    }

    @Test
    @Needs(Feature.SHARED_QUEUE_QUERY)
    void limit_isGoneFromTheAttributesWhenItWasReached() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.post(0, 1);
            receivers.shared.setLimit(2);
            assertThat(receivers.shared.attributes().limit()).isEqualTo(2);
            receivers.exchange(0, 1);
            TestDevice.nextAsync(receivers.device, AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED)
                    .close();
            assertThat(receivers.shared.attributes().limit()).isZero();
        }
    }

    @Test
    void listThatDoesNotFit_tellsWhereItEnded() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1);
                ReceiveWorkRequest first = new ReceiveWorkRequest(1);
                ReceiveWorkRequest second = new ReceiveWorkRequest(1)) {
            PostException full = catchThrowableOfType(PostException.class, () -> {
                for (int number = 0; number < 10 * receivers.shared.maxWorkRequests(); number++) {
                    receivers.post(number);
                }
            });
            assertThat(full.failedIndex()).isZero();
            int next = (int) full.failedWorkRequestId();
            assertThat(next).isGreaterThanOrEqualTo(SharedReceivers.WANTED);
            // One is taken, so the first of two fits.
            assertThat(receivers.exchange(0, 1).number()).isZero();
            receivers.prepare(second, 1001);
            assertThatThrownBy(() -> receivers.shared.postReceive(
                            receivers.prepare(first, 1000).next(second)))
                    .isInstanceOfSatisfying(PostException.class, e -> {
                        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                        assertThat(e.failedIndex()).isEqualTo(1);
                        assertThat(e.failedWorkRequestId()).isEqualTo(1001);
                    });
        }
    }

    @Test
    void queueWithoutRoom_refusesEveryPost() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0);
                SendWorkRequest send = new SendWorkRequest(0);
                ReceiveWorkRequest receive = new ReceiveWorkRequest(0)) {
            assertRefuses(receivers, 0, 1, pair -> pair.postSend(send));
            assertRefuses(receivers, 1, 0, pair -> pair.postReceive(receive));
        }
    }

    private interface Post {
        void to(QueuePair pair) throws VerbsException;
    }

    private static void assertRefuses(SharedReceivers receivers, int sends, int receives, Post post)
            throws VerbsException {
        QueuePair pair;
        try {
            pair = receivers.domain.createQueuePair(receivers
                    .attributes()
                    .withSharedReceiveQueue(null)
                    .withCapabilities(new QueuePairCapabilities(sends, receives, 1, 1, 0)));
        } catch (VerbsException e) {
            // Some devices don't make such a queue pair in the first place.
            assertThat(e.operation()).isEqualTo("ibv_create_qp");
            return;
        }
        try (pair) {
            assertThatThrownBy(() -> post.to(pair)).isInstanceOf(PostException.class);
        }
    }

    @Test
    void receiveOfItsOwn_isRefusedByAQueuePairThatShares() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1);
                ReceiveWorkRequest request = new ReceiveWorkRequest(1)) {
            receivers.prepare(request, 0);
            assertThatThrownBy(() -> receivers.pairs.get(0).postReceive(request))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("come from a SharedReceiveQueue");
        }
    }

    @Test
    void close_closesItsQueuePairsFirst() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.post(0);
            receivers.shared.close();
            receivers.shared.close();
            assertThatThrownBy(() -> receivers.pairs.get(0).toError())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this QueuePair is closed");
            assertThatThrownBy(() -> receivers.post(1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this SharedReceiveQueue is closed");
            assertThatThrownBy(receivers.shared::attributes).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> receivers.shared.setLimit(1)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> receivers.shared.resize(1)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(receivers.shared::number).isInstanceOf(IllegalStateException.class);
            try (EventChannel channel = EventChannel.open(TestDevice.engine());
                    CommunicationId id = TestDevice.resolve(
                            channel, receivers.listener.localAddress().getPort())) {
                assertThatThrownBy(() -> id.createQueuePair(receivers.domain, receivers.attributes()))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void queueOfAnotherContext_isRefused() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0);
                OpenDeviceContext other = TestDevice.engine().open(receivers.device.name());
                ProtectionDomain domain = other.allocateProtectionDomain();
                SharedReceiveQueue stranger =
                        domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(1, 1, 0));
                CommunicationId id = TestDevice.resolve(
                        receivers.channel, receivers.listener.localAddress().getPort())) {
            assertThatThrownBy(() -> id.createQueuePair(
                            receivers.domain, receivers.attributes().withSharedReceiveQueue(stranger)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("different devices");
        }
    }

    @Test
    void extendedConnections_areNotSupportedHere() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(0)) {
            assertThatThrownBy(() -> receivers.device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_open_xrcd");
                        assertThat(e.errno()).isIn(Errno.EOPNOTSUPP, Errno.ENOSYS);
                        assertThat(e)
                                .hasMessageContaining(receivers.device.name())
                                .hasMessageContaining("not have this operation");
                    });
            assertThatThrownBy(receivers.shared::number).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("ibv_get_srq_num");
                assertThat(e.errno()).isIn(Errno.EOPNOTSUPP, Errno.ENOSYS);
            });
        }
    }
}
