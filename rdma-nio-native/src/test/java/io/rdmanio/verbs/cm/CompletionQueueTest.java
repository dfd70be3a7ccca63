package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.Without;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Depth, overrun and notification of completion queues, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class CompletionQueueTest {
    private static final int QUIET_MILLIS = 200;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** Writes eight bytes and waits for the event of its completion, which stays in the queue. */
    private static void leaveCompletion(ConnectedPair pair, long workRequestId) throws IOException {
        pair.client.queue.requestNotification(false);
        pair.client.pair.postSend(pair.client
                .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                .workRequestId(workRequestId)
                .remote(pair.server.region.address(), pair.server.region.remoteKey()));
        awaitEvent(pair.client);
    }

    private static void awaitEvent(Endpoint endpoint) throws IOException {
        assertThat(Poll.awaitReadable(endpoint.channel.fileDescriptor(), -1, TestDevice.TIMEOUT_MILLIS))
                .isEqualTo(1);
        assertThat(endpoint.channel.takeEvent()).isSameAs(endpoint.queue);
    }

    private static void assertNoEvent(Endpoint endpoint) throws IOException {
        assertThat(Poll.awaitReadable(endpoint.channel.fileDescriptor(), -1, QUIET_MILLIS))
                .isZero();
        assertThat(endpoint.channel.takeEvent()).isNull();
    }

    @Test
    void depth_isWhatWasGranted() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.listen(channel);
                CompletionQueue small = id.device().createCompletionQueue(1, null);
                CompletionQueue large = id.device().createCompletionQueue(1000, null)) {
            assertThat(small.depthEntries()).isBetween(1, 999);
            assertThat(large.depthEntries()).isGreaterThanOrEqualTo(1000);
        }
    }

    @Test
    void oneContext_hasHundredsOfSmallQueues() throws IOException {
        List<CompletionQueue> queues = new ArrayList<>();
        try (OpenDeviceContext context = TestDevice.engine().open(TestDevice.name())) {
            for (int i = 0; i < 300; i++) {
                queues.add(context.createCompletionQueue(64, null));
            }
            for (CompletionQueue queue : queues) {
                queue.close();
            }
        }
        assertThat(queues).hasSize(300);
    }

    @Test
    @Needs(Feature.RESIZED_COMPLETION_QUEUES)
    void resize_keepsCompletionsThatWait() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            CompletionQueue queue = pair.client.queue;
            int granted = queue.depthEntries();
            for (int i = 0; i < 3; i++) {
                leaveCompletion(pair, 100 + i);
            }
            queue.resize(10 * granted);
            assertThat(queue.depthEntries()).isGreaterThanOrEqualTo(10 * granted);
            queue.resize(3);
            assertThat(queue.depthEntries()).isBetween(3, granted);
            for (int i = 0; i < 3; i++) {
                assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(100 + i);
            }
            leaveCompletion(pair, 200);
            assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(200);
        }
    }

    @Test
    @Needs(Feature.RESIZED_COMPLETION_QUEUES)
    void resize_belowWhatWaitsIsExplainedAndChangesNothing() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            CompletionQueue queue = pair.client.queue;
            int granted = queue.depthEntries();
            for (int i = 0; i < 3; i++) {
                leaveCompletion(pair, i);
            }
            assertThatThrownBy(() -> queue.resize(1)).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("ibv_resize_cq");
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                assertThat(e).hasMessageContaining("entries=1").hasMessageContaining("wait to be polled");
            });
            assertThat(queue.depthEntries()).isEqualTo(granted);
            for (int i = 0; i < 3; i++) {
                assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(i);
            }
            queue.resize(1);
            assertThat(queue.depthEntries()).isLessThanOrEqualTo(granted);
        }
    }

    @Test
    @Needs(Feature.RESIZED_COMPLETION_QUEUES)
    void resize_beyondTheDeviceIsExplained() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            int tooMany = pair.client.id.device().attributes().maxCompletionQueueEntries() + 1;
            assertThatThrownBy(() -> pair.client.queue.resize(tooMany))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("maxCompletionQueueEntries");
        }
    }

    @Test
    @Without(Feature.RESIZED_COMPLETION_QUEUES)
    void resize_whereTheDeviceCannotIsAnError() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            int granted = pair.client.queue.depthEntries();
            assertThatThrownBy(() -> pair.client.queue.resize(100)).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("ibv_resize_cq");
                assertThat(e.errno()).isIn(Errno.EOPNOTSUPP, Errno.ENOSYS);
                assertThat(e).hasMessageContaining("does not have this operation");
            });
            assertThat(pair.client.queue.depthEntries()).isEqualTo(granted);
        }
    }

    @Test
    void resize_ofAClosedQueueOrToNothingIsRefused() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThatThrownBy(() -> pair.client.queue.resize(0)).isInstanceOf(IllegalArgumentException.class);
            pair.client.queue.close();
            assertThatThrownBy(() -> pair.client.queue.resize(10))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this CompletionQueue is closed");
        }
    }

    @Test
    @Needs(Feature.RESIZED_COMPLETION_QUEUES)
    void resize_whileAnotherThreadPollsLosesNothing() throws Exception {
        int messages = 500;
        try (ConnectedPair pair = new ConnectedPair()) {
            AtomicBoolean done = new AtomicBoolean();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread resizer = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; !done.get(); i++) {
                        pair.client.queue.resize(2 * Endpoint.DEPTH + 100 * (i % 5));
                        // With one processor a loop that always resizes would leave the poller no turn.
                        Thread.sleep(1);
                    }
                } catch (VerbsException | InterruptedException | RuntimeException e) {
                    failure.set(e);
                }
            });
            try {
                for (int i = 0; i < messages; i++) {
                    pair.client.pair.postSend(pair.client
                            .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                            .workRequestId(i)
                            .remote(pair.server.region.address(), pair.server.region.remoteKey()));
                    assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(i);
                }
            } finally {
                done.set(true);
                resizer.join();
            }
            assertThat(failure.get()).isNull();
        }
    }

    @Test
    void overrun_isToldByAnAsynchronousEvent() throws IOException {
        try (ConnectedPair peer = new ConnectedPair();
                CompletionQueue queue = peer.client.id.device().createCompletionQueue(1, null);
                CompletionQueue receives = peer.client.id.device().createCompletionQueue(4, null);
                Connection connection = new Connection(peer, queue, receives)) {
            DeviceContext device = peer.client.id.device();
            int tooMany = queue.depthEntries() + 2;
            assumeTrue(tooMany <= Connection.DEPTH, "the device grants a queue of " + queue.depthEntries());
            for (int i = 0; i < tooMany; i++) {
                connection.write(i);
            }
            try (AsyncEvent event = TestDevice.nextAsync(device, AsyncEventType.COMPLETION_QUEUE_ERROR)) {
                assertThat(event.completionQueue()).isSameAs(queue);
            }
            // What had a place in the queue is there; what had none is lost, and polling tells nothing of it.
            try (WorkCompletions completions = new WorkCompletions(tooMany)) {
                assertThat(queue.poll(completions)).isBetween(1, queue.depthEntries());
                assertThat(completions.workRequestId(0)).isZero();
            }
        }
    }

    @Test
    void notification_comesOncePerRequest() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            leaveCompletion(pair, 1);
            pair.client.pair.postSend(pair.client
                    .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                    .remote(pair.server.region.address(), pair.server.region.remoteKey()));
            assertNoEvent(pair.client);
            assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(1);
            assertThat(pair.client.awaitCompletion().workRequestId()).isEqualTo(SendOpcode.WRITE);
        }
    }

    @Test
    @Needs(Feature.SOLICITED_EVENTS)
    void solicitedNotification_passesOverWhatIsNot() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.server.postReceive(2, 0, 8);
            pair.server.queue.requestNotification(true);
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
            assertNoEvent(pair.server);
            pair.client.pair.postSend(
                    pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED | SendFlags.SOLICITED, 0, 8));
            awaitEvent(pair.server);
            assertThat(pair.server.awaitCompletion().workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
            assertThat(pair.server.awaitCompletion().workRequestId()).isEqualTo(2);
        }
    }

    @Test
    @Needs(Feature.SOLICITED_EVENTS)
    void solicitedNotification_comesWithAFailure() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.server.queue.requestNotification(true);
            pair.server.pair.toError();
            awaitEvent(pair.server);
            assertThat(pair.server.awaitCompletion().workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
        }
    }

    /** A second connection to the listener of a pair, with completion queues of the test's choice. */
    private static final class Connection implements AutoCloseable {
        static final int DEPTH = 256;

        private final ConnectedPair peer;
        private final CommunicationId id;
        private final QueuePair pair;
        private final Endpoint server;

        Connection(ConnectedPair peer, CompletionQueue sends, CompletionQueue receives) throws IOException {
            this.peer = peer;
            id = TestDevice.resolve(peer.channel, peer.listener.localAddress().getPort());
            pair = id.createQueuePair(
                    peer.client.domain,
                    QueuePairInitAttributes.of(
                                    QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(DEPTH, 1, 1, 1, 0))
                            .withSendQueue(sends)
                            .withReceiveQueue(receives));
            id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(peer.channel, CommunicationEventType.CONNECT_REQUEST)) {
                server = new Endpoint(request.id());
                server.id.accept(TestDevice.parameters(), null);
            }
            TestDevice.expect(peer.channel, CommunicationEventType.ESTABLISHED);
            TestDevice.expect(peer.channel, CommunicationEventType.ESTABLISHED);
        }

        void write(long workRequestId) throws VerbsException {
            pair.postSend(peer.client
                    .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                    .workRequestId(workRequestId)
                    .remote(server.region.address(), server.region.remoteKey()));
        }

        @Override
        public void close() throws VerbsException {
            id.close();
            server.close();
        }
    }
}
