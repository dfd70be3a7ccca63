package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.Poll;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.linux.WakePipe;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How hosts find each other, what they share then, and how it ends. */
@Timeout(60)
class PairTest {
    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private static final int STRAGGLED_BYTES = 1 << 20;
    /** More messages than a socket has room for. */
    private static final int SENT_BY_THE_KERNEL = 4096;

    private final List<SoftHost> hosts = new ArrayList<>();
    private SoftHost host;
    private SoftHost other;

    @BeforeEach
    void start() throws IOException {
        host = another();
        other = another();
    }

    @AfterEach
    void end() {
        hosts.forEach(SoftHost::release);
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals(ProgressThread.NAME));
    }

    private static ConditionFactory await() {
        return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    private SoftHost another() throws IOException {
        SoftHost started = SoftHost.startAnother();
        hosts.add(started);
        return started;
    }

    @Test
    void searchesThatBeginAtOnce_areOneHandshake() {
        // More than a process may have under way at the other end.
        List<AwaitedPair> searches = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            searches.add(AwaitedPair.connect(host, other));
        }
        ProcessPair pair = searches.getFirst().pair();
        assertThat(searches).allSatisfy(search -> assertThat(search.pair()).isSameAs(pair));
        assertThat(host.pairs().count()).isEqualTo(1);
        await().untilAsserted(() -> assertThat(other.pairs().count()).isEqualTo(1));
    }

    @Test
    void searchAtAProcessThatDoesNotAnswer_asksAgainAsLongAsItHasTime() throws Exception {
        String name = "rdmanio-test/" + ProcessHandle.current().pid() + "/" + System.nanoTime();
        try (UnixSocket listener = UnixSocket.listen(name, 8)) {
            long timeoutMillis = TimeUnit.NANOSECONDS.toMillis(PairHandshake.TIMEOUT_NANOS) + 2000;
            AwaitedPair first = AwaitedPair.connect(host, name, timeoutMillis);
            AwaitedPair second = AwaitedPair.connect(host, name, timeoutMillis);
            assertThat(first.errno()).isEqualTo(Errno.ETIMEDOUT);
            assertThat(second.errno()).isEqualTo(Errno.ETIMEDOUT);
            int asked = 0;
            for (UnixSocket accepted = listener.accept(); accepted != null; accepted = listener.accept()) {
                accepted.close();
                asked++;
            }
            // Both together, and then once more.
            assertThat(asked).isEqualTo(2);
        }
    }

    /** The pair that the other end has. */
    private static ProcessPair counterpart(SoftHost ofHost, SoftHost withHost) {
        await().until(() -> ofHost.pairs().count() > 0);
        return AwaitedPair.connect(ofHost, withHost).pair();
    }

    private static void settle(SoftHost ofHost) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        ofHost.progress().execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void connect_toAnotherHost_makesOnePairForBoth() throws IOException {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        assertThat(pair.peerToken()).isEqualTo(other.token());
        assertThat(pair.isDead()).isFalse();
        assertThat(AwaitedPair.connect(host, other).pair()).isSameAs(pair);
        ProcessPair back = counterpart(other, host);
        assertThat(back.peerToken()).isEqualTo(host.token());
        assertThat(AwaitedPair.connect(other, host).pair()).isSameAs(back);
        assertThat(host.pairs().count()).isEqualTo(1);
        assertThat(other.pairs().count()).isEqualTo(1);
    }

    @Test
    void connect_toAnyNameOfAHost_findsTheSamePair() throws IOException {
        String name = Rendezvous.prefix(other.userId()) + "test/" + other.token();
        SoftHost.Listening listening = other.listen(name);
        assertThatThrownBy(() -> host.listen(name))
                .isInstanceOfSatisfying(
                        SystemCallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        ProcessPair pair = AwaitedPair.connect(host, name).pair();
        assertThat(AwaitedPair.connect(host, other).pair()).isSameAs(pair);
        listening.close();
        listening.close();
        assertThat(AwaitedPair.connect(host, name).errno()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(pair.isDead()).isFalse();
        host.listen(name).close();
    }

    @Test
    void memory_ofEitherEnd_isSeenAtTheOther() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        ProcessPair back = counterpart(other, host);
        Place place = pair.allocateArea(100);
        assertThat(place.memory().byteSize()).isEqualTo(100);
        place.memory().fill((byte) 7);
        MemorySegment seen = back.peerArea(place.slab(), place.offset(), 100);
        assertThat(seen.mismatch(place.memory())).isEqualTo(-1);
        seen.set(ValueLayout.JAVA_INT, 0, 4711);
        assertThat(place.memory().get(ValueLayout.JAVA_INT, 0)).isEqualTo(4711);
        back.outbound().arm(17, PairHeader.ARMED, 3);
        assertThat(pair.inbound().armed(17)).isEqualTo(PairHeader.ARMED);
        assertThat(pair.outbound().armed(17)).isEqualTo(PairHeader.NOT_ARMED);
        assertThat(pair.peerEpochs().byteSize()).isEqualTo(EpochPage.BYTES);
        assertThat(pair.peerEpochs().isReadOnly()).isTrue();
    }

    @Test
    void slabs_thatAreAddedLater_areSeenAtTheOtherEnd() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        ProcessPair back = counterpart(other, host);
        List<Place> places = new ArrayList<>();
        Set<Integer> slabs = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            Place place = pair.allocateArea(100_000);
            place.memory().set(ValueLayout.JAVA_INT, 0, i);
            places.add(place);
            slabs.add(place.slab());
        }
        assertThat(slabs).hasSizeGreaterThan(2);
        await().until(() -> isThere(back, places.getLast()));
        for (int i = 0; i < 100; i++) {
            MemorySegment seen =
                    back.peerArea(places.get(i).slab(), places.get(i).offset(), 100_000);
            assertThat(seen.get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
        }
    }

    private static boolean isThere(ProcessPair pair, Place place) {
        try {
            return pair.peerArea(place.slab(), place.offset(), 1) != null;
        } catch (ProtocolException e) {
            return false;
        }
    }

    @Test
    void area_thatThePeerKnew_isFreeWhenThePeerLetsGo() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        Place place = pair.allocateArea(1 << 19);
        pair.retireArea(place, () -> {});
        assertThat(pair.allocateArea(1 << 19)).extracting(Place::slab).isEqualTo(1);
        // Nobody has this queue pair, so that the pair itself answers.
        pair.send(new ControlMessage.Detach(2, 3, place.slab(), place.offset()));
        await().untilAsserted(() -> assertThat(pair.allocateArea(1 << 19))
                .extracting(Place::slab, Place::offset)
                .containsExactly(place.slab(), place.offset()));
    }

    @Test
    void detachedOfWhatWasNotRetired_killsThePair() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        Place place = pair.allocateArea(64);
        counterpart(other, host).send(new ControlMessage.Detached(place.slab(), place.offset()));
        await().until(pair::isDead);
    }

    @Test
    void doorbellOfThePeer_isRungUntilItIsGone() throws Exception {
        try (RawPeer peer = RawPeer.of(host).joined();
                WakePipe pipe = new WakePipe()) {
            await().until(() -> host.pairs().count() == 1);
            ProcessPair pair = host.pairs().all().findAny().orElseThrow();
            int descriptor = pipe.openOtherEnd();
            peer.send(new ControlMessage.Doorbell(7, descriptor));
            FileDescriptors.close(descriptor);
            await().until(() -> {
                pair.ringPeer(7);
                return isRung(pipe);
            });
            pipe.drain();
            for (int stranger : new int[] {-1, 6, 8, Integer.MAX_VALUE}) {
                pair.ringPeer(stranger);
            }
            assertThat(isRung(pipe)).isFalse();
            peer.send(new ControlMessage.DoorbellGone(7));
            await().until(() -> {
                pipe.drain();
                pair.ringPeer(7);
                return !isRung(pipe);
            });
            assertThat(pair.isDead()).isFalse();
        }
        await().until(() -> host.pairs().count() == 0);
    }

    @Test
    void peerThatDoesNotRead_isKeptUntilThereIsMoreThanAllQueuePairsHaveToSay() throws Exception {
        try (RawPeer _ = RawPeer.of(host).joined()) {
            await().until(() -> host.pairs().count() == 1);
            ProcessPair pair = host.pairs().all().findAny().orElseThrow();
            int most = ControlSocket.MAX_QUEUED_MESSAGES;
            for (int i = 0; i < most; i++) {
                pair.send(new ControlMessage.Detached(0, 0));
            }
            assertThat(most).isGreaterThanOrEqualTo(4 * ReadySet.SLOTS);
            assertThat(pair.isDead()).isFalse();
            for (int i = 0; i < SENT_BY_THE_KERNEL; i++) {
                pair.send(new ControlMessage.Detached(0, 0));
            }
            await().until(pair::isDead);
        }
        await().until(() -> host.pairs().count() == 0);
    }

    private static boolean isRung(WakePipe pipe) throws IOException {
        return Poll.awaitReadable(pipe.fileDescriptor(), -1, 0) == 1;
    }

    @Test
    void connect_toItself_hasTwoEnds() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, host).pair();
        assertThat(pair.peerToken()).isEqualTo(host.token());
        assertThat(AwaitedPair.connect(host, host).pair()).isSameAs(pair);
        assertThat(host.pairs().count()).isEqualTo(2);
        CountDownLatch dead = new CountDownLatch(1);
        pair.onDeath(dead::countDown);
        pair.kill("as this test wants");
        assertThat(dead.await(10, TimeUnit.SECONDS)).isTrue();
        await().until(() -> host.pairs().count() == 0);
        assertThat(AwaitedPair.connect(host, host).pair()).isNotSameAs(pair);
    }

    @Test
    void connect_ofBothAtTheSameTime_makesOnePair() throws Exception {
        for (int round = 0; round < 100; round++) {
            List<AwaitedPair> here = new ArrayList<>();
            List<AwaitedPair> there = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                here.add(AwaitedPair.connect(host, other));
                there.add(AwaitedPair.connect(other, host));
            }
            Set<ProcessPair> pairs = new HashSet<>();
            Set<ProcessPair> backs = new HashSet<>();
            here.forEach(outcome -> pairs.add(outcome.pair()));
            there.forEach(outcome -> backs.add(outcome.pair()));
            assertThat(pairs).as("round %d", round).hasSize(1);
            assertThat(backs).as("round %d", round).hasSize(1);
            await().until(() -> host.pairs().count() == 1 && other.pairs().count() == 1);
            // And it is the same one.
            ProcessPair back = backs.iterator().next();
            pairs.iterator().next().kill("as this test wants");
            await().until(back::isDead);
            await().until(() -> host.pairs().count() == 0 && other.pairs().count() == 0);
        }
    }

    @Test
    void connect_rightAfterAKill_makesANewPair() {
        ProcessPair last = AwaitedPair.connect(host, other).pair();
        for (int round = 0; round < 50; round++) {
            last.kill("as this test wants");
            ProcessPair next = AwaitedPair.connect(hosts.get(round % 2), hosts.get((round + 1) % 2))
                    .pair();
            assertThat(next).isNotSameAs(last);
            assertThat(next.isDead()).isFalse();
            last = next;
        }
    }

    @Test
    void manyHosts_allHavePairsWithEachOther() throws IOException {
        for (int i = 0; i < 14; i++) {
            SoftHost ignored = another();
        }
        List<AwaitedPair> outcomes = new ArrayList<>();
        for (SoftHost from : hosts) {
            for (SoftHost to : hosts) {
                if (from != to) {
                    outcomes.add(AwaitedPair.connect(from, to));
                }
            }
        }
        outcomes.forEach(AwaitedPair::pair);
        for (SoftHost each : hosts) {
            await().until(() -> each.pairs().count() == hosts.size() - 1);
        }
    }

    @Test
    void kill_tellsEverybodyBeforeMemoryIsGone() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        ProcessPair back = counterpart(other, host);
        Place place = pair.allocateArea(64);
        AtomicBoolean accessible = new AtomicBoolean();
        CountDownLatch dead = new CountDownLatch(2);
        pair.onDeath(() -> {
            throw new IllegalStateException("as this test wants");
        });
        pair.onDeath(() -> {
            place.memory().set(ValueLayout.JAVA_INT, 0, 1);
            accessible.set(pair.isDead());
            dead.countDown();
        });
        back.onDeath(dead::countDown);
        settle(host);
        pair.kill("as this test wants");
        pair.kill("twice");
        assertThat(pair.isDead()).isTrue();
        assertThat(dead.await(10, TimeUnit.SECONDS)).isTrue();
        settle(host);
        settle(other);
        assertThat(accessible).isTrue();
        assertThat(back.isDead()).isTrue();
        assertThat(place.memory().get(ValueLayout.JAVA_INT, 0)).isZero();
        assertThatThrownBy(() -> pair.allocateArea(64)).isInstanceOf(IOException.class);
        pair.send(new ControlMessage.ReadyToUse(1));
        pair.ringPeer(0);
        CountDownLatch late = new CountDownLatch(1);
        pair.onDeath(late::countDown);
        assertThat(late.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void kill_leavesWhoeverIsUsingTheMemoryToHimself() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        ProcessPair back = counterpart(other, host);
        Place place = pair.allocateArea(STRAGGLED_BYTES);
        Place idle = pair.allocateArea(64);
        idle.memory().fill((byte) 9);
        await().until(() -> isThere(back, place));
        MemorySegment seen = back.peerArea(place.slab(), place.offset(), STRAGGLED_BYTES);
        MemorySegment seenIdle = back.peerArea(idle.slab(), idle.offset(), 64);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Boolean> interrupted = CompletableFuture.supplyAsync(() -> {
            while (!over.get()) {
                place.memory().fill((byte) 1);
                seen.fill((byte) 2);
                begun.countDown();
            }
            return Thread.currentThread().isInterrupted();
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        pair.kill("as this test wants");
        await().until(back::isDead);
        settle(host);
        settle(other);
        over.set(true);
        assertThat(interrupted.get(10, TimeUnit.SECONDS)).isFalse();
        place.memory().fill((byte) 3);
        assertThat(seen.get(ValueLayout.JAVA_BYTE, 0)).isNotEqualTo((byte) 3);
        assertThat(idle.memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThat(seenIdle.get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThat(pair.peerEpochs().get(ValueLayout.JAVA_INT, 4)).isZero();
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("/memfd:rdmanio-slab");
    }

    @Test
    void release_ofAHost_isDeathToItsPeers() throws Exception {
        ProcessPair pair = AwaitedPair.connect(host, other).pair();
        CountDownLatch dead = new CountDownLatch(1);
        pair.onDeath(dead::countDown);
        other.release();
        hosts.remove(other);
        assertThat(dead.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(AwaitedPair.connect(host, other).errno()).isEqualTo(Errno.ECONNREFUSED);
    }

    @Test
    void release_withSearchesUnderWay_endsThem() throws IOException {
        String name = Rendezvous.prefix(host.userId()) + "test/silent";
        SoftHost third = SoftHost.startAnother();
        try (UnixSocket silent = UnixSocket.listen(name, 1)) {
            AwaitedPair search = AwaitedPair.connect(third, name);
            third.release();
            assertThat(search.errno()).isEqualTo(Errno.ECANCELED);
            assertThat(silent.fileDescriptor()).isPositive();
        }
    }

    @Test
    void connect_toSomebodyWhoNeverAnswers_timesOut() throws IOException {
        String name = Rendezvous.prefix(host.userId()) + "test/silent";
        try (UnixSocket silent = UnixSocket.listen(name, 0)) {
            AwaitedPair waiting = AwaitedPair.connect(host, name, 300);
            // The backlog is full from the second one on, so that these can't even connect.
            AwaitedPair queued = AwaitedPair.connect(host, name, 300);
            AwaitedPair another = AwaitedPair.connect(host, name, 300);
            assertThat(waiting.errno()).isEqualTo(Errno.ETIMEDOUT);
            assertThat(queued.errno()).isEqualTo(Errno.ETIMEDOUT);
            assertThat(another.errno()).isEqualTo(Errno.ETIMEDOUT);
            assertThat(silent.fileDescriptor()).isPositive();
        }
    }

    @Test
    void idlePairs_keepNobodyAwake() throws Exception {
        SoftHost released = hosts.removeLast();
        ProcessPair pair = AwaitedPair.connect(host, host).pair();
        released.release();
        settle(host);
        TimeUnit.MILLISECONDS.sleep(50);
        String before = ProgressThreadTest.wakeUps();
        TimeUnit.MILLISECONDS.sleep(1_000);
        assertThat(ProgressThreadTest.wakeUps()).isEqualTo(before);
        pair.kickPeerWork(5);
        settle(host);
        assertThat(pair.isDead()).isFalse();
    }

    @Test
    void hostOfThisProcess_startsAndEndsWithItsUses() throws IOException {
        SoftHost first = SoftHost.acquire();
        long token = first.token();
        assertThat(SoftHost.acquire()).isSameAs(first);
        first.retain();
        first.release();
        first.release();
        assertThat(first.progress().isRunning()).isTrue();
        first.release();
        assertThat(first.progress().isRunning()).isFalse();
        assertThatThrownBy(first::release).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(first::retain).isInstanceOf(IllegalStateException.class);
        for (int i = 0; i < 20; i++) {
            SoftHost next = SoftHost.acquire();
            assertThat(next).isNotSameAs(first);
            assertThat(next.token()).isEqualTo(token);
            next.release();
        }
    }
}
