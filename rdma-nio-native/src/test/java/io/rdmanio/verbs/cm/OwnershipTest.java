package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.LinkLayer;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.OpenHandles;
import io.rdmanio.verbs.PortState;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who owns whom, and what close does, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class OwnershipTest {
    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    @Test
    void engine_isAvailableAndListsItsDevices() throws IOException {
        assertThat(TestDevice.engine().unavailableReason()).isEmpty();
        assertThat(TestDevice.engine().devices()).extracting("name").containsAll(TestDevice.names());
    }

    @Test
    void openedDevice_answersQueries() throws IOException {
        String name;
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.listen(channel)) {
            name = id.device().name();
        }
        try (OpenDeviceContext device = TestDevice.engine().open(name)) {
            assertThat(device.attributes().maxQueuePairs()).isPositive();
            assertThat(device.attributes().maxSges()).isPositive();
            assertThat(device.attributes().physicalPorts()).isEqualTo(1);
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.ACTIVE);
            assertThat(device.portAttributes(1).linkLayer()).isEqualTo(LinkLayer.ETHERNET);
            assertThat(device.portAttributes(1).activeMtuBytes()).isGreaterThanOrEqualTo(1024);
            assertThat(device.gid(1, 0).isZero()).isFalse();
            assertThatThrownBy(() -> device.portAttributes(9)).isInstanceOf(VerbsException.class);
        }
        assertThatThrownBy(() -> TestDevice.engine().open("nosuch0"))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining(name);
    }

    @Test
    void closingTheDevice_closesEverythingMadeFromIt() throws IOException {
        OpenDeviceContext device = TestDevice.engine().open(deviceName());
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = device.createCompletionQueue(8, channel);
        try (Arena arena = Arena.ofShared();
                WorkCompletions completions = new WorkCompletions(1)) {
            domain.registerMemory(arena.allocate(4096), AccessFlags.LOCAL_WRITE);
            assertThat(queue.poll(completions)).isZero();
            assertThat(OpenHandles.describe())
                    .contains("DeviceContext: 1", "MemoryRegion: 1", "CompletionChannel: 1", "CompletionQueue: 1");
            device.close();
            device.close();
            domain.close();
            assertThatThrownBy(() -> queue.poll(completions)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(channel::takeEvent).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(device::attributes)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this DeviceContext is closed");
            assertThatThrownBy(() -> queue.requestNotification(false)).isInstanceOf(IllegalStateException.class);
        }
    }

    private static String deviceName() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            id.bind(TestDevice.address(0));
            return id.device().name();
        }
    }

    @Test
    void closingTheEventChannel_closesConnectionsAndUntakenRequests() throws IOException {
        ConnectedPair pair = new ConnectedPair();
        Endpoint extra = new Endpoint(
                TestDevice.resolve(pair.channel, pair.listener.localAddress().getPort()));
        extra.id.connect(TestDevice.parameters(), null);
        CommunicationEvent untouched = TestDevice.next(pair.channel, CommunicationEventType.CONNECT_REQUEST);
        pair.channel.close();
        assertThat(untouched.id()).isNotNull();
        untouched.close();
        assertThatThrownBy(() -> pair.client.pair.postSend(pair.client.send))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this QueuePair is closed");
        extra.close();
        pair.close();
    }

    @Test
    void closingAnId_paysForItsEvents() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine())) {
            CommunicationId id = channel.createId(PortSpace.TCP);
            id.resolveAddress(null, TestDevice.address(1), TestDevice.TIMEOUT_MILLIS);
            CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.ADDRESS_RESOLVED);
            id.close();
            event.close();
            assertThatThrownBy(() -> id.resolveRoute(1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void requestWhoseListenerIsGone_isRejected() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                EventChannel clients = EventChannel.open(TestDevice.engine())) {
            CommunicationId listener = TestDevice.listen(channel);
            try (Endpoint client = new Endpoint(
                    TestDevice.resolve(clients, listener.localAddress().getPort()))) {
                client.id.connect(TestDevice.parameters(), null);
                assertThat(Poll.awaitReadable(channel.fileDescriptor(), -1, TestDevice.TIMEOUT_MILLIS))
                        .isEqualTo(1);
                listener.close();
                assertThat(channel.takeEvent()).isNull();
                CommunicationEvent end = TestDevice.next(clients);
                assertThat(end.type()).isIn(CommunicationEventType.REJECTED, CommunicationEventType.UNREACHABLE);
                end.close();
            }
        }
    }

    @Test
    void closingAQueue_acknowledgesItsEvents() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            for (int i = 0; i < 3; i++) {
                pair.client.queue.requestNotification(false);
                pair.client.pair.postSend(pair.client
                        .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                        .remote(pair.server.region.address(), pair.server.region.remoteKey()));
                Poll.awaitReadable(pair.client.channel.fileDescriptor(), -1, TestDevice.TIMEOUT_MILLIS);
                if (i < 2) {
                    assertThat(pair.client.channel.takeEvent()).isSameAs(pair.client.queue);
                }
                assertThat(pair.client.queue.poll(pair.client.completions)).isEqualTo(1);
                if (i == 0) {
                    pair.client.queue.acknowledgeEvents();
                }
            }
            // One event is not taken, one is not acknowledged.
            pair.client.queue.close();
            assertThat(pair.client.channel.takeEvent()).isNull();
        }
    }

    @Test
    void oneChannel_tellsItsQueuesApart() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            DeviceContext device = pair.client.id.device();
            try (CompletionChannel channel = device.createCompletionChannel();
                    CompletionQueue first = device.createCompletionQueue(1, channel);
                    CompletionQueue second = device.createCompletionQueue(1, channel)) {
                assertThat(channel.takeEvent()).isNull();
                assertThat(first).isNotSameAs(second);
            }
        }
    }

    @Test
    void createQueuePair_tooLargeNamesWhatWasWanted() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.resolve(channel, 1);
                ProtectionDomain domain = id.device().allocateProtectionDomain();
                CompletionQueue queue = id.device().createCompletionQueue(8, null)) {
            assertThatThrownBy(() -> id.createQueuePair(
                            domain,
                            QueuePairInitAttributes.of(
                                            QueuePairType.RELIABLE_CONNECTED,
                                            new QueuePairCapabilities(1 << 26, 1, 1, 1, 0))
                                    .withCompletionQueue(queue)))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("rdma_create_qp");
                        assertThat(e.errno()).isIn(Errno.EINVAL, Errno.ENOMEM);
                        assertThat(e).hasMessageContaining("maxSendWorkRequests=67108864");
                    });
        }
    }

    @Test
    void registerMemory_explainsItsErrors() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.listen(channel);
                ProtectionDomain domain = id.device().allocateProtectionDomain();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(4096);
            assertThatThrownBy(() -> domain.registerMemory(memory, AccessFlags.REMOTE_WRITE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.errorName()).isEqualTo("EINVAL");
                        assertThat(e).hasMessageContaining("access=0x2").hasMessageContaining("LOCAL_WRITE");
                    });
            assertThatThrownBy(() -> domain.registerMemory(MemorySegment.ofArray(new byte[8]), 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
