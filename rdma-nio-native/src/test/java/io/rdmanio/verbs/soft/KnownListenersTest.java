package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections to who has accepted one lately, and when it is looked for all the same. */
@Timeout(20)
class KnownListenersTest extends ConnectionTestBase {
    private static final int NO_LISTENER = 8;

    /** Connects, so that who listens is known. */
    private SoftCommunicationId connect() throws VerbsException {
        SoftCommunicationId client = connecting();
        makeQueuePair(takeRequest());
        ids.getLast().accept(PARAMETERS, NOTHING);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        return client;
    }

    @Test
    void secondConnect_looksForNoName() throws VerbsException {
        listen(8);
        connect();
        int searches = near.searches;
        assertThat(searches).isPositive();
        connect();
        SoftCommunicationId third = resolved(at(PORT));
        List<Gid> found = new ArrayList<>();
        third.findPeer(1, found::add);
        assertThat(found).as("before anything could arrive").containsExactly(SoftContext.gid(far.number));
        assertThat(near.searches).isEqualTo(searches);
    }

    @Test
    void listenerThatIsElsewhereNow_isFound() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        connect();
        destroy(listener);
        FakeTown.FakeProcess third = town.newProcess();
        SoftEventChannel thirdEvents = open(third);
        SoftCommunicationId other = id(thirdEvents);
        other.bind(at(PORT));
        other.listen(8);

        connecting();
        SoftCommunicationId request = (SoftCommunicationId)
                expect(thirdEvents, CommunicationEventType.CONNECT_REQUEST).newId();
        request.destroy();
        town.settle();
        expectNothing(farEvents);
        expect(nearEvents, CommunicationEventType.REJECTED);
        destroy(other);
        thirdEvents.destroy();
    }

    @Test
    void listenerThatIsGone_isARejectionOfNobody() throws VerbsException {
        destroy(listen(8));
        SoftCommunicationId listener = listen(8);
        connect();
        destroy(listener);
        connecting();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status()).isEqualTo(NO_LISTENER);
    }

    @Test
    void processThatDied_isLookedForAgain() throws VerbsException {
        listen(8);
        destroy(connect());
        int searches = near.searches;
        far.die();
        town.settle();
        connecting();
        assertThat(near.searches).isGreaterThan(searches);
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status()).isEqualTo(NO_LISTENER);
    }

    @Test
    void processThatKeepsItToItselfThatItHasStopped_isAskedOnceMoreInVain() throws VerbsException {
        SoftCommunicationId listener = listen(8);
        connect();
        int before = far.listenerEpoch;
        destroy(listener);
        far.listenerEpoch = before;
        int searches = near.searches;
        connecting();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status()).isEqualTo(NO_LISTENER);
        assertThat(near.searches).isEqualTo(searches);
        connecting();
        assertThat(expect(nearEvents, CommunicationEventType.REJECTED).status()).isEqualTo(NO_LISTENER);
        assertThat(near.searches).isGreaterThan(searches);
    }

    @Test
    void whatAPeerSays_isBelievedForAWhileSinceItsNameWasSeen() {
        KnownListeners known = new KnownListeners();
        FakeTown.Peer peer = near.peer(far);
        long second = TimeUnit.MILLISECONDS.toNanos(KnownListeners.BELIEVED_MILLIS);
        long start = Long.MAX_VALUE - second / 2;
        known.add(at(PORT), peer, 0, start);
        assertThat(known.find(at(PORT), start)).isSameAs(peer);
        assertThat(known.find(at(PORT + 1), start)).isNull();
        assertThat(known.find(at(PORT), start + second - 1)).isSameAs(peer);
        assertThat(known.find(at(PORT), start + second)).isNull();
        assertThat(known.find(at(PORT), start + second - 1)).as("forgotten").isNull();
    }

    @Test
    void knownOnes_areNeverMoreThanAFew() {
        KnownListeners known = new KnownListeners();
        FakeTown.Peer peer = near.peer(far);
        for (int port = 1; port <= 65_535; port++) {
            known.add(at(port), peer, 0, 0);
            assertThat(known.size()).isLessThanOrEqualTo(1024);
        }
        assertThat(known.find(at(65_535), 0)).isSameAs(peer);
    }
}
