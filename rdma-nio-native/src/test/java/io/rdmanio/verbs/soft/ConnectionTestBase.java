package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.TakenEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

/** Two processes of a {@link FakeTown} with an event channel each, and what tests do with them. */
abstract class ConnectionTestBase {
    static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    static final int PORT = 7471;
    static final ConnectionParameters PARAMETERS = new ConnectionParameters(1, 2, 1, 3, 4, true, 77);
    static final byte[] DATA = {1, 2, 3};
    static final byte[] NOTHING = {};

    final FakeTown town = new FakeTown();
    final FakeTown.FakeProcess near = town.newProcess();
    final FakeTown.FakeProcess far = town.newProcess();
    final SoftEventChannel nearEvents = open(near);
    final SoftEventChannel farEvents = open(far);
    final List<SoftCommunicationId> ids = new ArrayList<>();
    private long lastToken;

    static SoftEventChannel open(FakeTown.FakeProcess process) {
        try {
            return SoftEventChannel.open(process, "rdma_create_event_channel");
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
    }

    /** Nothing is left when all is destroyed: no name, no timer, no use of a host. */
    @AfterEach
    void leavesNothing() {
        ids.forEach(SoftCommunicationId::destroy);
        town.settle();
        nearEvents.destroy();
        farEvents.destroy();
        assertThat(town.names).isEmpty();
        assertThat(town.timers()).isZero();
        assertThat(near.uses).isZero();
        assertThat(far.uses).isZero();
    }

    SoftCommunicationId id(SoftEventChannel channel) {
        SoftCommunicationId id = (SoftCommunicationId) channel.createId(PortSpace.TCP, ++lastToken);
        ids.add(id);
        return id;
    }

    void destroy(SoftCommunicationId id) {
        ids.remove(id);
        id.destroy();
        town.settle();
    }

    static InetSocketAddress at(int port) {
        return new InetSocketAddress(LOOPBACK, port);
    }

    SoftCommunicationId listen(int backlog) throws VerbsException {
        SoftCommunicationId listener = id(farEvents);
        listener.bind(at(PORT));
        listener.listen(backlog);
        return listener;
    }

    SoftCommunicationId resolved(InetSocketAddress destination) throws VerbsException {
        SoftCommunicationId client = id(nearEvents);
        client.resolveAddress(null, destination, 1);
        expect(nearEvents, CommunicationEventType.ADDRESS_RESOLVED);
        client.resolveRoute(1);
        expect(nearEvents, CommunicationEventType.ROUTE_RESOLVED);
        return client;
    }

    /** Begins to connect and lets the request arrive. */
    SoftCommunicationId connecting() throws VerbsException {
        SoftCommunicationId client = resolved(at(PORT));
        client.connect(PARAMETERS, DATA);
        town.settle();
        return client;
    }

    static FakeTown.FakeQueuePair makeQueuePair(SoftCommunicationId id) throws VerbsException {
        id.createQueuePair(null, null);
        return (FakeTown.FakeQueuePair) id.connectedQueuePair();
    }

    /** The next event, with the descriptor readable as long as there is one. */
    static TakenEvent expect(SoftEventChannel channel, CommunicationEventType type) {
        assertThat(isReadable(channel)).isTrue();
        TakenEvent event = channel.takeEvent();
        assertThat(event.type()).isEqualTo(type);
        channel.acknowledge(event);
        return event;
    }

    static void expectNothing(SoftEventChannel channel) {
        assertThat(channel.takeEvent()).isNull();
        assertThat(isReadable(channel)).isFalse();
    }

    static boolean isReadable(SoftEventChannel channel) {
        try {
            return Poll.awaitReadable(channel.fileDescriptor(), -1, 0) != 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Takes the request that arrived. */
    SoftCommunicationId takeRequest() {
        TakenEvent event = expect(farEvents, CommunicationEventType.CONNECT_REQUEST);
        SoftCommunicationId id = (SoftCommunicationId) event.newId();
        id.setToken(++lastToken);
        ids.add(id);
        return id;
    }

    static void assertInvalid(ThrowingCallable call) {
        assertError(Errno.EINVAL, call);
    }

    static void assertError(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageMatching("(?s).*[.] [A-Z].*[.]");
    }
}
