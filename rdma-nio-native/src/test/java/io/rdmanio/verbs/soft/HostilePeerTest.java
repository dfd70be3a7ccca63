package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.linux.WakePipe;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a process does that connects, or is connected to, costs it its own pair and nobody anything else. */
@Timeout(60)
class HostilePeerTest {
    private static final int SEALS = OwnSlabs.SEALS;

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private SoftHost host;
    private SoftHost friend;
    private ProcessPair friendship;

    @BeforeEach
    void start() throws IOException {
        host = SoftHost.startAnother();
        friend = SoftHost.startAnother();
        friendship = AwaitedPair.connect(friend, host).pair();
        await().until(() -> host.pairs().count() == 1);
    }

    /** Everybody else goes on as before. */
    @AfterEach
    void end() {
        await().until(() -> host.pairs().count() == 1);
        assertThat(friendship.isDead()).isFalse();
        friendship.kill("as this test wants");
        assertThat(AwaitedPair.connect(friend, host).pair().isDead()).isFalse();
        friend.release();
        host.release();
    }

    /** What a peer does that is dropped for it. */
    interface Misdeed {
        void of(RawPeer peer) throws IOException, ProtocolException;
    }

    record Named(String name, Misdeed misdeed) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Named> misdeedsInTheHandshake() {
        return Stream.of(
                new Named("garbage", peer -> peer.send(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9})),
                new Named("kick", peer -> peer.send(new byte[] {1})),
                new Named("too long", peer -> peer.send(new byte[ControlMessages.MAX_BYTES + 1])),
                new Named("too old", peer -> peer.send(new ControlMessage.Hello(0, RawPeer.TOKEN, false))),
                new Named("join before hello", peer -> join(peer, SEALS, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, true)),
                new Named("hello twice", peer -> peer.greeted().send(RawPeer.hello())),
                new Named("other message", peer -> peer.send(new ControlMessage.ReadyToUse(1))),
                new Named("other message before join", peer -> peer.greeted().send(new ControlMessage.ReadyToUse(1))),
                new Named("descriptor in hello", HostilePeerTest::helloWithDescriptor),
                new Named("many descriptors", HostilePeerTest::manyDescriptors),
                new Named(
                        "unsealed slab", peer -> join(peer.greeted(), 0, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, true)),
                new Named(
                        "slab that may shrink",
                        peer -> join(
                                peer.greeted(), MemoryFile.SEAL_GROW, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, true)),
                new Named("slab that is shorter", peer -> join(peer.greeted(), SEALS, 4096, RawPeer.SLAB_BYTES, true)),
                new Named(
                        "slab that is longer", peer -> join(peer.greeted(), SEALS, 1 << 21, RawPeer.SLAB_BYTES, true)),
                new Named("slab too short", peer -> join(peer.greeted(), SEALS, 4096, 4096, true)),
                new Named("slab too long", peer -> join(peer.greeted(), SEALS, 1L << 40, 1L << 40, true)),
                new Named(
                        "slab that is read-only",
                        peer -> join(
                                peer.greeted(),
                                SEALS | MemoryFile.SEAL_FUTURE_WRITE,
                                RawPeer.SLAB_BYTES,
                                RawPeer.SLAB_BYTES,
                                true)),
                new Named(
                        "no epochs",
                        peer -> join(peer.greeted(), SEALS, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, false)),
                new Named("no slab", HostilePeerTest::joinWithEventFds));
    }

    private static void join(RawPeer peer, int seals, long bytes, long claimedBytes, boolean epochs)
            throws IOException {
        try (MemoryFile slab = RawPeer.slab(bytes, seals);
                EpochPage page = new EpochPage()) {
            int second = epochs ? page.fileDescriptor() : slab.fileDescriptor();
            peer.send(new ControlMessage.Join(claimedBytes, slab.fileDescriptor(), second));
        }
    }

    private static void joinWithEventFds(RawPeer peer) throws IOException, ProtocolException {
        try (EventFd event = new EventFd()) {
            peer.greeted()
                    .send(new ControlMessage.Join(RawPeer.SLAB_BYTES, event.fileDescriptor(), event.fileDescriptor()));
        }
    }

    private static void helloWithDescriptor(RawPeer peer) throws IOException {
        try (EventFd event = new EventFd()) {
            byte[] hello = new byte[17];
            hello[0] = 1;
            hello[4] = ControlMessage.VERSION;
            peer.send(hello, event.fileDescriptor());
        }
    }

    private static void manyDescriptors(RawPeer peer) throws IOException {
        try (EventFd event = new EventFd()) {
            int[] descriptors = new int[UnixSocket.MAX_DESCRIPTORS];
            Arrays.fill(descriptors, event.fileDescriptor());
            peer.send(new byte[] {1}, descriptors);
        }
    }

    @ParameterizedTest
    @MethodSource("misdeedsInTheHandshake")
    void peerThatConnects_isDroppedFor(Named misdeed) throws IOException, ProtocolException {
        try (RawPeer peer = RawPeer.of(host)) {
            misdeed.misdeed.of(peer);
            peer.awaitEnd();
        }
    }

    static Stream<Named> misdeedsInAPair() {
        return Stream.of(
                new Named("garbage", peer -> peer.send(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9})),
                new Named("hello again", peer -> peer.send(RawPeer.hello())),
                new Named("join again", peer -> join(peer, SEALS, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, true)),
                new Named("slab of a wrong number", peer -> slab(peer, 2, SEALS)),
                new Named("slab of an old number", peer -> slab(peer, 0, SEALS)),
                new Named("unsealed slab", peer -> slab(peer, 1, MemoryFile.SEAL_GROW)),
                new Named("65 slabs", HostilePeerTest::manySlabs),
                new Named("no doorbell", HostilePeerTest::doorbellThatIsNone),
                new Named("doorbell twice", HostilePeerTest::doorbellTwice),
                new Named("doorbell of a wild number", peer -> doorbell(peer, Integer.MAX_VALUE)),
                new Named("no such doorbell", peer -> peer.send(new ControlMessage.DoorbellGone(0))),
                new Named("no such area", peer -> peer.send(new ControlMessage.Detached(0, 0))));
    }

    private static void slab(RawPeer peer, int index, int seals) throws IOException {
        try (MemoryFile slab = RawPeer.slab(4096, seals)) {
            peer.send(new ControlMessage.Slab(index, 4096, slab.fileDescriptor()));
        }
    }

    private static void manySlabs(RawPeer peer) throws IOException {
        for (int i = 1; i <= OwnSlabs.MAX_SLABS; i++) {
            slab(peer, i, SEALS);
        }
    }

    private static void doorbellThatIsNone(RawPeer peer) throws IOException {
        try (EventFd event = new EventFd()) {
            peer.send(new ControlMessage.Doorbell(0, event.fileDescriptor()));
        }
    }

    private static void doorbell(RawPeer peer, int index) throws IOException {
        try (WakePipe pipe = new WakePipe()) {
            int descriptor = pipe.openOtherEnd();
            peer.send(new ControlMessage.Doorbell(index, descriptor));
            FileDescriptors.close(descriptor);
        }
    }

    private static void doorbellTwice(RawPeer peer) throws IOException {
        doorbell(peer, 3);
        doorbell(peer, 3);
    }

    @ParameterizedTest
    @MethodSource("misdeedsInAPair")
    void peerOfAPair_losesItFor(Named misdeed) throws IOException, ProtocolException {
        try (RawPeer peer = RawPeer.of(host).joined()) {
            await().until(() -> host.pairs().count() == 2);
            misdeed.misdeed.of(peer);
            peer.awaitEnd();
        }
    }

    @Test
    void peerThatGoesAtAnyStep_leavesNothing() throws IOException, ProtocolException {
        for (int round = 0; round < 20; round++) {
            RawPeer.of(host).close();
            RawPeer.of(host).send(RawPeer.hello()).close();
            RawPeer.of(host).greeted().close();
            RawPeer joining = RawPeer.of(host).greeted();
            join(joining, SEALS, RawPeer.SLAB_BYTES, RawPeer.SLAB_BYTES, true);
            joining.close();
            RawPeer.of(host).joined().close();
        }
    }

    @Test
    void peerThatSaysNothing_isDroppedAfterAWhile() throws IOException, ProtocolException {
        long beginNanos = System.nanoTime();
        try (RawPeer silent = RawPeer.of(host);
                RawPeer polite = RawPeer.of(host).greeted()) {
            silent.awaitEnd();
            polite.awaitEnd();
        }
        assertThat(System.nanoTime() - beginNanos).isGreaterThan(PairHandshake.TIMEOUT_NANOS * 9 / 10);
    }

    @Test
    void manyWhoSayNothing_areTurnedAway() throws IOException, ProtocolException {
        List<RawPeer> peers = new ArrayList<>();
        try {
            for (int i = 0; i < Pairs.MAX_ACCEPTED_HANDSHAKES; i++) {
                peers.add(RawPeer.of(host));
            }
            try (RawPeer oneTooMany = RawPeer.of(host)) {
                oneTooMany.awaitEnd();
            }
        } finally {
            peers.forEach(RawPeer::close);
        }
        await().untilAsserted(() -> {
            try (RawPeer welcome = RawPeer.of(host).joined()) {
                assertThat(welcome).isNotNull();
            }
        });
    }

    @Test
    void peerThatPretendsToBeAnother_hasItsOwnPair() throws IOException, ProtocolException {
        // Same process here, so that only what it says tells them apart: it is told to use the pair that there is.
        try (RawPeer peer = RawPeer.of(host)) {
            peer.send(new ControlMessage.Hello(ControlMessage.VERSION, friend.token(), false));
            assertThat(peer.receive()).isEqualTo(new ControlMessage.Hello(ControlMessage.VERSION, host.token(), true));
            peer.awaitEnd();
        }
        assertThat(friendship.isDead()).isFalse();
    }

    @Test
    void peerThatReadsNothing_losesItsPair() throws IOException, ProtocolException {
        try (RawPeer peer = RawPeer.of(host).joined();
                MemoryFile memory = MemoryFile.create("rdmanio-test", 4096)) {
            await().until(() -> host.pairs().count() == 2);
            ProcessPair pair = stranger();
            int sent = 0;
            while (!pair.isDead() && sent < 1_000_000) {
                pair.send(new ControlMessage.Slab(sent, 4096, memory.fileDescriptor()));
                sent++;
                if (sent > 2 * ControlSocket.MAX_QUEUED_MESSAGES) {
                    Thread.onSpinWait();
                }
            }
            assertThat(sent).isBetween(ControlSocket.MAX_QUEUED_MESSAGES, 999_999);
            peer.awaitEnd();
        }
    }

    @Test
    void peerThatReadsLate_getsEverythingInOrder() throws IOException, ProtocolException {
        int count = ControlSocket.MAX_QUEUED_MESSAGES;
        try (RawPeer peer = RawPeer.of(host).joined()) {
            await().until(() -> host.pairs().count() == 2);
            ProcessPair pair = stranger();
            try (MemoryFile memory = MemoryFile.create("rdmanio-test", 4096)) {
                for (int i = 0; i < count; i++) {
                    boolean descriptor = i % 20 == 0;
                    pair.send(
                            descriptor
                                    ? new ControlMessage.Slab(i, 4096, memory.fileDescriptor())
                                    : new ControlMessage.ReadyToUse(i));
                }
            }
            for (int i = 0; i < count; i++) {
                ControlMessage message = peer.receive();
                if (message instanceof ControlMessage.Slab slab) {
                    assertThat(slab.index()).isEqualTo(i).isEqualTo(i / 20 * 20);
                    try (MemoryFile memory = MemoryFile.fromDescriptor(slab.descriptor())) {
                        assertThat(memory.sizeBytes()).isEqualTo(4096);
                    }
                } else {
                    assertThat(message).isEqualTo(new ControlMessage.ReadyToUse(i));
                }
            }
            assertThat(pair.isDead()).isFalse();
        }
    }

    /** The host's pair with the raw peer. */
    private ProcessPair stranger() {
        return host.pairs()
                .all()
                .filter(pair -> pair.peerToken() == RawPeer.TOKEN)
                .findAny()
                .orElseThrow();
    }

    @Test
    void peerThatKicksAndMarksEverything_costsNobodyElse() throws IOException, ProtocolException {
        try (RawPeer peer = RawPeer.of(host).greeted();
                MemoryFile slab = RawPeer.slab(RawPeer.SLAB_BYTES, SEALS);
                EpochPage epochs = new EpochPage();
                Arena arena = Arena.ofShared()) {
            peer.send(new ControlMessage.Join(RawPeer.SLAB_BYTES, slab.fileDescriptor(), epochs.fileDescriptor()));
            ControlMessage.Join answer = (ControlMessage.Join) peer.receive();
            FileDescriptors.close(answer.epochs());
            try (MemoryFile theirs = MemoryFile.fromDescriptor(answer.slab())) {
                var memory = theirs.map(0, PairHeader.BYTES, true, arena);
                for (int round = 0; round < 100; round++) {
                    memory.fill((byte) 0xFF);
                    peer.send(new byte[] {1});
                }
                PairHeader header = new PairHeader(memory);
                await().until(() -> !header.work().mayHaveAny());
            }
            assertThat(stranger().isDead()).isFalse();
        }
    }

    @Test
    void hostThatConnectsToIt_survives() throws IOException, ProtocolException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String name = Rendezvous.prefix(host.userId()) + "test/hostile";
        try (UnixSocket listener = UnixSocket.listen(name, 10)) {
            AwaitedPair old = AwaitedPair.connect(host, name);
            try (RawPeer peer = RawPeer.accept(listener)) {
                assertThat(peer.receive()).isInstanceOf(ControlMessage.Hello.class);
                peer.send(new ControlMessage.Hello(7, 1, false));
                assertThat(old.errno()).isEqualTo(Errno.EPROTONOSUPPORT);
            }
            AwaitedPair gone = AwaitedPair.connect(host, name);
            RawPeer.accept(listener).close();
            assertThat(gone.errno()).isEqualTo(Errno.ECONNRESET);
            for (int round = 0; round < 200; round++) {
                AwaitedPair outcome = AwaitedPair.connect(host, name);
                try (RawPeer peer = RawPeer.accept(listener)) {
                    if (random.nextBoolean()) {
                        peer.send(new ControlMessage.Hello(ControlMessage.VERSION, random.nextLong(), false));
                    }
                    byte[] bytes = new byte[2 + random.nextInt(60)];
                    random.nextBytes(bytes);
                    bytes[0] = (byte) random.nextInt(22);
                    peer.send(bytes);
                    peer.awaitEnd();
                }
                assertThat(outcome.errno()).as("seed %d", seed).isEqualTo(Errno.EPROTO);
            }
        }
    }

    @Test
    void hostOfAnotherUser_isNeitherAnsweredNorAsked() throws IOException, ProtocolException {
        SoftHost suspicious = SoftHost.start(17, _ -> false);
        try {
            assertThat(AwaitedPair.connect(suspicious, host).errno()).isEqualTo(Errno.EACCES);
            assertThat(AwaitedPair.connect(host, suspicious).errno()).isEqualTo(Errno.ECONNRESET);
            try (RawPeer peer = RawPeer.of(suspicious)) {
                assertThat(peer.receive()).isNull();
            }
            assertThat(suspicious.pairs().count()).isZero();
        } finally {
            suspicious.release();
        }
    }
}
