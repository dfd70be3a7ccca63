package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.Endpoint.Completion;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A reliable connection of this process with itself, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class LoopbackTest {
    private static final int LENGTH = 1000;
    private static final int TARGET = 2048;
    private static final int IMMEDIATE = 0x12345678;

    @BeforeAll
    static void useDevice() {
        assertThat(TestDevice.address(0).isUnresolved()).isFalse();
        TestDevice.use();
    }

    private static void fill(Endpoint endpoint) {
        for (int i = 0; i < LENGTH; i++) {
            endpoint.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
        }
    }

    private static void assertSameBytes(ConnectedPair pair, long serverOffset, int length) {
        assertThat(pair.server.memory.asSlice(serverOffset, length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(pair.client.memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private static void assertSucceeded(Completion completion, long workRequestId, int opcode) {
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.workRequestId()).isEqualTo(workRequestId);
        assertThat(completion.opcode()).isEqualTo(opcode);
    }

    private static void assertState(Endpoint endpoint, QueuePairState state) throws VerbsException {
        QueuePairState told = endpoint.pair.state();
        if (!TestDevice.has(Feature.QUEUE_PAIR_QUERY)) {
            return;
        }
        assertThat(told).isEqualTo(state);
    }

    @Test
    void connect_carriesPrivateDataAndParameters() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThat(pair.request.privateData()).startsWith(ConnectedPair.CLIENT_DATA);
            assertThat(pair.dataAtClient).startsWith(ConnectedPair.SERVER_DATA);
            assertThat(pair.request.listenId()).isSameAs(pair.listener);
            if (TestDevice.has(Feature.CONNECTION_PARAMETERS)) {
                assertThat(pair.request.connectionParameters().initiatorDepth()).isEqualTo(1);
            }
            assertThat(pair.client.id.device()).isSameAs(pair.server.id.device());
            assertThat(pair.client.id.portNumber()).isEqualTo(1);
            assertThat(pair.client.id.remoteAddress()).isEqualTo(pair.listener.localAddress());
            assertThat(pair.server.id.remoteAddress()).isEqualTo(pair.client.id.localAddress());
            assertState(pair.client, QueuePairState.READY_TO_SEND);
            assertThat(pair.client.pair.number()).isNotEqualTo(pair.server.pair.number());
        }
    }

    @Test
    void descriptors_areNonBlockingAndCloseOnExec() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(pair.channel.fileDescriptor()))
                    .isTrue();
            assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(pair.client.channel.fileDescriptor()))
                    .isTrue();
            assertThat(pair.channel.takeEvent()).isNull();
            assertThat(pair.client.channel.takeEvent()).isNull();
        }
    }

    @Test
    void send_arrivesInReceive() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            fill(pair.client);
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH));
            Completion received = pair.server.awaitCompletion();
            assertSucceeded(received, ConnectedPair.RECEIVE_ID, WorkCompletionOpcode.RECEIVE);
            assertThat(received.lengthBytes()).isEqualTo(LENGTH);
            assertThat(received.hasImmediate()).isFalse();
            assertSameBytes(pair, 0, LENGTH);
            assertSucceeded(pair.client.awaitCompletion(), SendOpcode.SEND, WorkCompletionOpcode.SEND);
        }
    }

    @Test
    void sendInline_needsNoRegisteredMemory() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            int length = pair.client.pair.capabilities().maxInlineBytes();
            assumeTrue(length >= Endpoint.WANTED_INLINE_BYTES, "the device grants no inline data");
            fill(pair.client);
            pair.client
                    .prepare(SendOpcode.SEND, SendFlags.SIGNALED | SendFlags.INLINE, 0, 0)
                    .sge(0, pair.client.memory.address(), Endpoint.WANTED_INLINE_BYTES, 0);
            pair.client.pair.postSend(pair.client.send);
            assertThat(pair.server.awaitCompletion().lengthBytes()).isEqualTo(Endpoint.WANTED_INLINE_BYTES);
            assertSameBytes(pair, 0, Endpoint.WANTED_INLINE_BYTES);
        }
    }

    @Test
    void send_gathersTwoPieces() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            fill(pair.client);
            pair.client
                    .prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10)
                    .sgeCount(2)
                    .sge(1, pair.client.region.address() + 10, 20, pair.client.region.localKey());
            pair.client.pair.postSend(pair.client.send);
            assertThat(pair.server.awaitCompletion().lengthBytes()).isEqualTo(30);
            assertSameBytes(pair, 0, 30);
        }
    }

    @Test
    void write_reachesRemoteMemoryUnseen() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            fill(pair.client);
            pair.client
                    .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, LENGTH)
                    .remote(pair.server.region.address() + TARGET, pair.server.region.remoteKey());
            pair.client.pair.postSend(pair.client.send);
            assertSucceeded(pair.client.awaitCompletion(), SendOpcode.WRITE, WorkCompletionOpcode.WRITE);
            // A message sent after it arrives after it, on every transport.
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 1));
            assertSucceeded(pair.server.awaitCompletion(), ConnectedPair.RECEIVE_ID, WorkCompletionOpcode.RECEIVE);
            assertSameBytes(pair, TARGET, LENGTH);
        }
    }

    @Test
    @Needs(Feature.IMMEDIATE_DATA)
    void writeWithImmediate_completesReceive() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            fill(pair.client);
            pair.client
                    .prepare(SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, LENGTH)
                    .remote(pair.server.region.address() + TARGET, pair.server.region.remoteKey())
                    .immediateData(IMMEDIATE);
            pair.client.pair.postSend(pair.client.send);
            Completion received = pair.server.awaitCompletion();
            assertSucceeded(received, ConnectedPair.RECEIVE_ID, WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM);
            assertThat(received.hasImmediate()).isTrue();
            assertThat(received.data()).isEqualTo(IMMEDIATE);
            assertSameBytes(pair, TARGET, LENGTH);
            assertSucceeded(pair.client.awaitCompletion(), SendOpcode.WRITE_WITH_IMM, WorkCompletionOpcode.WRITE);
        }
    }

    @Test
    void write_withWrongKeyFailsAtThePeersMemory() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.client
                    .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, LENGTH)
                    .remote(pair.server.region.address(), pair.server.region.remoteKey() ^ 0x55);
            pair.client.pair.postSend(pair.client.send);
            if (!TestDevice.has(Feature.REMOTE_COMPLETION)) {
                // The write is complete when TCP has taken it; the peer then terminates the connection.
                TestDevice.next(pair.channel, CommunicationEventType.DISCONNECTED)
                        .close();
            } else {
                assertThat(pair.client.awaitCompletion().status())
                        .isIn(WorkCompletionStatus.REMOTE_ACCESS_ERROR, WorkCompletionStatus.REMOTE_INVALID_REQUEST);
            }
        }
    }

    @Test
    void toError_flushesReceives() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.client.pair.toError();
            Completion flushed = pair.client.awaitCompletion();
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
            assertThat(flushed.workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
            assertState(pair.client, QueuePairState.ERROR);
        }
    }

    @Test
    void disconnect_reachesBothSides() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.client.id.disconnect();
            CommunicationId first;
            try (CommunicationEvent event = TestDevice.next(pair.channel, CommunicationEventType.DISCONNECTED)) {
                first = event.id();
                assertThat(first).isIn(pair.client.id, pair.server.id);
            }
            try {
                pair.server.id.disconnect();
            } catch (VerbsException e) {
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
            }
            try (CommunicationEvent event = TestDevice.next(pair.channel, CommunicationEventType.DISCONNECTED)) {
                assertThat(event.id()).isIn(pair.client.id, pair.server.id).isNotSameAs(first);
            }
        }
    }

    @Test
    @Needs(Feature.RECEIVER_NOT_READY)
    void setMinRnrTimer_isTakenByInfiniBand() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.client.pair.setMinRnrTimer(12);
            assertThatThrownBy(() -> pair.client.pair.setMinRnrTimer(32)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void postReceive_intoFullQueueNamesTheCause() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            // A device may have room for more than it granted.
            int tooMany = 10 * pair.client.pair.capabilities().maxReceiveWorkRequests();
            assertThatThrownBy(() -> {
                        for (int i = 0; i <= tooMany; i++) {
                            pair.client.postReceive(i, 0, 1);
                        }
                    })
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_post_recv");
                        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                        assertThat(e).hasMessageContaining("receive queue is full");
                    });
        }
    }
}
