package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.TakenEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that come about, what they carry, and how they end when both sides play their part. */
@Timeout(20)
class ConnectionManagerTest extends ConnectionTestBase {
    @Test
    void connection_carriesDataAndParametersBothWaysAndItsQueuePairsInTime() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        makeQueuePair(client);
        client.connect(PARAMETERS, DATA);
        town.settle();

        TakenEvent request = expect(farEvents, CommunicationEventType.CONNECT_REQUEST);
        assertThat(request.idToken()).isEqualTo(1);
        assertThat(request.privateData()).hasSize(56).startsWith(DATA);
        assertThat(request.connectionParameters()).isEqualTo(new ConnectionParameters(2, 1, 1, 3, 4, false, 101));
        SoftCommunicationId server = (SoftCommunicationId) request.newId();
        ids.add(server);
        server.setToken(50);
        assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
        assertThat(server.localAddress()).isEqualTo(listener.localAddress()).isEqualTo(client.remoteAddress());
        assertThat(server.device()).isSameAs(far.context());
        FakeTown.FakeQueuePair pair = makeQueuePair(server);
        town.journal.clear();
        server.accept(new ConnectionParameters(2, 1, 0, 5, 6, false, 0), new byte[] {9});
        town.settle();
        // The queue pair is ready before the peer can know of it, on either side.
        assertThat(town.journal)
                .containsExactly("connect 201 to 101", "2 ConnectReply", "connect 101 to 201", "1 ReadyToUse");
        assertThat(pair.agreement).isEqualTo(new ConnectedQueuePair.Agreement(101, 2, 1, 3, 4, 19));
        assertThat(((FakeTown.FakeQueuePair) client.connectedQueuePair()).agreement)
                .isEqualTo(new ConnectedQueuePair.Agreement(201, 1, 2, 3, 6, 19));

        TakenEvent established = expect(nearEvents, CommunicationEventType.ESTABLISHED);
        assertThat(established.privateData()).hasSize(196).startsWith(9);
        assertThat(established.connectionParameters()).isEqualTo(new ConnectionParameters(1, 2, 0, 5, 6, false, 201));
        TakenEvent accepted = expect(farEvents, CommunicationEventType.ESTABLISHED);
        assertThat(accepted.idToken()).isEqualTo(50);
        assertThat(accepted.privateData()).isEmpty();
        assertThat(accepted.connectionParameters()).isEqualTo(ConnectionTerms.NONE);
        assertThat(town.timers()).isZero();

