package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.TakenEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Connections of ids without queue pairs between hosts that find each other by the system's sockets. */
@Timeout(60)
class HostConnectionTest {
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final ConnectionParameters PARAMETERS = new ConnectionParameters(1, 1, 0, 7, 7, false, 5);
    private static final byte[] DATA = {1, 2, 3};

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private final AtomicLong tokens = new AtomicLong();
    private final List<Runnable> ends = new ArrayList<>();
    private SoftEventChannel near;
    private SoftEventChannel far;
    private SoftHost farHost;

    /** A host's connection manager without the rest of the device. */
    private record Device(SoftHost host) implements ConnectionDevice {
        @Override
        public ConnectionManager connections() {
            return host.connections();
        }

        @Override
        public void retain() {
            host.retain();
        }

        @Override
        public void release() {
            host.release();
        }

        @Override
        public ContextHandle context() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ProtectionDomainHandle domain() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int maxReads() {
            return 16;
        }

        @Override
        public NewQueuePair createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public SharedReceiveQueueHandle createSharedReceiveQueue(
                ProtectionDomainHandle domain, SharedReceiveQueueAttributes wanted) {
            throw new UnsupportedOperationException();
        }
    }

    @BeforeEach
    void start() throws IOException {
        SoftHost nearHost = SoftHost.startAnother();
        farHost = SoftHost.startAnother();
        near = SoftEventChannel.open(new Device(nearHost), "test");
        far = SoftEventChannel.open(new Device(farHost), "test");
        nearHost.release();
        farHost.release();
    }

    @AfterEach
    void end() {
        ends.reversed().forEach(Runnable::run);
        near.destroy();
        if (far != null) {
            far.destroy();
        }
    }

    private SoftCommunicationId id(SoftEventChannel channel) {
        SoftCommunicationId id = (SoftCommunicationId) channel.createId(PortSpace.TCP, tokens.incrementAndGet());
        ends.add(id::destroy);
        return id;
    }

    private SoftCommunicationId listen(SoftEventChannel channel, InetSocketAddress address) throws VerbsException {
        SoftCommunicationId listener = id(channel);
        listener.bind(address);
        listener.listen(16);
        return listener;
    }

    private SoftCommunicationId connect(InetSocketAddress address) throws VerbsException, IOException {
        SoftCommunicationId client = id(near);
        client.resolveAddress(null, address, 1);
        expect(near, CommunicationEventType.ADDRESS_RESOLVED);
        client.resolveRoute(1);
        expect(near, CommunicationEventType.ROUTE_RESOLVED);
        client.connect(PARAMETERS, DATA);
        return client;
    }

    private static TakenEvent next(SoftEventChannel channel) throws IOException {
        assertThat(Poll.awaitReadable(channel.fileDescriptor(), -1, TIMEOUT_MILLIS))
                .as("an event in time")
                .isEqualTo(1);
        return channel.takeEvent();
    }

    private static TakenEvent expect(SoftEventChannel channel, CommunicationEventType type) throws IOException {
        TakenEvent event = next(channel);
        assertThat(event.type()).isEqualTo(type);
        return event;
    }

    private SoftCommunicationId takeRequest() throws IOException {
        TakenEvent event = expect(far, CommunicationEventType.CONNECT_REQUEST);
        assertThat(event.privateData()).startsWith(DATA).hasSize(56);
        SoftCommunicationId id = (SoftCommunicationId) event.newId();
        id.setToken(tokens.incrementAndGet());
        ends.add(id::destroy);
        return id;
    }

    private SoftCommunicationId[] connected(InetSocketAddress address) throws IOException {
        SoftCommunicationId client = connect(address);
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        assertThat(expect(near, CommunicationEventType.CONNECT_RESPONSE).privateData())
                .startsWith(DATA)
                .hasSize(196);
        client.establish();
        expect(far, CommunicationEventType.ESTABLISHED);
        return new SoftCommunicationId[] {client, server};
    }

    @Test
    void connectionBetweenHosts_comesAndGoes() throws IOException {
        SoftCommunicationId listener = listen(far, new InetSocketAddress(LOOPBACK, 0));
        for (int i = 0; i < 20; i++) {
            SoftCommunicationId[] pair = connected(listener.localAddress());
            assertThat(pair[1].remoteAddress()).isEqualTo(pair[0].localAddress());
            pair[0].disconnect();
            expect(far, CommunicationEventType.DISCONNECTED);
            pair[1].disconnect();
            expect(near, CommunicationEventType.DISCONNECTED);
        }
    }

    @Test
    void wildcards_areFoundByAnyAddressOfTheHost() throws IOException {
        SoftCommunicationId listener = listen(far, new InetSocketAddress(InetAddress.ofLiteral("::"), 0));
        int port = listener.sourcePort();
        for (InetAddress address : LocalAddresses.all()) {
            SoftCommunicationId[] pair = connected(new InetSocketAddress(address, port));
            assertThat(pair[1].localAddress().getAddress()).isEqualTo(address);
        }
    }

    @Test
    void bind_whereAnotherProcessHasIsRefused() throws IOException {
        SoftCommunicationId listener = listen(far, new InetSocketAddress(LOOPBACK, 0));
        InetSocketAddress taken = listener.localAddress();
        SoftCommunicationId second = id(near);
        assertThatThrownBy(() -> second.bind(taken))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        InetSocketAddress wildcard = new InetSocketAddress(InetAddress.ofLiteral("::"), taken.getPort());
        assertThatThrownBy(() -> second.bind(wildcard))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
        connected(taken);
        destroyAll();
        // The connections that were accepted there have the listener's name and don't count.
        SoftCommunicationId third = id(near);
        third.bind(wildcard);
    }

    private void destroyAll() {
        ends.reversed().forEach(Runnable::run);
        ends.clear();
    }

    @Test
    void nobodyListens_isRejected() throws IOException {
        connect(new InetSocketAddress(LOOPBACK, 7));
        assertThat(expect(near, CommunicationEventType.REJECTED).status()).isEqualTo(8);
    }

    @Test
    void processThatEnds_rejectsWhatWaitsAndDisconnectsWhatStands() throws IOException {
        SoftCommunicationId listener = listen(far, new InetSocketAddress(LOOPBACK, 0));
        SoftCommunicationId[] pair = connected(listener.localAddress());
        connect(listener.localAddress());
        takeRequest();
        assertThat(pair[1]).isNotNull();
        killFar();
        List<CommunicationEventType> seen =
                new ArrayList<>(List.of(next(near).type(), next(near).type()));
        assertThat(seen)
                .containsExactlyInAnyOrder(CommunicationEventType.REJECTED, CommunicationEventType.DISCONNECTED);
    }

    /** As if the process had ended: the peers see nothing but the end of its sockets. */
    private void killFar() {
        farHost.progress().execute(() -> farHost.pairs().close(Errno.ECANCELED, "the test ends this process"));
    }

    @Test
    void manyConnectionsAtOnce_shareOnePairOfProcesses() throws IOException {
        SoftCommunicationId listener = listen(far, new InetSocketAddress(LOOPBACK, 0));
        int count = 100;
        for (int i = 0; i < count; i++) {
            connect(listener.localAddress());
        }
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ports.add(takeRequest().destinationPort());
        }
        assertThat(ports).doesNotHaveDuplicates();
    }
}
