package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.RoceOnly;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Finding a peer's datagram queue pair (SIDR) on a real device. */
@Tag("rdma")
@RoceOnly("iWARP has no datagrams")
@ExtendWith(LeakCheck.class)
class DatagramTest {
    private static final byte[] CLIENT_DATA = {1, 2, 3};
    private static final byte[] SERVER_DATA = {4, 5};

    static CommunicationId resolve(EventChannel channel, PortSpace space, int port) throws IOException {
        CommunicationId id = channel.createId(space);
        id.resolveAddress(null, TestDevice.address(port), TestDevice.TIMEOUT_MILLIS);
        TestDevice.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(TestDevice.TIMEOUT_MILLIS);
        TestDevice.expect(channel, CommunicationEventType.ROUTE_RESOLVED);
        return id;
    }

    static CommunicationId listen(EventChannel channel, PortSpace space) throws IOException {
        CommunicationId listener = channel.createId(space);
        listener.bind(TestDevice.address(0));
        listener.listen(4);
        return listener;
    }

    @Test
    void connect_exchangesQueuePairAndKey() throws IOException {
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId listener = listen(channel, PortSpace.UDP);
                Endpoint client = new Endpoint(
                        resolve(channel, PortSpace.UDP, listener.sourcePort()), QueuePairType.UNRELIABLE_DATAGRAM)) {
            assertThat(client.pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            client.id.connect(TestDevice.parameters(), CLIENT_DATA);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
                assertThat(request.privateData()).startsWith(CLIENT_DATA);
                assertThat(request.connectionParameters()).isNull();
                assertThat(request.datagramParameters()).isNotNull();
                try (Endpoint server = new Endpoint(request.id(), QueuePairType.UNRELIABLE_DATAGRAM)) {
                    server.id.accept(TestDevice.parameters(), SERVER_DATA);
                    try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.ESTABLISHED)) {
                        assertThat(event.id()).isSameAs(client.id);
                        assertThat(event.privateData()).startsWith(SERVER_DATA);
                        DatagramParameters parameters = event.datagramParameters();
                        assertThat(parameters.queuePairNumber()).isEqualTo(server.pair.number());
                        assertThat(parameters.queueKey()).isEqualTo(DatagramParameters.UDP_QUEUE_KEY);
                        assertThat(parameters.addressHandleAttributes().isGlobal())
                                .isTrue();
                        assertThat(parameters.addressHandleAttributes().portNumber())
                                .isEqualTo(1);
                        assertThat(event.membership()).isNull();
                    }
                }
            }
        }
    }

    @Test
    void reject_tellsItsReason() throws IOException {
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId listener = listen(channel, PortSpace.UDP);
                CommunicationId client = resolve(channel, PortSpace.UDP, listener.sourcePort())) {
            client.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    CommunicationId id = request.id()) {
                id.reject(SERVER_DATA);
            }
            try (CommunicationEvent event = TestDevice.next(channel)) {
                assertThat(event.id()).isSameAs(client);
                assertThat(event.type()).isIn(CommunicationEventType.UNREACHABLE, CommunicationEventType.REJECTED);
                assertThat(event.status()).isNotZero();
            }
        }
    }
}
