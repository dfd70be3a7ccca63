package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.Poll;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.linux.WakePipe;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** One peer takes no more than its share, and what is left is enough for the others. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class PeerSharesTest {
    /** So that a process may have 8 doorbells of 16, 2 pairs of 8, and 8 handshakes of 32. */
    private static final int DESCRIPTOR_LIMIT = 64;

    private static final int DOORBELL_SHARE = 8;
    private static final int PAIR_SHARE = 2;
    private static final int HANDSHAKE_SHARE = 8;
    private static final int OWN_PROCESS = ProcessCredentials.own().processId();
    private static final int ANOTHER_PROCESS = OWN_PROCESS + 1;

    private static int pipes() throws IOException {
        return Possessions.now().getOrDefault("pipe:", 0);
    }

    private static boolean isRung(WakePipe pipe) throws IOException {
        return Poll.awaitReadable(pipe.fileDescriptor(), -1, 0) == 1;
    }

    private static void onProgressThread(SoftHost host, Runnable task) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        host.progress().execute(() -> {
            task.run();
            done.complete(null);
        });
        done.get(10, TimeUnit.SECONDS);
    }

    @Test
    void shares_areAnEighthOfTheLimitForOneAndAQuarterForAll() {
        DescriptorShares shares = new DescriptorShares(DESCRIPTOR_LIMIT);
        for (int process = 1; process <= 2; process++) {
            for (int i = 0; i < DOORBELL_SHARE; i++) {
                assertThat(shares.take(process)).isTrue();
            }
            assertThat(shares.take(process)).isFalse();
        }
        assertThat(shares.take(3)).as("beyond the share of all").isFalse();
        shares.giveBack(1);
        assertThat(shares.take(2)).isFalse();
        assertThat(shares.take(3)).isTrue();
        assertThat(shares.take(1)).isFalse();
    }

    @Test
    void doorbellsBeyondTheShare_takeNoDescriptorAndAreRungByMessages() throws Exception {
        SoftHost host = SoftHost.startAnother(DESCRIPTOR_LIMIT);
        try (RawPeer peer = RawPeer.of(host).joined();
                WakePipe pipe = new WakePipe()) {
            int before = pipes();
            tell(peer, pipe, 0, 3 * DOORBELL_SHARE);
            roundTrip(peer);
            assertThat(pipes() - before).isEqualTo(DOORBELL_SHARE);
            ProcessPair pair = host.pairs().all().findAny().orElseThrow();
            pair.ringPeer(DOORBELL_SHARE - 1);
            assertThat(isRung(pipe)).isTrue();
            pipe.drain();
            pair.ringPeer(DOORBELL_SHARE);
            assertThat(peer.receive()).isEqualTo(new ControlMessage.Ring(DOORBELL_SHARE));
            assertThat(isRung(pipe)).isFalse();

            // What is gone makes room, whichever kind it was.
            peer.send(new ControlMessage.DoorbellGone(DOORBELL_SHARE));
            peer.send(new ControlMessage.DoorbellGone(0));
            tell(peer, pipe, 3 * DOORBELL_SHARE, 3 * DOORBELL_SHARE + 2);
            roundTrip(peer);
            assertThat(pipes() - before).isEqualTo(DOORBELL_SHARE);
            pair.ringPeer(DOORBELL_SHARE);
            pair.ringPeer(3 * DOORBELL_SHARE + 1);
            assertThat(peer.receive()).isEqualTo(new ControlMessage.Ring(3 * DOORBELL_SHARE + 1));
            pair.ringPeer(3 * DOORBELL_SHARE);
            assertThat(isRung(pipe)).isTrue();
        } finally {
            host.release();
        }
    }

    @Test
    void doorbellThatIsAskedForBeforeItIsTold_isRungThen() throws Exception {
        SoftHost host = SoftHost.startAnother(DESCRIPTOR_LIMIT);
        try (RawPeer peer = RawPeer.of(host).joined();
                WakePipe pipe = new WakePipe()) {
            roundTrip(peer);
            ProcessPair pair = host.pairs().all().findAny().orElseThrow();
            // As the peer's memory may say before its message comes; and what no peer has.
            pair.ringPeer(1);
            pair.ringPeer(Doorbells.MAX_DOORBELLS);
            pair.ringPeer(Integer.MAX_VALUE);
            pair.ringPeer(-1);
            tell(peer, pipe, 0, 1);
            roundTrip(peer);
            assertThat(isRung(pipe)).isFalse();
            tell(peer, pipe, 1, 2);
            roundTrip(peer);
            assertThat(isRung(pipe)).isTrue();
            pipe.drain();
            peer.send(new ControlMessage.DoorbellGone(1));
            tell(peer, pipe, 1, 2);
            roundTrip(peer);
            assertThat(isRung(pipe)).as("rung once").isFalse();
        } finally {
            host.release();
        }
    }

    private static void tell(RawPeer peer, WakePipe pipe, int first, int end) throws IOException {
        int descriptor = pipe.openOtherEnd();
        for (int i = first; i < end; i++) {
            peer.send(new ControlMessage.Doorbell(i, descriptor));
        }
        FileDescriptors.close(descriptor);
    }

    /** Waits until all has been handled that the peer has said. */
    private static void roundTrip(RawPeer peer) throws IOException, ProtocolException {
        // Of a queue pair that nobody has, so that the pair itself answers.
        peer.send(new ControlMessage.Detach(0xff_ffff, 2, 0, 0));
        assertThat(peer.receive()).isEqualTo(new ControlMessage.Detached(0, 0));
    }

    @Test
    void channelWithoutADescriptorAtThePeer_wakesAsEver() throws Exception {
        try (SoftDevice leftDevice = new SoftDevice();
                SoftDevice rightDevice = new SoftDevice()) {
            int taken = 0;
            while (leftDevice.host.doorbellShares().take(OWN_PROCESS)) {
                taken++;
            }
            assertThat(taken).isPositive();
            SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, Options.DEFAULT);
            try (SoftSide left = sides[0];
                    SoftSide right = sides[1]) {
                for (int i = 0; i < 200; i++) {
                    right.postReceive(i, 0, 64);
                    right.receives.requestNotification(false);
                    left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 64));
                    assertThat(Poll.awaitReadable(right.channel.fileDescriptor(), -1, 10_000))
                            .isEqualTo(1);
                    assertThat(right.channel.takeEvent()).isSameAs(right.receives);
                    assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
            }
        }
    }

    private static void assertTurnedAway(RawPeer peer) throws IOException, ProtocolException {
        assertThat(peer.receive()).isEqualTo(new ControlMessage.TurnedAway());
        assertThat(peer.receive()).isNull();
    }

    @Test
    void processThatSaysItIsMany_leavesRoomForOthers() throws Exception {
        SoftHost crowded = SoftHost.startAnother(DESCRIPTOR_LIMIT);
        SoftHost honest = SoftHost.startAnother();
        List<RawPeer> peers = new ArrayList<>();
        try {
            for (int i = 0; i < PAIR_SHARE; i++) {
                peers.add(RawPeer.of(crowded).joined(i + 1));
            }
            try (RawPeer last = RawPeer.of(crowded)) {
                assertTurnedAway(last);
            }
            assertThat(AwaitedPair.connect(honest, crowded).errno()).isEqualTo(Errno.EAGAIN);
            onProgressThread(crowded, () -> {
                assertThat(crowded.pairs().isFull(OWN_PROCESS)).isTrue();
                assertThat(crowded.pairs().isFull(ANOTHER_PROCESS)).isFalse();
            });
            peers.removeLast().close();
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> crowded.pairs().count() < PAIR_SHARE);
            assertThat(AwaitedPair.connect(honest, crowded).pair().isDead()).isFalse();
        } finally {
            peers.forEach(RawPeer::close);
            crowded.release();
            honest.release();
        }
    }

    @Test
    void processThatSaysNothing_leavesRoomForOthers() throws Exception {
        SoftHost crowded = SoftHost.startAnother(DESCRIPTOR_LIMIT);
        List<RawPeer> peers = new ArrayList<>();
        try {
            for (int i = 0; i < HANDSHAKE_SHARE; i++) {
                peers.add(RawPeer.of(crowded).greeted(i + 1));
            }
            try (RawPeer last = RawPeer.of(crowded)) {
                assertTurnedAway(last);
            }
            onProgressThread(crowded, () -> {
                assertThat(crowded.pairs().areTooManyGreeting(OWN_PROCESS)).isTrue();
                assertThat(crowded.pairs().areTooManyGreeting(ANOTHER_PROCESS)).isFalse();
            });
            // Those that were let in become no more pairs than others do.
            for (int i = 0; i < PAIR_SHARE; i++) {
                peers.get(i).joinGreeted();
            }
            assertTurnedAway(peers.get(PAIR_SHARE).sendJoin());
            assertThat(crowded.pairs().count()).isEqualTo(PAIR_SHARE);
        } finally {
            peers.forEach(RawPeer::close);
            crowded.release();
        }
    }

    @Test
    void strangersThatSayTheyAreThePeer_keepItFromNothing() throws Exception {
        List<RawPeer> strangers = new ArrayList<>();
        try (SoftDevice leftDevice = new SoftDevice();
                SoftDevice rightDevice = new SoftDevice();
                SoftSide left = new SoftSide(leftDevice, Options.DEFAULT);
                SoftSide right = new SoftSide(rightDevice, Options.DEFAULT)) {
            for (int i = 0; i < PeerLink.MAX_ARRIVALS; i++) {
                RawPeer stranger = RawPeer.of(rightDevice.host).joined(i + 1);
                strangers.add(stranger);
                stranger.send(attach(right.pair.number(), 2));
                roundTrip(stranger);
            }
            left.connect(right);
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> leftDevice.host.pairs().count() == 1);
            // When the pair is known, what left has said of itself is under way; then it has arrived.
            onProgressThread(leftDevice.host, () -> {});
            onProgressThread(
                    rightDevice.host, () -> rightDevice.host.pairs().all().forEach(ProcessPair::catchUp));
            right.connect(left);
            left.postReceive(1, 0, 64);
            right.pair.postSend(right.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 64));
            assertThat(right.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(left.awaitReceive().lengthBytes()).isEqualTo(64);
        } finally {
            strangers.forEach(RawPeer::close);
        }
    }

    @Test
    void sayingItAgain_isNoFaultButSayingSomethingElseIs() throws Exception {
        SoftDevice device = new SoftDevice();
        try (device;
                RawPeer peer = RawPeer.of(device.host).joined();
                UnixSocket listener =
                        UnixSocket.listen(Rendezvous.processName(device.host.userId(), RawPeer.TOKEN), 1);
                SoftSide side = new SoftSide(device, Options.DEFAULT)) {
            int number = 2;
            side.connect(SoftContext.gid(RawPeer.TOKEN), number);
            try (RawPeer found = RawPeer.accept(listener)) {
                // The pair that there is already is taken.
                found.greeted();
            }
            ControlMessage.Attach told = awaitAttach(peer);
            assertThat(told.queuePair()).isEqualTo(number);
            peer.send(attach(told.fromQueuePair(), number));
            peer.send(attach(told.fromQueuePair(), number));
            peer.send(new ControlMessage.AttachWanted(told.fromQueuePair(), number));
            assertThat(awaitAttach(peer)).isEqualTo(told);
            // Only who it is connected with is told.
            peer.send(new ControlMessage.AttachWanted(told.fromQueuePair(), number + 1));
            roundTrip(peer);
            peer.send(attach(told.fromQueuePair(), number, 1 << 18));
            peer.awaitEnd();
        }
    }

    private static ControlMessage.Attach awaitAttach(RawPeer peer) throws IOException, ProtocolException {
        while (true) {
            ControlMessage message = peer.receive();
            if (message instanceof ControlMessage.Attach attach) {
                return attach;
            }
            message.discard();
        }
    }

    private static ControlMessage.Attach attach(int queuePair, int fromQueuePair) {
        return attach(queuePair, fromQueuePair, 1 << 17);
    }

    private static ControlMessage.Attach attach(int queuePair, int fromQueuePair, long offset) {
        return new ControlMessage.Attach(
                queuePair, fromQueuePair, 0, 0, offset, 64, 16, 1 << 15, SoftSide.ALL_ACCESS, 1, 1);
    }
}
