package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The operations of rdma/rdma_verbs.h, and what an id has by itself: domain, completion queues, shared receive queue. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class MessageQueuesTest {
    private static final int TIMEOUT = TestDevice.TIMEOUT_MILLIS;
    private static final int BYTES = 256;
    private static final QueuePairInitAttributes ATTRIBUTES =
            QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(8, 8, 2, 2, 32));

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** One side with nothing but what its id has by itself. */
    private static final class Side implements AutoCloseable {
        final CommunicationId id;
        final MessageQueues messages;
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(BYTES, 8);
        final MemoryRegion region;
        final WorkCompletions completions = new WorkCompletions(1);

        Side(CommunicationId id) throws IOException {
            this.id = id;
            id.createQueuePair(null, ATTRIBUTES);
            messages = new MessageQueues(id);
            region = TestDevice.has(Feature.PRIVATE_READ_SINKS)
                    ? messages.registerMessages(memory)
                    : messages.registerWrite(memory);
        }

        void awaitSend() throws IOException {
            assertThat(messages.getSendCompletion(completions, TIMEOUT)).isEqualTo(1);
            assertThat(completions.succeeded(0))
                    .as("status %d", completions.status(0))
                    .isTrue();
        }

        void awaitReceive(long workRequestId) throws IOException {
            assertThat(messages.getReceiveCompletion(completions, TIMEOUT)).isEqualTo(1);
            assertThat(completions.succeeded(0))
                    .as("status %d", completions.status(0))
                    .isTrue();
            assertThat(completions.workRequestId(0)).isEqualTo(workRequestId);
        }

        @Override
        public void close() throws VerbsException {
            messages.close();
            id.close();
            completions.close();
            arena.close();
        }
    }

    private interface Body {
        void run(Side client, Side server) throws IOException;
    }

    private static void connected(boolean shared, Body body) throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel);
                Side client = new Side(TestDevice.resolve(channel, listener.sourcePort()))) {
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
                if (shared) {
                    request.id().createSharedReceiveQueue(null, new SharedReceiveQueueAttributes(8, 2, 0));
                }
                try (Side server = new Side(request.id())) {
                    server.messages.postReceive(1, server.region, 0, BYTES);
                    server.id.accept(TestDevice.parameters(), null);
                    TestDevice.expect(channel, CommunicationEventType.ESTABLISHED);
                    TestDevice.expect(channel, CommunicationEventType.ESTABLISHED);
                    body.run(client, server);
                }
            }
        }
    }

    private static void fill(Side side) {
        for (int i = 0; i < BYTES; i++) {
            side.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
        }
    }

    private static byte[] bytes(MemorySegment memory, long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void send_isReceived() throws IOException {
        connected(false, (client, server) -> {
            fill(client);
            client.messages.postSend(5, client.region, 16, 32, SendFlags.SIGNALED);
            client.awaitSend();
            assertThat(client.completions.workRequestId(0)).isEqualTo(5);
            server.awaitReceive(1);
            assertThat(server.completions.lengthBytes(0)).isEqualTo(32);
            assertThat(bytes(server.memory, 0, 32)).isEqualTo(bytes(client.memory, 16, 32));
        });
    }

    @Test
    void sendInline_needsNoRegion() throws IOException {
        connected(false, (client, server) -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment unregistered = arena.allocateFrom("unregistered");
                client.messages.postSendInline(1, unregistered, SendFlags.SIGNALED);
                client.awaitSend();
                server.awaitReceive(1);
                assertThat(server.memory.getString(0)).isEqualTo("unregistered");
            }
            assertThatThrownBy(() -> client.messages.postSendInline(1, MemorySegment.ofArray(new byte[1]), 0))
                    .isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void vectors_gatherAndScatter() throws IOException {
        connected(false, (client, server) -> {
            fill(client);
            server.messages.postReceiveVector(
                    2, new ScatterGatherList(2).add(server.region, 128, 8).add(server.region, 192, 8));
            ScatterGatherList pieces =
                    new ScatterGatherList(2).add(client.region, 0, 8).add(client.region, 64, 8);
            client.messages.postSendVector(1, pieces, SendFlags.SIGNALED);
            client.awaitSend();
            server.awaitReceive(1);
            client.messages.postSendVector(2, pieces, SendFlags.SIGNALED);
            client.awaitSend();
            server.awaitReceive(2);
            assertThat(bytes(server.memory, 128, 8)).isEqualTo(bytes(client.memory, 0, 8));
            assertThat(bytes(server.memory, 192, 8)).isEqualTo(bytes(client.memory, 64, 8));
            assertThat(pieces.size()).isEqualTo(2);
            assertThatThrownBy(() -> pieces.add(client.region, 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(pieces.clear().size()).isZero();
            assertThatThrownBy(() -> pieces.add(client.region, BYTES, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        });
    }

    @Test
    void write_andRead_reachThePeersMemory() throws IOException {
        connected(false, (client, server) -> {
            fill(client);
            try (Arena arena = Arena.ofShared()) {
                MemorySegment open = arena.allocate(BYTES, 8);
                try (MemoryRegion writable = server.messages.registerWrite(open)) {
                    client.messages.postWrite(
                            1, client.region, 0, 64, SendFlags.SIGNALED, writable.address(), writable.remoteKey());
                    client.awaitSend();
                    assertThat(client.completions.opcode(0)).isEqualTo(WorkCompletionOpcode.WRITE);
                    client.messages.postWriteVector(
                            2,
                            new ScatterGatherList(2).add(client.region, 64, 32).add(client.region, 96, 32),
                            SendFlags.SIGNALED,
                            writable.address() + 64,
                            writable.remoteKey());
                    client.awaitSend();
                    // Ordered after the writes on every transport.
                    client.messages.postSend(3, client.region, 0, 1, SendFlags.SIGNALED);
                    client.awaitSend();
                    server.awaitReceive(1);
                    assertThat(bytes(open, 0, 128)).isEqualTo(bytes(client.memory, 0, 128));
                }
                open.fill((byte) 9);
                try (MemoryRegion readable = server.messages.registerRead(open)) {
                    client.messages.postRead(
                            4, client.region, 0, 16, SendFlags.SIGNALED, readable.address(), readable.remoteKey());
                    client.awaitSend();
                    assertThat(client.completions.opcode(0)).isEqualTo(WorkCompletionOpcode.READ);
                    assertThat(bytes(client.memory, 0, 16)).containsOnly(9);
                    client.messages.postReadVector(
                            5,
                            new ScatterGatherList(1).add(client.region, 16, 16),
                            SendFlags.SIGNALED,
                            readable.address(),
                            readable.remoteKey());
                    client.awaitSend();
                    assertThat(bytes(client.memory, 16, 16)).containsOnly(9);
                }
            }
        });
    }

    @Test
    void sharedReceiveQueue_ofTheIdIsUsed() throws IOException {
        connected(true, (client, server) -> {
            assertThatThrownBy(
                            () -> server.id.createSharedReceiveQueue(null, new SharedReceiveQueueAttributes(1, 1, 0)))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("rdma_create_srq");
                        assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                    });
            server.messages.postReceive(2, server.region, 0, BYTES);
            fill(client);
            for (int i = 1; i <= 2; i++) {
                client.messages.postSend(i, client.region, 0, 8, SendFlags.SIGNALED);
                client.awaitSend();
                server.awaitReceive(i);
            }
        });
    }

    @Test
    void sharedReceiveQueue_isClosedWithItsId() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine())) {
            CommunicationId id = TestDevice.listen(channel);
            SharedReceiveQueue queue = id.createSharedReceiveQueue(null, new SharedReceiveQueueAttributes(4, 1, 0));
            assertThat(queue.maxWorkRequests()).isGreaterThanOrEqualTo(4);
            assertThat(queue.domain()).isSameAs(id.protectionDomain());
            queue.close();
            SharedReceiveQueue second = id.createSharedReceiveQueue(null, new SharedReceiveQueueAttributes(4, 1, 0));
            id.close();
            assertThatThrownBy(() -> second.setLimit(1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void lentDomain_isClosedWithItsIdAndNotDeallocated() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Arena arena = Arena.ofShared();
                CommunicationId other = TestDevice.listen(channel)) {
            CommunicationId id = TestDevice.listen(channel);
            ProtectionDomain domain = id.protectionDomain();
            assertThat(id.protectionDomain()).isSameAs(domain);
            assertThat(domain.context()).isSameAs(id.device());
            MemorySegment memory = arena.allocate(64);
            domain.registerMemory(memory, 0);
            id.close();
            assertThatThrownBy(() -> domain.registerMemory(memory, 0)).isInstanceOf(IllegalStateException.class);
            other.protectionDomain().registerMemory(memory, 0).close();
            try (CommunicationId unbound = channel.createId(PortSpace.TCP)) {
                assertThat(unbound.protectionDomain()).isNull();
                assertThatThrownBy(() -> unbound.createQueuePair(null, ATTRIBUTES))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("rdma_create_qp")
                        .hasMessageContaining("no device");
                assertThatThrownBy(
                                () -> unbound.createSharedReceiveQueue(null, new SharedReceiveQueueAttributes(1, 1, 0)))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("rdma_create_srq");
            }
        }
    }

    @Test
    void lentDomain_isTheLibrarysAfterAQueuePairInAnother() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Arena arena = Arena.ofShared();
                CommunicationId id = TestDevice.resolve(channel, 1)) {
            try (ProtectionDomain own = id.device().allocateProtectionDomain();
                    QueuePair pair = id.createQueuePair(own, ATTRIBUTES)) {
                assertThat(pair.number()).isPositive();
            }
            try (MemoryRegion region = id.protectionDomain().registerMemory(arena.allocate(64), 0);
                    QueuePair pair = id.createQueuePair(null, ATTRIBUTES)) {
                assertThat(region.localKey()).isNotZero();
                assertThat(pair.number()).isPositive();
            }
        }
    }

    @Test
    void postSendInline_ofMemoryThatIsFreedIsRefused() throws IOException {
        connected(false, (client, server) -> {
            MemorySegment freed;
            try (Arena arena = Arena.ofShared()) {
                freed = arena.allocate(8);
            }
            assertThatThrownBy(() -> client.messages.postSendInline(1, freed, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("arena");
        });
    }

    @Test
    void getCompletion_givesUpInTime() throws IOException {
        connected(false, (client, server) -> {
            assertThat(client.messages.getSendCompletion(client.completions, 30))
                    .isZero();
            assertThat(client.messages.getReceiveCompletion(client.completions, 0))
                    .isZero();
            assertThatThrownBy(() -> client.messages.getSendCompletion(client.completions, -1))
                    .isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void secondQueuePair_isRefusedUntilTheFirstIsClosed() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.resolve(channel, 1)) {
            var first = id.createQueuePair(null, ATTRIBUTES);
            assertThatThrownBy(() -> id.createQueuePair(null, ATTRIBUTES))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("has a queue pair");
            first.close();
            id.createQueuePair(null, ATTRIBUTES);
        }
    }

    @Test
    void programsOwnQueue_isNotWaitedFor() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            MessageQueues messages = new MessageQueues(pair.client.id);
            assertThatThrownBy(() -> messages.getSendCompletion(pair.client.completions, 1))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> messages.postSend(1, pair.client.region, Endpoint.MEMORY_BYTES, 1, 0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            messages.close();
            assertThatThrownBy(() -> messages.postSend(1, pair.client.region, 0, 1, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            assertThatThrownBy(() -> new MessageQueues(id)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void postingAndPolling_allocateNothing() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        connected(false, (client, server) -> {
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 6; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 1000; i++) {
                    client.messages.postSend(1, client.region, 0, 8, SendFlags.SIGNALED);
                    server.messages.postReceive(2, server.region, 0, 8);
                    poll(server, false);
                    poll(client, true);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least).as("bytes allocated for 1000 messages").isLessThan(ERRNO_SLICES_BYTES);
        });
    }

    // A JVM that stops at the client compiler takes a slice of memory for each call that saves errno: those of waiting.
    private static final long ERRNO_SLICES_BYTES = 1000 * 8 * 40L;

    private static void poll(Side side, boolean send) throws IOException {
        int count;
        do {
            count = send
                    ? side.messages.getSendCompletion(side.completions, TIMEOUT)
                    : side.messages.getReceiveCompletion(side.completions, TIMEOUT);
        } while (count == 0);
    }
}
