package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AddressHandle;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Finding a peer's datagram queue pair (SIDR) on a real device. */
@Tag("rdma")
@Needs(Feature.DATAGRAMS)
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
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
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
    void endpointThatIsRejected_saysSo() throws Exception {
        AddressInfoHints hints = AddressInfoHints.NONE
                .withFlags(AddressInfoFlags.NUMERIC_HOST)
                .withPortSpace(PortSpace.UDP)
                .withQueuePairType(QueuePairType.UNRELIABLE_DATAGRAM);
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = listen(channel, PortSpace.UDP);
                ExecutorService peer = Executors.newSingleThreadExecutor();
                ConnectionEndpoint client = ConnectionEndpoint.create(
                        TestDevice.engine(),
                        AddressInfo.lookUp(
                                        TestDevice.engine(),
                                        TestDevice.address(0).getAddress().getHostAddress(),
                                        String.valueOf(listener.sourcePort()),
                                        hints)
                                .getFirst(),
                        null,
                        null)) {
            Future<?> rejecting = peer.submit(() -> {
                try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                        CommunicationId id = request.id()) {
                    id.reject(null);
                }
                return null;
            });
            assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, null, TestDevice.TIMEOUT_MILLIS))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED));
            assertThat(client.lastEvent().type()).isEqualTo(CommunicationEventType.UNREACHABLE);
            assertThat(client.lastEvent().status()).isEqualTo(2);
            rejecting.get(TestDevice.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void reject_tellsItsReason() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
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

    private static final int HEADER_BYTES = 40;
    private static final int MESSAGE_BYTES = 64;

    /** Sends from one side with the message operations and expects it at the other, behind its global route header. */
    private static void assertSent(Endpoint from, Endpoint to, DatagramParameters where) throws IOException {
        try (AddressHandle handle = from.domain.createAddressHandle(where.addressHandleAttributes());
                MessageQueues messages = new MessageQueues(from.id)) {
            for (int i = 0; i < MESSAGE_BYTES; i++) {
                from.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
            }
            to.postReceive(1, 1024, HEADER_BYTES + MESSAGE_BYTES);
            messages.postDatagramSend(
                    2, from.region, 0, MESSAGE_BYTES, SendFlags.SIGNALED, handle, where.queuePairNumber());
            Endpoint.Completion sent = from.awaitCompletion();
            assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(sent.workRequestId()).isEqualTo(2);
            Endpoint.Completion received = to.awaitCompletion();
            assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(received.lengthBytes()).isEqualTo(HEADER_BYTES + MESSAGE_BYTES);
            assertThat(to.memory.asSlice(1024 + HEADER_BYTES, MESSAGE_BYTES).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(from.memory.asSlice(0, MESSAGE_BYTES).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void datagram_reachesThePeerThatAccepted() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = listen(channel, PortSpace.UDP);
                Endpoint client = new Endpoint(
                        resolve(channel, PortSpace.UDP, listener.sourcePort()), QueuePairType.UNRELIABLE_DATAGRAM)) {
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    Endpoint server = new Endpoint(request.id(), QueuePairType.UNRELIABLE_DATAGRAM)) {
                server.id.accept(TestDevice.parameters(), null);
                try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.ESTABLISHED)) {
                    assertSent(client, server, event.datagramParameters());
                }
            }
        }
    }

    private static Endpoint member(EventChannel channel) throws IOException {
        CommunicationId id = channel.createId(PortSpace.UDP);
        id.bind(TestDevice.address(0));
        return new Endpoint(id, QueuePairType.UNRELIABLE_DATAGRAM);
    }

    @Test
    void datagram_reachesAMemberOfTheGroup() throws IOException {
        InetAddress group = InetAddress.getByName("239.77.1.1");
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Endpoint sender = member(channel);
                Endpoint receiver = member(channel)) {
            sender.id.joinMulticast(group, MulticastJoin.SEND_ONLY_FULL_MEMBER);
            DatagramParameters where;
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
                where = event.datagramParameters();
            }
            receiver.id.joinMulticast(group);
            TestDevice.expect(channel, CommunicationEventType.MULTICAST_JOIN);
            assertSent(sender, receiver, where);
        }
    }
}
