package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Endpoints that wait: rdma-core's simplest client and server in Java, and everything that ends a wait. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class ConnectionEndpointTest {
    private static final int TIMEOUT = TestDevice.TIMEOUT_MILLIS;
    private static final int SHORT_MILLIS = 50;
    private static final byte[] DATA = {1, 2, 3};
    private static final QueuePairInitAttributes ATTRIBUTES = QueuePairInitAttributes.of(
                    QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(4, 4, 1, 1, 16))
            .withSignalAll(true);

    private interface Body {
        void run(ListeningEndpoint listener, ExecutorService peer) throws Exception;
    }

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    private static AddressInfo address(int flags, int port) throws IOException {
        return AddressInfo.lookUp(
                        TestDevice.engine(),
                        TestDevice.address(0).getAddress().getHostAddress(),
                        String.valueOf(port),
                        AddressInfoHints.NONE
                                .withFlags(flags | AddressInfoFlags.NUMERIC_HOST)
                                .withPortSpace(PortSpace.TCP)
                                .withQueuePairType(QueuePairType.RELIABLE_CONNECTED))
                .getFirst();
    }

    private static ListeningEndpoint listen() throws IOException {
        ListeningEndpoint listener =
                ListeningEndpoint.create(TestDevice.engine(), address(AddressInfoFlags.PASSIVE, 0), null, ATTRIBUTES);
        listener.listen(4);
        return listener;
    }

    private static ConnectionEndpoint client(ListeningEndpoint listener) throws IOException {
        return ConnectionEndpoint.create(
                TestDevice.engine(), address(0, listener.localAddress().getPort()), null, ATTRIBUTES);
    }

    private static void withListener(Body body) throws Exception {
        try (ExecutorService peer = Executors.newSingleThreadExecutor();
                ListeningEndpoint listener = listen()) {
            body.run(listener, peer);
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(TIMEOUT, TimeUnit.MILLISECONDS);
    }

    /** rdma-core's rdma_server: one message in, one message out. */
    private static String serve(ListeningEndpoint listener) throws IOException {
        try (Arena arena = Arena.ofShared();
                ConnectionEndpoint endpoint = listener.getRequest(TIMEOUT);
                WorkCompletions completions = new WorkCompletions(1)) {
            assertThat(endpoint.requestPrivateData()).startsWith(DATA);
            assertThat(endpoint.requestParameters()).isNotNull();
            MessageQueues messages = endpoint.messages();
            MemorySegment memory = arena.allocate(64);
            try (MemoryRegion region = messages.registerMessages(memory)) {
                messages.postReceive(7, region, 0, 32);
                endpoint.accept(ConnectionParameters.DEFAULT, DATA, TIMEOUT);
                assertThat(messages.getReceiveCompletion(completions, TIMEOUT)).isEqualTo(1);
                assertThat(completions.succeeded(0)).isTrue();
                assertThat(completions.workRequestId(0)).isEqualTo(7);
                String got = memory.getString(0);
                memory.setString(32, "re: " + got);
                messages.postSend(8, region, 32, 32, 0);
                assertThat(messages.getSendCompletion(completions, TIMEOUT)).isEqualTo(1);
                assertThat(endpoint.awaitEvent(TIMEOUT).type()).isEqualTo(CommunicationEventType.DISCONNECTED);
                endpoint.disconnect(TIMEOUT);
                return got;
            }
        }
    }

    @Test
    void clientAndServer_exchangeAMessage() throws Exception {
        withListener((listener, peer) -> {
            Future<String> server = peer.submit(() -> serve(listener));
            try (Arena arena = Arena.ofShared();
                    ConnectionEndpoint client = client(listener);
                    WorkCompletions completions = new WorkCompletions(1)) {
                MessageQueues messages = client.messages();
                MemorySegment memory = arena.allocate(64);
                try (MemoryRegion region = messages.registerMessages(memory)) {
                    messages.postReceive(1, region, 32, 32);
                    CommunicationEvent established = client.connect(ConnectionParameters.DEFAULT, DATA, TIMEOUT);
                    assertThat(established.type()).isEqualTo(CommunicationEventType.ESTABLISHED);
                    assertThat(established.privateData()).startsWith(DATA);
                    assertThat(client.lastEvent()).isSameAs(established);
                    memory.setString(0, "ping");
                    messages.postSend(2, region, 0, 32, SendFlags.SIGNALED);
                    assertThat(messages.getSendCompletion(completions, TIMEOUT)).isEqualTo(1);
                    assertThat(completions.opcode(0)).isEqualTo(WorkCompletionOpcode.SEND);
                    assertThat(messages.getReceiveCompletion(completions, TIMEOUT))
                            .isEqualTo(1);
                    assertThat(completions.lengthBytes(0)).isEqualTo(32);
                    assertThat(memory.getString(32, StandardCharsets.UTF_8)).isEqualTo("re: ping");
                    client.disconnect(TIMEOUT);
                }
            }
            assertThat(get(server)).isEqualTo("ping");
        });
    }

    @Test
    void reject_endsConnectWithItsReason() throws Exception {
        withListener((listener, peer) -> {
            Future<Void> server = peer.submit((Callable<Void>) () -> {
                try (ConnectionEndpoint endpoint = listener.getRequest(TIMEOUT)) {
                    endpoint.reject(DATA);
                }
                return null;
            });
            try (ConnectionEndpoint client = client(listener)) {
                assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, null, TIMEOUT))
                        .isInstanceOfSatisfying(VerbsException.class, e -> {
                            assertThat(e.operation()).isEqualTo("rdma_connect");
                            assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED);
                            assertThat(e).hasMessageContaining("REJECTED");
                        });
                assertThat(client.lastEvent().privateData()).startsWith(DATA);
            }
            get(server);
        });
    }

    @Test
    void requestThatIsClosed_isRejected() throws Exception {
        withListener((listener, peer) -> {
            Future<Void> server = peer.submit((Callable<Void>) () -> {
                listener.getRequest(TIMEOUT).close();
                return null;
            });
            try (ConnectionEndpoint client = client(listener)) {
                assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, null, TIMEOUT))
                        .isInstanceOf(VerbsException.class);
            }
            get(server);
        });
    }

    @Test
    void getRequest_givesUpInTime() throws Exception {
        withListener((listener, peer) -> {
            long before = System.nanoTime();
            assertThat(listener.getRequest(SHORT_MILLIS)).isNull();
            assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS));
            assertThatThrownBy(() -> listener.getRequest(-1)).isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void connect_givesUpInTimeAndCanBeClosed() throws Exception {
        withListener((listener, peer) -> {
            try (ConnectionEndpoint client = client(listener)) {
                // On iWARP the kernel itself may answer before the program does, but not accept.
                assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, null, SHORT_MILLIS))
                        .isInstanceOfSatisfying(
                                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT));
            }
        });
    }

    @Test
    void close_endsWaits() throws Exception {
        withListener((listener, peer) -> {
            Future<ConnectionEndpoint> waiting = peer.submit(() -> listener.getRequest(TIMEOUT));
            awaitStillWaiting(waiting);
            listener.close();
            assertThatThrownBy(() -> get(waiting))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("this ListeningEndpoint is closed");
            assertThatThrownBy(() -> listener.listen(1)).isInstanceOf(IllegalStateException.class);
        });
        withListener((listener, peer) -> {
            ConnectionEndpoint client = client(listener);
            Future<CommunicationEvent> waiting = peer.submit(() -> client.awaitEvent(TIMEOUT));
            awaitStillWaiting(waiting);
            client.close();
            client.close();
            assertThatThrownBy(() -> get(waiting)).hasMessageContaining("this ConnectionEndpoint is closed");
            assertThat(client).hasToString("ConnectionEndpoint[closed]");
        });
        withListener((listener, peer) -> {
            try (WorkCompletions completions = new WorkCompletions(1)) {
                ConnectionEndpoint client = client(listener);
                Future<Integer> waiting =
                        peer.submit(() -> client.messages().getReceiveCompletion(completions, TIMEOUT));
                awaitStillWaiting(waiting);
                client.close();
                assertThatThrownBy(() -> get(waiting)).hasMessageContaining("this CommunicationId is closed");
            }
        });
    }

    private static void awaitStillWaiting(Future<?> waiting) {
        assertThatThrownBy(() -> waiting.get(SHORT_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
    }

    @Test
    void create_checksItsAddress() throws Exception {
        AddressInfo passive = address(AddressInfoFlags.PASSIVE, 0);
        AddressInfo active = address(0, 1);
        RdmaEngine engine = TestDevice.engine();
        assertThatThrownBy(() -> ConnectionEndpoint.create(engine, passive, null, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ListeningEndpoint.create(engine, active, null, null))
                .isInstanceOf(IllegalArgumentException.class);
        QueuePairInitAttributes datagrams =
                QueuePairInitAttributes.of(QueuePairType.UNRELIABLE_DATAGRAM, new QueuePairCapabilities(1, 1, 1, 1, 0));
        assertThatThrownBy(() -> ConnectionEndpoint.create(engine, active, null, datagrams))
                .isInstanceOf(IllegalArgumentException.class);
        AddressInfo nowhere = AddressInfo.lookUp(
                        engine,
                        "192.0.2.1",
                        "1",
                        AddressInfoHints.NONE
                                .withPortSpace(PortSpace.TCP)
                                .withQueuePairType(QueuePairType.RELIABLE_CONNECTED))
                .getFirst();
        assertThatThrownBy(() -> ConnectionEndpoint.create(engine, nowhere, null, null))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_create_ep");
                    assertThat(e).hasMessageContaining("192.0.2.1");
                });
    }

    @Test
    void create_whereTheAddressIsInUseFails() throws Exception {
        withListener((listener, peer) -> {
            AddressInfo same =
                    address(AddressInfoFlags.PASSIVE, listener.localAddress().getPort());
            assertThatThrownBy(() -> ListeningEndpoint.create(TestDevice.engine(), same, null, null))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        });
    }

    @Test
    void endpointWithoutQueuePair_hasNoMessagesAndNoRequest() throws Exception {
        withListener((listener, peer) -> {
            try (ConnectionEndpoint client = ConnectionEndpoint.create(
                    TestDevice.engine(), address(0, listener.localAddress().getPort()), null, null)) {
                assertThatThrownBy(client::messages).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> client.reject(null)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> client.accept(ConnectionParameters.DEFAULT, null, 1))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(client.requestPrivateData()).isEmpty();
                assertThat(client.requestParameters()).isNull();
                assertThat(client.lastEvent()).isNull();
                assertThat(client.awaitEvent(0)).isNull();
                assertThat(client.id().remoteAddress()).isEqualTo(listener.localAddress());
            }
        });
    }

    @Test
    void closingTheListener_leavesTakenRequestsAlone() throws Exception {
        withListener((listener, peer) -> {
            Future<ConnectionEndpoint> request = peer.submit(() -> listener.getRequest(TIMEOUT));
            try (ConnectionEndpoint client = client(listener)) {
                Future<CommunicationEvent> connecting;
                try (ExecutorService other = Executors.newSingleThreadExecutor()) {
                    connecting = other.submit(() -> client.connect(ConnectionParameters.DEFAULT, null, TIMEOUT));
                    try (ConnectionEndpoint server = get(request)) {
                        listener.close();
                        server.accept(ConnectionParameters.DEFAULT, null, TIMEOUT);
                        assertThat(get(connecting).type()).isEqualTo(CommunicationEventType.ESTABLISHED);
                    }
                }
            }
        });
    }
}
