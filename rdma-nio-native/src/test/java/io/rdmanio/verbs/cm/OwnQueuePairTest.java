package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Connections of ids whose queue pairs the program makes and brings through their states itself. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class OwnQueuePairTest {
    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** One side: an id, and a queue pair that it knows nothing of. */
    private static final class Side implements AutoCloseable {
        final CommunicationId id;
        final ProtectionDomain domain;
        final CompletionQueue queue;
        final QueuePair pair;
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(64);
        final MemoryRegion region;
        final WorkCompletions completions = new WorkCompletions(1);

        Side(CommunicationId id) throws VerbsException {
            this.id = id;
            domain = id.device().allocateProtectionDomain();
            queue = id.device().createCompletionQueue(8, null);
            pair = domain.createQueuePair(QueuePairInitAttributes.of(
                            QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(4, 4, 1, 1, 0))
                    .withCompletionQueue(queue));
            region = domain.registerMemory(memory, AccessFlags.LOCAL_WRITE);
        }

        ConnectionParameters parameters() {
            return new ConnectionParameters(1, 1, 0, 7, 7, false, pair.number());
        }

        void bringUp(QueuePairState... states) throws VerbsException {
            for (QueuePairState state : states) {
                pair.modify(id.initQueuePairAttributes(state));
            }
        }

        void awaitCompletion() throws VerbsException {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
            while (queue.poll(completions) == 0) {
                assertThat(System.nanoTime()).as("time of the deadline").isLessThan(deadline);
            }
            assertThat(completions.succeeded(0))
                    .as("status %d", completions.status(0))
                    .isTrue();
        }

        @Override
        public void close() throws VerbsException {
            id.close();
            pair.close();
            region.close();
            queue.close();
            domain.close();
            completions.close();
            arena.close();
        }
    }

    @Test
    @Needs(Feature.OWN_CONNECTIONS)
    void connectResponse_isAnsweredByEstablish() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel);
                Side client = new Side(TestDevice.resolve(channel, listener.sourcePort()));
                ReceiveWorkRequest receive = new ReceiveWorkRequest(1);
                SendWorkRequest send = new SendWorkRequest(1)) {
            client.bringUp(QueuePairState.INITIALIZED);
            client.id.connect(client.parameters(), new byte[] {1});
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    Side server = new Side(request.id())) {
                assertThat(request.connectionParameters().queuePairNumber()).isEqualTo(client.pair.number());
                server.bringUp(QueuePairState.INITIALIZED);
                server.pair.postReceive(
                        receive.sgeCount(1).sge(0, server.region.address(), 64, server.region.localKey()));
                server.bringUp(QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND);
                server.id.accept(server.parameters(), new byte[] {2});
                try (CommunicationEvent response = TestDevice.next(channel, CommunicationEventType.CONNECT_RESPONSE)) {
                    assertThat(response.id()).isSameAs(client.id);
                    assertThat(response.privateData()).startsWith(2);
                    assertThat(response.connectionParameters().queuePairNumber())
                            .isEqualTo(server.pair.number());
                }
                client.bringUp(QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND);
                client.id.establish();
                try (CommunicationEvent established = TestDevice.next(channel, CommunicationEventType.ESTABLISHED)) {
                    assertThat(established.id()).isSameAs(server.id);
                }
                client.memory.setString(0, "by hand");
                client.pair.postSend(send.opcode(SendOpcode.SEND)
                        .flags(SendFlags.SIGNALED)
                        .sgeCount(1)
                        .sge(0, client.region.address(), 16, client.region.localKey()));
                client.awaitCompletion();
                server.awaitCompletion();
                assertThat(server.memory.getString(0)).isEqualTo("by hand");
                client.id.disconnect();
                TestDevice.expect(channel, CommunicationEventType.DISCONNECTED);
            }
        }
    }

    @Test
    void establish_onIwarpOrTooEarlyIsRefused() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.resolve(channel, 1)) {
            assertThatThrownBy(id::establish).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("rdma_establish");
                assertThat(e.errno())
                        .isEqualTo(TestDevice.has(Feature.OWN_CONNECTIONS) ? Errno.EINVAL : Errno.EOPNOTSUPP);
            });
        }
    }
}