        client.disconnect();
        town.settle();
        expect(farEvents, CommunicationEventType.DISCONNECTED);
        expectNothing(nearEvents);
        server.disconnect();
        town.settle();
        expect(nearEvents, CommunicationEventType.DISCONNECTED);
        assertThat(town.journal).endsWith("error 101", "1 DisconnectRequest", "error 201", "2 DisconnectReply");
        town.letTimePass();
        expect(nearEvents, CommunicationEventType.TIME_WAIT_EXIT);
        expect(farEvents, CommunicationEventType.TIME_WAIT_EXIT);
        // As on Linux, doing it once more is no error.
        client.disconnect();
        town.settle();
        expectNothing(farEvents);
    }

    @Test
    void idsWithoutQueuePairs_areEstablishedByTheProgram() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        town.settle();
        TakenEvent response = expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        assertThat(response.privateData()).hasSize(196).startsWith(DATA);
        assertThat(response.connectionParameters()).isEqualTo(new ConnectionParameters(2, 1, 1, 3, 4, true, 77));
        expectNothing(farEvents);
        client.establish();
        town.settle();
        expect(farEvents, CommunicationEventType.ESTABLISHED);
        expectNothing(nearEvents);
        assertInvalid(client::establish);
    }

    @Test
    void connectionWithinAProcess_isLikeAnyOther() throws VerbsException {
        SoftCommunicationId listener = id(nearEvents);
        listener.bind(at(0));
        listener.listen(1);
        SoftCommunicationId client = resolved(listener.localAddress());
        client.connect(PARAMETERS, DATA);
        town.settle();
        SoftCommunicationId server = (SoftCommunicationId)
                expect(nearEvents, CommunicationEventType.CONNECT_REQUEST).newId();
        ids.add(server);
        server.setToken(9);
        server.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        assertThat(expect(nearEvents, CommunicationEventType.ESTABLISHED).idToken())
                .isEqualTo(9);
        server.disconnect();
        town.settle();
        expect(nearEvents, CommunicationEventType.DISCONNECTED);
    }

    @Test
    void wildcardOfIpv6_hearsBothFamilies() throws VerbsException {
        SoftCommunicationId listener = id(farEvents);
        listener.bind(new InetSocketAddress(InetAddress.ofLiteral("::"), PORT));
        listener.listen(8);
        assertThat(listener.device()).isNull();
        assertThat(listener.portNumber()).isZero();
        for (String destination : List.of("127.0.0.1", "::1", "127.7.7.7", "0.0.0.0", "::")) {
            InetAddress address = InetAddress.ofLiteral(destination);
            SoftCommunicationId client = resolved(new InetSocketAddress(address, PORT));
            client.connect(PARAMETERS, DATA);
            town.settle();
            SoftCommunicationId server = takeRequest();
            assertThat(server.localAddress()).isEqualTo(client.remoteAddress());
            assertThat(server.localAddress().getAddress().isLoopbackAddress()).isTrue();
        }
    }

    @Test
    void wildcardOfIpv6Alone_leavesIpv4Alone() throws VerbsException {
        SoftCommunicationId listener = id(farEvents);
        listener.setOption(IdOption.ADDRESS_FAMILY_ONLY, 1);
        listener.bind(new InetSocketAddress(InetAddress.ofLiteral("::"), PORT));
        listener.listen(8);
        resolved(new InetSocketAddress(InetAddress.ofLiteral("::1"), PORT)).connect(PARAMETERS, DATA);
        town.settle();
        takeRequest();
        connecting();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status()).isEqualTo(8);
    }

    @Test
    void manyListeners_hearTheirOwn() throws VerbsException {
        for (int port = PORT; port < PORT + 50; port++) {
            SoftCommunicationId listener = id(farEvents);
            listener.bind(at(port));
            listener.listen(1);
        }
        for (int port = PORT + 49; port >= PORT; port--) {
            resolved(at(port)).connect(PARAMETERS, DATA);
            town.settle();
            assertThat(takeRequest().localAddress().getPort()).isEqualTo(port);
        }
    }

    @Test
    void fullBacklog_letsTheOthersWait() throws VerbsException {
        listen(2);
        for (int i = 0; i < 4; i++) {
            connecting();
        }
        takeRequest();
        takeRequest();
        expectNothing(farEvents);
        town.letTimePass(TimeUnit.SECONDS.toNanos(1));
        takeRequest();
        takeRequest();
        expectNothing(farEvents);
        expectNothing(nearEvents);
    }

    @Test
    void notify_standsForThePeersLastMessage() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        int established = AsyncEventType.COMMUNICATION_ESTABLISHED.value();
        assertInvalid(() -> server.notify(established));
        server.accept(PARAMETERS, DATA);
        assertInvalid(() -> server.notify(AsyncEventType.PATH_MIGRATED.value()));
        server.notify(established);
        expect(farEvents, CommunicationEventType.ESTABLISHED);
        assertError(Errno.EISCONN, () -> server.notify(established));
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        expectNothing(farEvents);
    }

    @Test
    void bothDisconnectAtOnce_eachHearsItOnce() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        expect(farEvents, CommunicationEventType.ESTABLISHED);
        client.disconnect();
        server.disconnect();
        town.settle();
        expect(nearEvents, CommunicationEventType.DISCONNECTED);
        expect(farEvents, CommunicationEventType.DISCONNECTED);
        expectNothing(nearEvents);
        expectNothing(farEvents);
    }

    @Test
    void migratedId_takesItsEventsAlongInTheirOrder() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        SoftEventChannel second = open(far);
        connecting();
        SoftCommunicationId client = connecting();
        listener.migrate(second);
        listener.setToken(40);
        expectNothing(farEvents);
        for (int i = 0; i < 2; i++) {
            TakenEvent event = expect(second, CommunicationEventType.CONNECT_REQUEST);
            assertThat(event.idToken()).isEqualTo(40);
            SoftCommunicationId server = (SoftCommunicationId) event.newId();
            ids.add(server);
            server.setToken(41 + i);
            server.accept(PARAMETERS, DATA);
            server.migrate(farEvents);
        }
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        assertThat(expect(farEvents, CommunicationEventType.ESTABLISHED).idToken())
                .isEqualTo(42);
        expectNothing(second);
        destroy(listener);
        second.destroy();
    }

    @Test
    void asManyReadsAsPossible_areTheDevicesAndThePeers() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        client.connect(new ConnectionParameters(255, 3, 0, 255, 255, false, 5), NOTHING);
        town.settle();
        TakenEvent request = expect(farEvents, CommunicationEventType.CONNECT_REQUEST);
        assertThat(request.connectionParameters())
                .isEqualTo(new ConnectionParameters(3, FakeTown.MAX_READS, 0, 7, 7, false, 5));
        assertThat(request.privateData()).isEqualTo(new byte[56]);
        SoftCommunicationId server = (SoftCommunicationId) request.newId();
        ids.add(server);
        server.setToken(9);
        server.accept(ConnectionParameters.DEFAULT, NOTHING);
        town.settle();
        assertThat(expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE).connectionParameters())
                .isEqualTo(new ConnectionParameters(FakeTown.MAX_READS, 3, 0, 7, 7, false, 0));
    }

    @Test
    void privateData_isTakenUpToItsLimit() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        assertInvalid(() -> client.connect(PARAMETERS, new byte[57]));
        byte[] request = new byte[56];
        Arrays.fill(request, (byte) 1);
        client.connect(PARAMETERS, request);
        town.settle();
        TakenEvent event = expect(farEvents, CommunicationEventType.CONNECT_REQUEST);
        assertThat(event.privateData()).isEqualTo(request);
        SoftCommunicationId server = (SoftCommunicationId) event.newId();
        ids.add(server);
        server.setToken(9);
        assertInvalid(() -> server.accept(PARAMETERS, new byte[197]));
        assertInvalid(() -> server.reject(new byte[149]));
        byte[] reason = new byte[148];
        Arrays.fill(reason, (byte) 2);
        server.reject(reason);
        town.settle();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).privateData())
                .isEqualTo(reason);
    }

    @Test
    void peer_isFoundAheadOfTheRequestAndByWhoeverWasAsked() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        List<Gid> told = new ArrayList<>();
        client.findPeer(1000, told::add);
        assertThat(told).isEmpty();
        town.settle();
        assertThat(told).containsExactly(SoftContext.gid(far.number));
        client.connect(PARAMETERS, DATA);
        town.settle();
        SoftCommunicationId server = takeRequest();
        server.findPeer(1000, told::add);
        assertThat(told).containsExactly(SoftContext.gid(far.number), SoftContext.gid(near.number));
    }

    /** What was exposed to one process must not be told to another that has taken over its port. */
    @Test
    void connect_asksNobodyButThePeerThatWasFound() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        List<Gid> told = new ArrayList<>();
        client.findPeer(1000, told::add);
        town.settle();
        destroy(listener);
        SoftEventChannel others = open(town.newProcess());
        SoftCommunicationId successor = id(others);
        successor.bind(at(PORT));
        successor.listen(8);
        client.connect(PARAMETERS, DATA);
        town.settle();
        expectNothing(others);
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status())
                .isEqualTo(ConnectionAttempt.REASON_NO_LISTENER);
        destroy(successor);
        others.destroy();
    }

    @Test
    void connect_isRefusedWhenThePeerThatWasFoundIsGone() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        client.findPeer(1000, gid -> {});
        town.settle();
        far.die();
        town.settle();
        client.connect(PARAMETERS, DATA);
        town.settle();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status())
                .isEqualTo(ConnectionAttempt.REASON_NO_LISTENER);
    }

    @Test
    void peer_isNullWhenNobodyListensYetAndFoundByTheRequestThen() throws VerbsException {
        SoftCommunicationId client = resolved(at(PORT));
        List<Gid> told = new ArrayList<>();
        client.findPeer(1000, told::add);
        town.settle();
        assertThat(told).hasSize(1).containsOnlyNulls();
        listen(8);
        client.connect(PARAMETERS, DATA);
        town.settle();
        takeRequest();
    }

    @Test
    void peer_cannotBeFoundBeforeTheRouteIs() throws VerbsException {
        SoftCommunicationId client = id(nearEvents);
        assertInvalid(() -> client.findPeer(1, gid -> {}));
        client.resolveAddress(null, at(PORT), 1);
        expect(nearEvents, CommunicationEventType.ADDRESS_RESOLVED);
        assertInvalid(() -> client.findPeer(1, gid -> {}));
    }

    @Test
    void resolveAtOnce_needsNoEvents() throws VerbsException {
        listen(8);
        SoftCommunicationId client = id(nearEvents);
        assertThat(client.resolveAtOnce(at(PORT))).isTrue();
        expectNothing(nearEvents);
        assertThat(client.remoteAddress()).isEqualTo(at(PORT));
        assertThat(client.localAddress().getAddress()).isEqualTo(LOOPBACK);
        assertInvalid(() -> client.resolveAtOnce(at(PORT)));
        assertInvalid(() -> client.resolveRoute(1));
        client.connect(PARAMETERS, DATA);
        town.settle();
        assertThat(takeRequest().remoteAddress()).isEqualTo(client.localAddress());
    }

    @Test
    void resolveAtOnce_ofAnAddressOutOfReach_leavesTheIdAsItWas() throws VerbsException {
        SoftCommunicationId client = id(nearEvents);
        InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), PORT);
        assertError(Errno.ENETUNREACH, () -> client.resolveAtOnce(elsewhere));
        assertThat(client.localAddress()).isNull();
        assertThat(client.resolveAtOnce(at(PORT))).isTrue();
    }
}
