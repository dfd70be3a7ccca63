package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.linux.Poll;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.soft.SoftSide.Options;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Queues that are watched together: what is told, what wakes, and what stays of a group or a queue that is closed. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class CompletionQueueGroupTest {
    private static final int WAIT_MILLIS = 10_000;
    private static final int BYTES = 8;
    private static final Options OPTIONS = Options.DEFAULT.withoutChannel();

    private final List<SoftSide> open = new ArrayList<>();
    private final Object[] told = new Object[8];
    private SoftDevice leftDevice;
    private SoftDevice rightDevice;
    private SoftSide left;
    private SoftSide right;
    private CompletionQueueGroup group;

    @BeforeEach
    void open() throws IOException {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
        group = CompletionQueueGroup.open(RdmaEngine.soft());
        SoftSide[] sides = connect();
        left = sides[0];
        right = sides[1];
    }

    @AfterEach
    void close() throws VerbsException {
        group.close();
        for (SoftSide side : open) {
            side.close();
        }
        leftDevice.close();
        rightDevice.close();
    }

    private SoftSide[] connect() throws VerbsException {
        SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, OPTIONS);
        open.addAll(List.of(sides));
        return sides;
    }

    /** A message from left to right, which is there when this returns. */
    private static void send(SoftSide from, SoftSide to) throws VerbsException {
        to.postReceive(1, 0, BYTES);
        from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, BYTES));
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        settle(to.device.host);
    }

    /** The receiver's progress thread may be about to take the message, too, and would tell of it once more. */
    private static void settle(SoftHost host) {
        CountDownLatch settled = new CountDownLatch(1);
        // A timer is looked at after whatever the thread was woken for.
        ProgressThread.Timer timer =
                host.progress().schedule(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1), settled::countDown);
        try {
            assertThat(settled.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            timer.cancel();
        }
    }

    private void send() throws VerbsException {
        send(left, right);
    }

    private static boolean isReadable(CompletionQueueGroup group, int timeoutMillis) throws IOException {
        return Poll.awaitReadable(group.fileDescriptor(), -1, timeoutMillis) == 1;
    }

    private void assertTells(Object... tokens) {
        int count = group.take(told);
        List<Object> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            found.add(told[i]);
        }
        assertThat(found).containsExactly(tokens);
    }

    private void awaken() {
        group.awake();
        group.drain();
    }

    // What is told.

    @Test
    void queue_isToldOnceForAnEventAndAgainForTheNext() throws VerbsException {
        group.add(right.receives, "right");
        assertTells();
        send();
        assertTells("right");
        assertTells();
        // Also when it was not polled.
        send();
        assertTells("right");
        assertTells();
        assertThat(right.await(right.receives, 2)).hasSize(2);
        send();
        assertTells("right");
        right.awaitReceive();
    }

    @Test
    void completionsThatAreThere_areToldOfWhenTheQueueIsAdded() throws VerbsException {
        send();
        group.add(right.receives, "right");
        assertTells("right");
        right.awaitReceive();

        right.postReceive(1, 0, BYTES);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, BYTES));
        await().untilAsserted(() -> {
            group.add(left.sends, "left");
            assertTells("left");
        });
        left.awaitSend();
        right.awaitReceive();
    }

    @Test
    void whatAPollLeft_doesNotHideWhatComes() throws VerbsException {
        group.add(right.receives, "right");
        send();
        send();
        send();
        assertTells("right");
        try (WorkCompletions one = new WorkCompletions(1)) {
            assertThat(right.receives.poll(one)).isEqualTo(1);
            send();
            assertTells("right");
            assertThat(right.receives.poll(one)).isEqualTo(1);
        }
        right.await(right.receives, 2);
    }

    @Test
    void manyQueues_areToldInPieces() throws VerbsException {
        int count = 20;
        List<SoftSide[]> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SoftSide[] sides = connect();
            group.add(sides[1].receives, sides[1]);
            all.add(sides);
        }
        for (int round = 0; round < 3; round++) {
            for (SoftSide[] sides : all) {
                send(sides[0], sides[1]);
            }
            Set<Object> found = new HashSet<>();
            int last = told.length;
            while (last == told.length) {
                last = group.take(told);
                for (int i = 0; i < last; i++) {
                    assertThat(found.add(told[i]) || found.size() == count)
                            .as("told again before all were told once")
                            .isTrue();
                }
                send(all.getFirst()[0], all.getFirst()[1]);
            }
            assertThat(found).hasSize(count);
            drainAll(all);
        }
    }

    private void drainAll(List<SoftSide[]> all) throws VerbsException {
        for (SoftSide[] sides : all) {
            while (sides[1].receives.poll(sides[1].completions) > 0) {
                assertThat(sides[1].completions.succeeded(0)).isTrue();
            }
        }
        while (group.take(told) > 0) {
            assertThat(told[0]).isNotNull();
        }
    }

    @Test
    void pollOfAQueueInAGroup_findsWhatAnyOfItsQueuePairsHas() throws VerbsException {
        try (SoftSide first = new SoftSide(leftDevice, OPTIONS);
                SoftSide second = new SoftSide(leftDevice, OPTIONS);
                SoftSide firstReceiver = new SoftSide(rightDevice, OPTIONS, right.receives);
                SoftSide secondReceiver = new SoftSide(rightDevice, OPTIONS, right.receives)) {
            group.add(right.receives, "right");
            first.connect(firstReceiver);
            firstReceiver.connect(first);
            second.connect(secondReceiver);
            secondReceiver.connect(second);
            for (int i = 0; i < 50; i++) {
                send(i % 3 == 0 ? first : second, i % 3 == 0 ? firstReceiver : secondReceiver);
                // Without asking the group first.
                assertThat(right.receives.poll(right.completions)).isEqualTo(1);
            }
        }
    }

    @Test
    void queueThatIsAddedAgain_isToldByTheNewToken() throws VerbsException {
        group.add(right.receives, "former");
        send();
        group.add(right.receives, "new");
        assertTells("new");
        send();
        assertTells("new");
        right.await(right.receives, 2);
    }

    @Test
    void queueThatIsRemoved_isNotToldOf() throws VerbsException {
        group.add(right.receives, "right");
        send();
        group.remove(right.receives);
        group.remove(right.receives);
        assertTells();
        send();
        assertTells();
        assertThat(group.prepareToSleep()).isTrue();
        awaken();
        group.add(right.receives, "again");
        assertTells("again");
        right.await(right.receives, 2);
    }

    // What is watched.

    private static Inbound inbound(SoftSide side) {
        return side.device.host.queuePairs().find(side.pair.number()).inbound();
    }

    /** A message that nobody waits for, so that it stays in the ring until it is polled. */
    private static void sendOnly(SoftSide from, SoftSide to) throws VerbsException {
        to.postReceive(1, 0, BYTES);
        from.pair.postSend(from.toPeer(to, SendOpcode.WRITE_WITH_IMM, 0, 0, BYTES, 0));
    }

    private void sendOnly() throws VerbsException {
        sendOnly(left, right);
    }

    private void makeBusy() throws VerbsException {
        makeBusy(left, right, "right");
    }

    /** Has so much come that the group looks into the ring of the receiver. */
    private void makeBusy(SoftSide from, SoftSide to, Object token) throws VerbsException {
        // The first write asks for the key.
        to.postReceive(1, 0, BYTES);
        from.pair.postSend(from.toPeer(to, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, BYTES, 0));
        from.awaitSend();
        to.awaitReceive();
        settle(to.device.host);
        group.add(to.receives, token);
        assertTells();
        for (int i = 0; i < 40; i++) {
            sendOnly(from, to);
            assertTells(token);
            to.awaitReceive();
        }
        assertThat(inbound(to).isWatched()).isTrue();
    }

    private boolean isInReadySet() {
        return rightDevice
                .host
                .pairs()
                .all()
                .anyMatch(pair -> pair.inbound().ready().mayHaveAny());
    }

    @Test
    void queueThatIsToldOfAgainAndAgain_isToldOfWithoutAWordOfItsPeer() throws VerbsException {
        makeBusy();
        for (int i = 0; i < 3; i++) {
            sendOnly();
            assertThat(isInReadySet()).isFalse();
            assertTells("right");
            assertTells();
        }
        right.await(right.receives, 3);
        assertTells();
        sendOnly();
        assertTells("right");
        right.awaitReceive();
    }

    @Test
    void watchedQueues_areEachToldOfToWhoHasPlaceForOne() throws VerbsException {
        SoftSide[] others = connect();
        makeBusy(left, right, "right");
        makeBusy(others[0], others[1], "others");
        sendOnly(left, right);
        sendOnly(others[0], others[1]);
        Object[] one = new Object[1];
        List<Object> tokens = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            if (group.take(one) == 1) {
                tokens.add(one[0]);
                // There is always more to tell of this one.
                SoftSide[] again = one[0].equals("right") ? new SoftSide[] {left, right} : others;
                sendOnly(again[0], again[1]);
            }
        }
        assertThat(tokens).contains("right", "others");
        right.await(
                right.receives,
                1 + (int) tokens.stream().filter("right"::equals).count());
        others[1].await(
                others[1].receives,
                1 + (int) tokens.stream().filter("others"::equals).count());
    }

    @Test
    void watchedQueue_wakesWhoSleeps() throws IOException {
        makeBusy();
        assertThat(group.prepareToSleep()).isTrue();
        assertThat(inbound(right).isWatched()).isFalse();
        sendOnly();
        assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
        awaken();
        assertTells("right");
        right.awaitReceive();
    }

    @Test
    void prepareToSleep_isRefusedForWhatIsInAWatchedRing() throws VerbsException {
        makeBusy();
        sendOnly();
        assertThat(group.prepareToSleep()).isFalse();
        assertTells("right");
        assertThat(group.prepareToSleep()).isTrue();
        awaken();
        right.awaitReceive();
    }

    @Test
    void watchedQueueThatMoves_isToldOfInItsNextGroup() throws VerbsException {
        makeBusy();
        sendOnly();
        try (CompletionQueueGroup next = CompletionQueueGroup.open(RdmaEngine.soft())) {
            next.add(right.receives, "next");
            assertThat(inbound(right).isWatched()).isFalse();
            assertTells();
            assertThat(next.take(told)).isEqualTo(1);
            assertThat(told[0]).isEqualTo("next");
            right.awaitReceive();
        }
    }

    @Test
    void watchedQueue_thatNothingComesTo_isWatchedNoLonger() throws VerbsException {
        makeBusy();
        for (int i = 0; i <= 10_000; i++) {
            assertTells();
        }
        assertThat(inbound(right).isWatched()).isFalse();
        sendOnly();
        assertThat(isInReadySet()).isTrue();
        assertTells("right");
        right.awaitReceive();
    }

    @Test
    void watchedQueue_thatIsPolledInVain_isWatchedNoLonger() throws VerbsException {
        makeBusy();
        try (WorkCompletions one = new WorkCompletions(1)) {
            for (int i = 0; i <= 2_000; i++) {
                assertThat(right.receives.poll(one)).isZero();
            }
        }
        assertThat(inbound(right).isWatched()).isFalse();
        sendOnly();
        assertTells("right");
        right.awaitReceive();
    }

    // What wakes.

    @Test
    void prepareToSleep_isRefusedWhenSomethingIsThere() throws IOException {
        group.add(right.receives, "right");
        send();
        assertThat(group.prepareToSleep()).isFalse();
        assertTells("right");
        // Told of is enough, whether it was polled or not.
        assertThat(group.prepareToSleep()).isTrue();
        assertThat(isReadable(group, 0)).isFalse();
        awaken();
        right.awaitReceive();
    }

    @Test
    void prepareToSleep_isRefusedForWhatTakeHadNoPlaceFor() throws VerbsException {
        SoftSide[] others = connect();
        group.add(right.receives, "right");
        group.add(others[1].receives, "others");
        send();
        send(others[0], others[1]);
        Object[] one = new Object[1];
        assertThat(group.take(one)).isEqualTo(1);
        assertThat(group.prepareToSleep()).isFalse();
        assertThat(group.take(one)).isEqualTo(1);
        assertThat(group.prepareToSleep()).isTrue();
        awaken();
        right.awaitReceive();
        others[1].awaitReceive();
    }

    @Test
    void messageOfAPeer_wakesWhoSleepsAndNobodyElse() throws IOException {
        group.add(right.receives, "right");
        for (int i = 0; i < 20; i++) {
            assertThat(group.prepareToSleep()).isTrue();
            assertThat(isReadable(group, 0)).isFalse();
            send();
            assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
            awaken();
            send();
            assertThat(isReadable(group, 0)).isFalse();
            assertTells("right");
            right.await(right.receives, 2);
        }
    }

    @Test
    void completionOfASend_wakes() throws IOException {
        group.add(left.sends, "left");
        assertThat(group.prepareToSleep()).isTrue();
        right.postReceive(1, 0, BYTES);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, BYTES));
        assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
        awaken();
        assertTells("left");
        left.awaitSend();
        right.awaitReceive();
    }

    @Test
    void deathOfThePeer_wakes() throws IOException {
        right.postReceive(7, 0, BYTES);
        send();
        assertThat(right.awaitReceive().id()).isEqualTo(7);
        group.add(right.receives, "right");
        assertThat(group.prepareToSleep()).isTrue();
        leftDevice.host.queuePairs().find(left.pair.number()).fault(new ViolationException("a test"));
        assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
        awaken();
        assertTells("right");
        assertThat(right.awaitReceive().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
    }

    @Test
    void trafficAndDeathOfAnotherProcess_wake() throws IOException {
        long seed = System.nanoTime();
        try (TrafficProcess process = new TrafficProcess(seed);
                TrafficNode node = TrafficNode.inGroup(InetAddress.getLoopbackAddress(), seed)) {
            int port = process.awaitPort();
            process.begin(0, 0);
            node.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), false);
            TrafficEnd end = node.ends().getFirst();
            while (node.received() < 500) {
                if (!node.step()) {
                    assertThat(node.awaitInGroup(WAIT_MILLIS))
                            .as("seed %d: %s", seed, end)
                            .isTrue();
                }
            }
            process.kill();
            while (!end.isOver()) {
                if (!node.step()) {
                    assertThat(node.awaitInGroup(WAIT_MILLIS))
                            .as("seed %d: %s", seed, end)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void queueThatJoinsWhileTheOwnerSleeps_wakes() throws IOException {
        assertThat(group.prepareToSleep()).isTrue();
        group.add(right.receives, "right");
        send();
        assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
        awaken();
        assertTells("right");
        right.awaitReceive();
        try (CompletionQueueGroup other = CompletionQueueGroup.open(RdmaEngine.soft())) {
            send();
            other.add(right.receives, "other");
            assertThat(group.prepareToSleep()).isTrue();
            // With something in it.
            group.add(right.receives, "back");
            assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
            awaken();
            assertTells("back");
            right.awaitReceive();
        }
    }

    @Test
    void signal_wakesUntilItIsDrained() throws IOException {
        group.signal();
        group.signal();
        assertThat(isReadable(group, 0)).isTrue();
        assertThat(group.prepareToSleep()).isTrue();
        awaken();
        assertThat(isReadable(group, 0)).isFalse();
    }

    @Test
    void peerThatIsLate_wakesWhoHasTheSlotByNow() throws IOException {
        send();
        right.awaitReceive();
        group.add(right.receives, "right");
        int slot = slotOf(right);
        ProcessPair peer = leftDevice.host.pairs().all().findAny().orElseThrow();
        CompletionQueueGroup former = group;
        List<CompletionQueueGroup> groups = new ArrayList<>(List.of(former));
        try {
            do {
                group = CompletionQueueGroup.open(RdmaEngine.soft());
                groups.add(group);
                group.add(right.receives, "moved");
            } while (slotOf(right) != slot && groups.size() < 100);
            assertThat(slotOf(right)).isEqualTo(slot);
            assertThat(group.prepareToSleep()).isTrue();
            // It had read the slot when the first group had it, and takes the request of the last.
            peer.ringPeer(peer.outbound().disarm(slot, false));
            assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
            assertThat(isReadable(former, 0)).isFalse();
            group.awake();
        } finally {
            groups.remove(group);
            for (CompletionQueueGroup other : groups) {
                other.close();
            }
        }
    }

    private static int slotOf(SoftSide side) {
        return inbound(side).area().armSlot();
    }

    @Test
    void peerThatHasUsedItsShareOfDescriptors_wakesAllTheSame() throws IOException {
        int own = ProcessCredentials.own().processId();
        while (leftDevice.host.doorbellShares().take(own)) {
            assertThat(own).isPositive();
        }
        group.add(right.receives, "right");
        for (int i = 0; i < 50; i++) {
            assertThat(group.prepareToSleep()).isTrue();
            send();
            assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
            awaken();
            assertTells("right");
            right.awaitReceive();
        }
    }

    // The end.

    @Test
    void closedGroup_leavesItsQueuesAsTheyWere() throws VerbsException {
        try (SoftSide late = new SoftSide(leftDevice, OPTIONS);
                SoftSide lateReceiver = new SoftSide(rightDevice, OPTIONS, right.receives)) {
            group.add(right.receives, "right");
            send();
            group.close();
            right.awaitReceive();
            // A queue pair whose completion queue was in it can still be connected.
            lateReceiver.connect(late);
            late.connect(lateReceiver);
            send(late, lateReceiver);
            right.awaitReceive();
            send();
            group = CompletionQueueGroup.open(RdmaEngine.soft());
            group.add(right.receives, "next");
            assertTells("next");
            right.awaitReceive();
            send(late, lateReceiver);
            assertTells("next");
            right.awaitReceive();
        }
    }

    @Test
    void closedGroup_isKeptByNoQueue() throws Exception {
        WeakReference<Object> token = addThenClose();
        await().atMost(20, TimeUnit.SECONDS).until(() -> {
            System.gc();
            return token.get() == null;
        });
        send();
        right.awaitReceive();
    }

    private WeakReference<Object> addThenClose() throws VerbsException {
        Object token = new Object();
        try (CompletionQueueGroup brief = CompletionQueueGroup.open(RdmaEngine.soft())) {
            brief.add(right.receives, token);
            send();
        }
        right.awaitReceive();
        return new WeakReference<>(token);
    }

    @Test
    void tokenOfAFormerStay_isKeptByNobody() throws Exception {
        WeakReference<Object> token = addThenMove();
        await().atMost(20, TimeUnit.SECONDS).until(() -> {
            System.gc();
            return token.get() == null;
        });
        right.awaitReceive();
    }

    private WeakReference<Object> addThenMove() throws VerbsException {
        Object token = new Object();
        group.add(right.receives, token);
        // Its place in the list stays there.
        send();
        group.remove(right.receives);
        return new WeakReference<>(token);
    }

    @Test
    void closedQueue_isNotToldOf() throws VerbsException {
        SoftSide[] sides = connect();
        group.add(sides[1].receives, "closed");
        group.add(right.receives, "right");
        send(sides[0], sides[1]);
        open.remove(sides[1]);
        sides[1].close();
        send();
        assertTells("right");
        right.awaitReceive();
    }

    @Test
    void closedGroup_refusesAllButWhatMeansNothing() throws VerbsException {
        group.add(right.receives, "right");
        group.close();
        group.close();
        group.signal();
        group.drain();
        group.awake();
        assertThatThrownBy(() -> group.take(told)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(group::prepareToSleep).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> group.add(right.receives, "right")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> group.remove(right.receives)).isInstanceOf(IllegalStateException.class);
    }

    // What is refused.

    @Test
    void queueThatCanNotBeAdded_isRefused() throws VerbsException {
        try (SoftSide withChannel = new SoftSide(leftDevice, Options.DEFAULT)) {
            assertThatThrownBy(() -> group.add(withChannel.receives, "token"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("channel");
        }
        assertThatThrownBy(() -> group.add(right.receives, null)).isInstanceOf(NullPointerException.class);
        CompletionQueue closed = rightDevice.context.createCompletionQueue(1, null);
        closed.close();
        assertThatThrownBy(() -> group.add(closed, "token")).isInstanceOf(IllegalStateException.class);
        RdmaEngine fake = VerbsAccess.get().newEngine(new FakeEngine());
        try (OpenDeviceContext device = fake.open("fake0")) {
            CompletionQueue foreign = device.createCompletionQueue(1, null);
            assertThatThrownBy(() -> group.add(foreign, "token"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another engine");
            group.remove(foreign);
        }
    }

    @Test
    void engineWithoutGroups_saysSo() {
        assertThat(RdmaEngine.soft().hasCompletionQueueGroups()).isTrue();
        assertThat(RdmaEngine.system().hasCompletionQueueGroups()).isFalse();
        assertThatThrownBy(() -> CompletionQueueGroup.open(RdmaEngine.system()).close())
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
    }

    /** What is tried while the process may open no descriptor. */
    private interface Attempt {
        void run() throws IOException;
    }

    @Test
    void wantOfDescriptors_isToldAndChangesNothing() throws Exception {
        send();
        right.awaitReceive();
        group.add(right.receives, "right");
        try (CompletionQueueGroup other = CompletionQueueGroup.open(RdmaEngine.soft())) {
            assertFailsWithoutDescriptors(
                    () -> CompletionQueueGroup.open(RdmaEngine.soft()).close());
            // The peer doesn't know it yet.
            assertFailsWithoutDescriptors(() -> other.add(right.receives, "other"));
            assertThat(group.prepareToSleep()).isTrue();
            send();
            assertThat(isReadable(group, WAIT_MILLIS)).isTrue();
            awaken();
            assertTells("right");
            assertThat(other.take(told)).isZero();
            other.add(right.receives, "other");
            assertThat(other.take(told)).isEqualTo(1);
            right.awaitReceive();
            // It does now: there is no need for one.
            group.add(right.receives, "back");
            withoutDescriptors(() -> other.add(right.receives, "other"));
        }
    }

    private static void assertFailsWithoutDescriptors(Attempt attempt) throws IOException {
        // Whatever classes it needs.
        assertThat(SoftContext.failure("a test", "", Errno.EMFILE, Errno.exception("a test", Errno.EMFILE)))
                .isNotNull();
        assertThatThrownBy(() -> withoutDescriptors(attempt))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EMFILE));
    }

    /** Those that are open stay so, whatever their numbers. */
    private static void withoutDescriptors(Attempt attempt) throws IOException {
        NativeFunction get = Downcall.libc("getrlimit");
        NativeFunction set = Downcall.libc("setrlimit");
        int descriptors = 7;
        try (CallFrame frame = CallFrame.enter()) {
            assertThat((int) Downcall.call(get, frame, descriptors, frame.argumentsAddress()))
                    .isZero();
            long before = frame.arguments().get(ValueLayout.JAVA_LONG, 0);
            long most = frame.arguments().get(ValueLayout.JAVA_LONG, Long.BYTES);
            frame.arguments().set(ValueLayout.JAVA_LONG, 0, 0);
            int lowered = (int) Downcall.call(set, frame, descriptors, frame.argumentsAddress());
            try {
                attempt.run();
            } finally {
                frame.arguments().set(ValueLayout.JAVA_LONG, 0, before);
                frame.arguments().set(ValueLayout.JAVA_LONG, Long.BYTES, most);
                int restored = (int) Downcall.call(set, frame, descriptors, frame.argumentsAddress());
                assertThat(lowered | restored).isZero();
            }
        }
    }
}
