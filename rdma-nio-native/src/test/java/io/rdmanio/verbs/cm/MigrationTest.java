package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ids that move to another event channel, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class MigrationTest {
    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    @Test
    void migrate_takesWaitingEventsAlong() throws IOException {
        try (EventChannel first = EventChannel.open(TestDevice.engine());
                EventChannel second = EventChannel.open(TestDevice.engine());
                CommunicationId id = first.createId(PortSpace.TCP)) {
            id.resolveAddress(null, TestDevice.address(1), TestDevice.TIMEOUT_MILLIS);
            assertThat(Poll.awaitReadable(first.fileDescriptor(), -1, TestDevice.TIMEOUT_MILLIS))
                    .isEqualTo(1);
            id.migrate(second);
            assertThat(id.channel()).isSameAs(second);
            assertThat(first.takeEvent()).isNull();
            try (CommunicationEvent event = TestDevice.next(second, CommunicationEventType.ADDRESS_RESOLVED)) {
                assertThat(event.id()).isSameAs(id);
            }
        }
    }

    @Test
    void migrate_paysForEventsThatWereTaken() throws IOException {
        try (EventChannel first = EventChannel.open(TestDevice.engine());
                EventChannel second = EventChannel.open(TestDevice.engine());
                CommunicationId id = first.createId(PortSpace.TCP)) {
            id.resolveAddress(null, TestDevice.address(1), TestDevice.TIMEOUT_MILLIS);
            CommunicationEvent taken = TestDevice.next(first, CommunicationEventType.ADDRESS_RESOLVED);
            id.migrate(second);
            assertThat(taken.type()).isEqualTo(CommunicationEventType.ADDRESS_RESOLVED);
            taken.close();
            id.resolveRoute(TestDevice.TIMEOUT_MILLIS);
            TestDevice.expect(second, CommunicationEventType.ROUTE_RESOLVED);
            assertThat(first.takeEvent()).isNull();
        }
    }

    @Test
    void migrate_keepsAConnectionGoing() throws IOException {
        try (EventChannel second = EventChannel.open(TestDevice.engine());
                ConnectedPair pair = new ConnectedPair()) {
            for (int i = 0; i < 4; i++) {
                pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 100));
                pair.client.id.migrate(i % 2 == 0 ? second : pair.channel);
                assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                pair.server.postReceive(i, 0, Endpoint.MEMORY_BYTES);
            }
            pair.client.id.migrate(second);
            pair.server.id.disconnect();
            try (CommunicationEvent event = TestDevice.next(second, CommunicationEventType.DISCONNECTED)) {
                assertThat(event.id()).isSameAs(pair.client.id);
            }
            try {
                pair.client.id.disconnect();
            } catch (VerbsException e) {
                // iWARP has closed the connection by itself.
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
            }
            try (CommunicationEvent event = TestDevice.next(pair.channel)) {
                assertThat(event.id()).isSameAs(pair.server.id);
            }
        }
    }

    @Test
    void migrate_movesListenersAndRequests() throws IOException {
        try (EventChannel clients = EventChannel.open(TestDevice.engine());
                EventChannel first = EventChannel.open(TestDevice.engine());
                EventChannel second = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(first);
                Endpoint client = new Endpoint(
                        TestDevice.resolve(clients, listener.localAddress().getPort()))) {
            listener.migrate(second);
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(second, CommunicationEventType.CONNECT_REQUEST)) {
                assertThat(request.listenId()).isSameAs(listener);
                request.id().migrate(first);
                assertThat(request.id().channel()).isSameAs(first);
                try (Endpoint server = new Endpoint(request.id())) {
                    server.id.accept(TestDevice.parameters(), null);
                    TestDevice.expect(clients, CommunicationEventType.ESTABLISHED);
                    TestDevice.expect(first, CommunicationEventType.ESTABLISHED);
                }
            }
        }
    }

    @Test
    void closingTheOldChannel_leavesTheIdAlone() throws IOException {
        EventChannel first = EventChannel.open(TestDevice.engine());
        EventChannel second = EventChannel.open(TestDevice.engine());
        CommunicationId id = first.createId(PortSpace.TCP);
        id.migrate(id.channel());
        id.migrate(second);
        first.close();
        id.resolveAddress(null, TestDevice.address(1), TestDevice.TIMEOUT_MILLIS);
        TestDevice.expect(second, CommunicationEventType.ADDRESS_RESOLVED);
        assertThatThrownBy(() -> id.migrate(first))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this EventChannel is closed");
        second.close();
        assertThatThrownBy(() -> id.migrate(second))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this CommunicationId is closed");
        id.close();
    }
}
