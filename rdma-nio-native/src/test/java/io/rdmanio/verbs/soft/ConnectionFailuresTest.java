package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.IdOption;
import io.rdmanio.verbs.spi.TakenEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that don't come about, and peers that leave at the worst moment. Afterwards nothing is left. */
@Timeout(20)
class ConnectionFailuresTest extends ConnectionTestBase {
    private static final int NO_LISTENER = 8;
    private static final int CONSUMER = 28;

    private void expectRejected(SoftEventChannel channel, int reason) {
        TakenEvent event = expect(channel, CommunicationEventType.REJECTED);
        assertThat(event.status()).isEqualTo(reason);
        assertThat(event.privateData()).hasSize(148);
    }

    @Test
    void nobodyListens_isARejection() throws VerbsException {
        makeQueuePair(connecting());
        expectRejected(nearEvents, NO_LISTENER);
        expectNothing(nearEvents);
    }

    @Test
    void boundButNotListening_isARejection() throws VerbsException {
        id(farEvents).bind(at(PORT));
        connecting();
        expectRejected(nearEvents, NO_LISTENER);
    }

    @Test
    void reject_reachesThePeerAndEndsItsQueuePair() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        makeQueuePair(client);
        client.connect(PARAMETERS, DATA);
        town.settle();
        SoftCommunicationId server = takeRequest();
        server.reject(DATA);
        town.settle();
        TakenEvent event = expect(nearEvents, CommunicationEventType.REJECTED);
        assertThat(event.status()).isEqualTo(CONSUMER);
        assertThat(event.privateData()).startsWith(DATA);
        assertThat(town.journal).endsWith("error 101");
        assertInvalid(() -> server.accept(PARAMETERS, DATA));
        assertInvalid(() -> server.reject(DATA));
        assertInvalid(() -> client.connect(PARAMETERS, DATA));
    }

    @Test
    void requestThatIsDestroyed_isRejected() throws VerbsException {
        listen(8);
        connecting();
        destroy(takeRequest());
        expectRejected(nearEvents, CONSUMER);
    }

    @Test
    void listenerThatIsDestroyed_rejectsWhatWaits() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        connecting();
        connecting();
        SoftCommunicationId taken = takeRequest();
        destroy(listener);
        expectRejected(nearEvents, CONSUMER);
        expectNothing(nearEvents);
        expectNothing(farEvents);
        taken.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
    }

    @Test
    void listenersProcessThatDies_rejectsWhatWaits() throws VerbsException {
        listen(8);
        connecting();
        connecting();
        takeRequest();
        far.die();
        town.settle();
        expectRejected(nearEvents, CONSUMER);
        expectRejected(nearEvents, CONSUMER);
        expectNothing(nearEvents);
        connecting();
        expectRejected(nearEvents, NO_LISTENER);
    }

    @Test
    void clientThatGoesBeforeTheAnswer_isMissedByAccept() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        destroy(client);
        expectNothing(farEvents);
        assertInvalid(() -> server.accept(PARAMETERS, DATA));
    }

    @Test
    void clientThatGoesWhileTheAnswerIsOnItsWay_isARejection() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        makeQueuePair(server);
        server.accept(PARAMETERS, DATA);
        ids.remove(client);
        client.destroy();
        town.settle();
        expect(farEvents, CommunicationEventType.REJECTED);
        expectNothing(farEvents);
        assertThat(town.journal).contains("error 201");
        assertThat(town.timers()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void clientsProcessThatDiesBeforeItIsReady_isARejection(boolean hasAnswered) throws VerbsException {
        listen(8);
        connecting();
        SoftCommunicationId server = takeRequest();
        if (hasAnswered) {
            server.accept(PARAMETERS, DATA);
            town.settle();
        }
        near.die();
        town.settle();
        if (hasAnswered) {
            expectRejected(farEvents, CONSUMER);
        } else {
            assertInvalid(() -> server.accept(PARAMETERS, DATA));
        }
        expectNothing(farEvents);
        assertThat(town.timers()).isZero();
    }

    @Test
    void programThatNeverAnswers_isUnreachableInTime() throws VerbsException {
        listen(8);
        connecting();
        SoftCommunicationId server = takeRequest();
        town.letTimePass();
        assertThat(expect(nearEvents, CommunicationEventType.UNREACHABLE).status())
                .isEqualTo(-Errno.ETIMEDOUT);
        assertInvalid(() -> server.accept(PARAMETERS, DATA));
        expectNothing(farEvents);
    }

    @Test
    void programThatNeverTakesTheRequest_isUnreachableInTime() throws VerbsException {
        listen(8);
        connecting();
        town.letTimePass();
        expect(nearEvents, CommunicationEventType.UNREACHABLE);
        SoftCommunicationId server = takeRequest();
        assertInvalid(() -> server.accept(PARAMETERS, DATA));
    }

    @Test
    void peerThatIsNeverReady_isUnreachableInTime() throws VerbsException {
        listen(8);
        connecting();
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        town.letTimePass();
        assertThat(expect(farEvents, CommunicationEventType.UNREACHABLE).status())
                .isEqualTo(-Errno.ETIMEDOUT);
        expect(nearEvents, CommunicationEventType.REJECTED);
    }

    @Test
    void peerThatNeverConfirmsTheEnd_isGivenUpInTime() throws VerbsException {
        SoftCommunicationId[] pair = connected();
        pair[0].disconnect();
        town.settle();
        expect(farEvents, CommunicationEventType.DISCONNECTED);
        town.letTimePass();
        assertThat(expect(nearEvents, CommunicationEventType.DISCONNECTED).status())
                .isEqualTo(-Errno.ETIMEDOUT);
        town.letTimePass();
        expect(nearEvents, CommunicationEventType.TIME_WAIT_EXIT);
    }

    private SoftCommunicationId[] connected() throws VerbsException {
        listen(8);
        SoftCommunicationId client = connecting();
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        expect(farEvents, CommunicationEventType.ESTABLISHED);
        return new SoftCommunicationId[] {client, server};
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void sideThatIsDestroyed_disconnectsTheOther(int side) throws VerbsException {
        SoftCommunicationId[] pair = connected();
        destroy(pair[side]);
        expect(side == 0 ? farEvents : nearEvents, CommunicationEventType.DISCONNECTED);
        pair[1 - side].disconnect();
        town.settle();
        expectNothing(nearEvents);
        expectNothing(farEvents);
    }

    @Test
    void processThatDies_disconnectsTheOther() throws VerbsException {
        SoftCommunicationId[] pair = connected();
        makeQueuePair(pair[1]);
        near.die();
        town.settle();
        assertThat(expect(farEvents, CommunicationEventType.DISCONNECTED).status())
                .isZero();
        assertThat(town.journal).endsWith("error 201");
        town.letTimePass();
        expect(farEvents, CommunicationEventType.TIME_WAIT_EXIT);
    }

    @Test
    void queuePairThatCannotConnect_failsBothSides() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        makeQueuePair(client).failNextConnect = Errno.ENOMEM;
        client.connect(PARAMETERS, DATA);
        town.settle();
        SoftCommunicationId server = takeRequest();
        server.accept(PARAMETERS, DATA);
        town.settle();
        assertThat(expect(nearEvents, CommunicationEventType.CONNECT_ERROR).status())
                .isEqualTo(-Errno.ENOMEM);
        expectRejected(farEvents, CONSUMER);

        connecting();
        SoftCommunicationId second = takeRequest();
        makeQueuePair(second).failNextConnect = Errno.EINVAL;
        assertThatThrownBy(() -> second.accept(PARAMETERS, DATA)).isInstanceOf(VerbsException.class);
        town.settle();
        expectRejected(nearEvents, CONSUMER);
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EMFILE, Errno.EPROTONOSUPPORT, Errno.ETIMEDOUT, Errno.ECONNRESET})
    void processThatCannotBeReached_isAnError(int errno) throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        near.failNextFind = errno;
        client.connect(PARAMETERS, DATA);
        town.settle();
        switch (errno) {
            // The next name is tried.
            case Errno.ECONNRESET -> expectRejected(nearEvents, NO_LISTENER);
            case Errno.ETIMEDOUT ->
                assertThat(expect(nearEvents, CommunicationEventType.UNREACHABLE)
                                .status())
                        .isEqualTo(-errno);
            default ->
                assertThat(expect(nearEvents, CommunicationEventType.CONNECT_ERROR)
                                .status())
                        .isEqualTo(-errno);
        }
    }

    @Test
    void destroyWhileThePeerIsLookedFor_endsTheSearch() throws VerbsException {
        listen(8);
        SoftCommunicationId client = resolved(at(PORT));
        client.connect(PARAMETERS, DATA);
        destroy(client);
        expectNothing(farEvents);
        expectNothing(nearEvents);
    }

    @Test
    void eventsOfADestroyedId_vanish() throws VerbsException {
        SoftCommunicationId[] pair = connected();
        SoftCommunicationId other = id(farEvents);
        other.resolveAddress(null, at(1), 1);
        destroy(pair[0]);
        destroy(pair[1]);
        assertThat(expect(farEvents, CommunicationEventType.ADDRESS_RESOLVED).idToken())
                .isEqualTo(other.token());
        expectNothing(farEvents);
    }

    @Test
    void messagesThatFitNothing_areAnsweredOrIgnored() throws Exception {
        SoftCommunicationId[] pair = connected();
        FakeTown.Peer peer = near.peer(far);
        byte[] data = new byte[196];
        ControlMessage.Parameters parameters = new ControlMessage.Parameters(1, 1, false, 7, 7, false);
        for (long number = 0; number < 5; number++) {
            for (ControlMessage message : new ControlMessage[] {
                new ControlMessage.ConnectReply(number, 99, 5, parameters, data),
                new ControlMessage.ReadyToUse(number),
                new ControlMessage.DisconnectReply(number),
            }) {
                peer.send(message);
                town.settle();
            }
        }
        peer.send(new ControlMessage.DisconnectRequest(77));
        peer.send(new ControlMessage.ConnectReject(77, 77, 8, NOTHING));
        peer.send(new ControlMessage.ConnectReject(0, 77, 8, NOTHING));
        town.settle();
        expectNothing(nearEvents);
        expectNothing(farEvents);
        pair[0].disconnect();
        town.settle();
        expect(farEvents, CommunicationEventType.DISCONNECTED);
    }

    @Test
    void messageOfAnotherPeer_reachesNoConnection() throws VerbsException {
        connected();
        FakeTown.FakeProcess stranger = town.newProcess();
        for (long number = 0; number < 5; number++) {
            stranger.peer(far).send(new ControlMessage.DisconnectRequest(number));
            stranger.peer(far).send(new ControlMessage.ConnectReject(number, number, 28, NOTHING));
        }
        town.settle();
        expectNothing(farEvents);
    }

    @Test
    void secondRequestOfTheSameNumber_isAViolation() throws VerbsException {
        connected();
        FakeTown.Peer peer = near.peer(far);
        ControlMessage.Parameters parameters = new ControlMessage.Parameters(1, 1, false, 7, 7, false);
        peer.send(new ControlMessage.ConnectRequest(2, 5, at(1), at(PORT), parameters, DATA));
        peer.send(new ControlMessage.ConnectRequest(2, 5, at(1), at(PORT), parameters, DATA));
        town.settle();
        assertThat(town.journal).contains("violation by 1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestToOrFromAWildcard_isAViolationAndNoEvent(boolean from) throws VerbsException {
        listen(1);
        ControlMessage.Parameters parameters = new ControlMessage.Parameters(1, 1, false, 7, 7, false);
        InetSocketAddress everywhere = new InetSocketAddress(LocalAddresses.wildcard4(), PORT);
        near.peer(far)
                .send(new ControlMessage.ConnectRequest(
                        2, 5, from ? everywhere : at(1), from ? at(PORT) : everywhere, parameters, DATA));
        town.settle();
        assertThat(town.journal).contains("violation by 1");
        expectNothing(farEvents);
    }

    @Test
    void refusalForTheBacklogThatNeverEnds_endsInTime() throws VerbsException {
        SoftCommunicationId listener = listen(1);
        connecting();
        connecting();
        for (int i = 0; i < 3; i++) {
            near.peer(far).opposite.send(new ControlMessage.ConnectReject(2, 0, 3, NOTHING));
        }
        town.settle();
        // One pause for the answer that is waited for, and the time of each answer.
        assertThat(town.timers()).isEqualTo(3);
        town.letTimePass();
        expect(nearEvents, CommunicationEventType.UNREACHABLE);
        expect(nearEvents, CommunicationEventType.UNREACHABLE);
        destroy(listener);
    }

    @Test
    void operationsInTheWrongOrder_areRefused() throws VerbsException {
        SoftCommunicationId fresh = id(nearEvents);
        assertInvalid(() -> fresh.resolveRoute(1));
        assertInvalid(() -> fresh.connect(PARAMETERS, DATA));
        assertInvalid(() -> fresh.accept(PARAMETERS, DATA));
        assertInvalid(() -> fresh.reject(DATA));
        assertInvalid(fresh::disconnect);
        assertInvalid(fresh::establish);
        assertThat(fresh.localAddress()).isNull();
        fresh.bind(at(0));
        assertInvalid(() -> fresh.bind(at(0)));
        assertInvalid(() -> fresh.setOption(IdOption.ADDRESS_FAMILY_ONLY, 1));
        assertInvalid(() -> fresh.setPath(new byte[72]));
        fresh.setOption(IdOption.REUSE_ADDRESS, 1);
        fresh.listen(0);
        assertInvalid(() -> fresh.listen(1));
        assertInvalid(() -> fresh.resolveAddress(null, at(1), 1));
        SoftCommunicationId resolved = resolved(at(1));
        assertInvalid(() -> resolved.listen(1));
        assertInvalid(() -> resolved.resolveAddress(null, at(1), 1));
        SoftCommunicationId datagrams = (SoftCommunicationId) nearEvents.createId(PortSpace.UDP, 99);
        ids.add(datagrams);
        assertError(Errno.EOPNOTSUPP, () -> datagrams.bind(at(0)));
    }

    @Test
    void addressesOfOthers_areOutOfReach() throws VerbsException {
        SoftCommunicationId id = id(nearEvents);
        InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.ofLiteral("198.51.100.7"), 1);
        InetSocketAddress ofAnotherFamily = new InetSocketAddress(InetAddress.ofLiteral("::1"), 0);
        InetSocketAddress withoutScope = new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 1);
        assertError(Errno.EADDRNOTAVAIL, () -> id.bind(elsewhere));
        assertError(Errno.ENETUNREACH, () -> id.resolveAddress(null, elsewhere, 1));
        assertError(Errno.EADDRNOTAVAIL, () -> id.resolveAddress(elsewhere, at(1), 1));
        assertInvalid(() -> id.resolveAddress(ofAnotherFamily, at(1), 1));
        assertInvalid(() -> id.bind(withoutScope));
        id.resolveAddress(at(0), at(1), 1);
        assertThat(id.localAddress().getPort()).isPositive();
    }
}
