package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Connections that don't come about. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class ConnectionFailureTest {
    // InfiniBand's reject reasons: no listener for the service id, and rejected by the program.
    private static final int INVALID_SERVICE_ID = 8;
    private static final int CONSUMER_DEFINED = 28;
    private static final int UNUSED_PORT = 7;

    /** Less than the kernel waits for an answer, and more than anything else takes. */
    private static final long HELD_UP_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final byte[] REASON = {9, 8, 7};

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** The event that ends an attempt; an attempt that fails at once is thrown. */
    private static CommunicationEvent attempt(EventChannel channel, Endpoint client) throws IOException {
        client.id.connect(TestDevice.parameters(), null);
        return TestDevice.next(channel);
    }

    @Test
    void connect_whereNobodyListensIsRefused() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Endpoint client = new Endpoint(TestDevice.resolve(channel, UNUSED_PORT))) {
            if (!TestDevice.has(Feature.REJECT_REASONS)) {
                try (CommunicationEvent event = attempt(channel, client)) {
                    assertThat(event.type())
                            .isIn(
                                    CommunicationEventType.UNREACHABLE,
                                    CommunicationEventType.CONNECT_ERROR,
                                    CommunicationEventType.REJECTED);
                    assertThat(event.status()).isEqualTo(-Errno.ECONNREFUSED);
                } catch (VerbsException e) {
                    assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED);
                }
            } else {
                try (CommunicationEvent event = attempt(channel, client)) {
                    assertThat(event.type()).isEqualTo(CommunicationEventType.REJECTED);
                    assertThat(event.status()).isEqualTo(INVALID_SERVICE_ID);
                    assertThat(event.id()).isSameAs(client.id);
                }
            }
        }
    }

    @Test
    void reject_carriesPrivateData() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel);
                Endpoint client = new Endpoint(
                        TestDevice.resolve(channel, listener.localAddress().getPort()))) {
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    CommunicationId id = request.id()) {
                id.reject(REASON);
            }
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.REJECTED)) {
                assertThat(event.privateData()).startsWith(REASON);
                assertThat(event.status())
                        .isEqualTo(TestDevice.has(Feature.REJECT_REASONS) ? CONSUMER_DEFINED : -Errno.ECONNRESET);
            }
        }
    }

    @Test
    void requestThatIsClosed_isRejected() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel);
                Endpoint client = new Endpoint(
                        TestDevice.resolve(channel, listener.localAddress().getPort()))) {
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
                request.id().close();
            }
            TestDevice.expect(channel, CommunicationEventType.REJECTED);
        }
    }

    /** Over iWARP to destroy it is to wait for the answer to the request, which here is this channel's to tell of. */
    @Test
    void queuePairDestroyedWhileConnecting_holdsUpNoEvent() throws Exception {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel);
                Endpoint client = new Endpoint(
                        TestDevice.resolve(channel, listener.localAddress().getPort()))) {
            client.id.connect(TestDevice.parameters(), null);
            FutureTask<Void> closing = new FutureTask<>(() -> {
                client.pair.close();
                return null;
            });
            Thread.ofPlatform().daemon().start(closing);
            TimeUnit.MILLISECONDS.sleep(200); // by then it waits, if it does
            long begin = System.nanoTime();
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
                assertThat(System.nanoTime() - begin).isLessThan(HELD_UP_NANOS);
                request.id().close();
            }
            closing.get(HELD_UP_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    @Test
    void resolveAddress_withoutRouteFails() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            // TEST-NET-1 has no route in the lab.
            InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 1);
            assertThatThrownBy(() -> id.resolveAddress(null, nowhere, TestDevice.TIMEOUT_MILLIS))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("rdma_resolve_addr");
                        assertThat(e.errno()).isIn(Errno.ENETUNREACH, Errno.ENODEV, Errno.EHOSTUNREACH);
                        assertThat(e).hasMessageContaining("192.0.2.1");
                    });
            InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.host", 1);
            assertThatThrownBy(() -> id.resolveAddress(null, unresolved, 1))
                    .isInstanceOf(UnresolvedAddressException.class);
        }
    }

    @Test
    void bind_toAddressInUseFails() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId first = TestDevice.listen(channel);
                CommunicationId second = channel.createId(PortSpace.TCP)) {
            assertThatThrownBy(() -> second.bind(first.localAddress()))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        }
    }

    @Test
    void connect_tooEarlyIsRefusedWithItsReason() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            assertThat(id.device()).isNull();
            assertThat(id.localAddress()).isNull();
            assertThat(id.remoteAddress()).isNull();
            assertThatThrownBy(() -> id.connect(TestDevice.parameters(), null))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("the address must be resolved");
            assertThatThrownBy(id::disconnect)
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            assertThatThrownBy(() -> id.connect(TestDevice.parameters(), new byte[256]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void options_areTaken() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            id.options().setReuseAddress(true);
            id.options().setAddressFamilyOnly(true);
            id.options().setTypeOfService(16);
            assertThatThrownBy(() -> id.options().setTypeOfService(256)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
