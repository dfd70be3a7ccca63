package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.stream.StreamLeakCheck;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Several who sleep for connections of one process, each in its own way, and for one connection at a time or one after the
 * other: whoever waits for what happens is woken, and nobody keeps another from it.
 */
@Tag("rdma")
@Timeout(60)
@ExtendWith(StreamLeakCheck.class)
class SleepersTest extends ChannelContract {
    @RegisterExtension
    static final TransportParameter TRANSPORT = new TransportParameter(new RdmaTransport());

    private static final int ROUNDS = 100;
    /** More than a selector is told of at once. */
    private static final int MANY = 140;

    @BeforeAll
    static void warmUp() throws IOException {
        RdmaTransport.warmUp();
    }

    /** Selects until a key is ready, which is all that the selector has, and makes it unready. */
    private static int selectOne(Selector selector) throws IOException {
        int count = 0;
        while (count == 0) {
            count = selector.select(LONG_MILLIS);
            assertThat(count).as("woken").isOne();
        }
        SelectionKey key = selector.selectedKeys().iterator().next();
        selector.selectedKeys().clear();
        return key.readyOps();
    }

    @Test
    void twoSelectorsAndABlockedThread_areWokenByTheirOwnConnections() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Pair first = connectNonBlocking();
                Pair second = connectNonBlocking();
                Pair third = connect();
                Selector firstSelector = provider().openSelector();
                Selector secondSelector = provider().openSelector()) {
            first.server().register(firstSelector, READ);
            second.server().register(secondSelector, READ);
            List<Doing<Integer>> sleepers = new ArrayList<>();
            sleepers.add(selecting(firstSelector, first));
            sleepers.add(selecting(secondSelector, second));
            sleepers.add(doing(() -> readAll(third.server(), ROUNDS).remaining()));
            List<Pair> all = List.of(first, second, third);
            int[] left = {ROUNDS, ROUNDS, ROUNDS};
            while (left[0] + left[1] + left[2] > 0) {
                int one = random.nextInt(all.size());
                if (left[one] > 0) {
                    left[one]--;
                    writeAll(all.get(one).client(), ByteBuffer.allocate(1));
                    if (random.nextInt(4) == 0) {
                        TimeUnit.MICROSECONDS.sleep(random.nextInt(500));
                    }
                }
            }
            for (Doing<Integer> sleeper : sleepers) {
                assertThat(sleeper.get()).as("seed %d", seed).isEqualTo(ROUNDS);
            }
        }
    }

    private static Doing<Integer> selecting(Selector selector, Pair pair) {
        return doing(() -> {
            int count = 0;
            while (count < ROUNDS) {
                assertThat(selectOne(selector)).isEqualTo(READ);
                count += pair.server().read(ByteBuffer.allocate(ROUNDS));
            }
            return count;
        });
    }

    @Test
    void severalSelectorsOnOneConnection_areAllWoken() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector first = provider().openSelector()) {
            pair.server().register(first, READ);
            try (Selector second = provider().openSelector()) {
                pair.server().register(second, READ);
                for (int round = 0; round < ROUNDS; round++) {
                    Doing<Integer> other = doing(() -> selectOne(second));
                    if (round % 2 == 0) {
                        awaitSleep(other);
                    }
                    writeAll(pair.client(), ByteBuffer.allocate(1));
                    assertThat(selectOne(first)).isEqualTo(READ);
                    assertThat(other.get()).isEqualTo(READ);
                    assertThat(pair.server().read(ByteBuffer.allocate(2))).isOne();
                }
            }
            // And who stays behind when the other goes.
            writeAll(pair.client(), ByteBuffer.allocate(1));
            assertThat(selectOne(first)).isEqualTo(READ);
        }
    }

    /** Not for ever: it may find what it waits for without sleeping. */
    private static void awaitSleep(Doing<?> doing) throws InterruptedException {
        doing.thread().join(1);
    }

    @Test
    void selectorsThatTakeTurns_areWokenEachInTime() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector first = provider().openSelector();
                Selector second = provider().openSelector()) {
            for (int round = 0; round < ROUNDS; round++) {
                Selector selector = round % 2 == 0 ? first : second;
                SelectionKey key = pair.server().register(selector, READ);
                Doing<Integer> selecting = doing(() -> selectOne(selector));
                if (round % 3 == 0) {
                    awaitSleep(selecting);
                }
                writeAll(pair.client(), ByteBuffer.allocate(1));
                assertThat(selecting.get()).isEqualTo(READ);
                assertThat(pair.server().read(ByteBuffer.allocate(2))).isOne();
                key.cancel();
                selector.selectNow();
            }
        }
    }

    @Test
    void selectorAndBlockedThreadThatTakeTurns_areWokenEachInTime() throws Exception {
        try (Pair pair = connect();
                Selector selector = provider().openSelector()) {
            for (int round = 0; round < ROUNDS; round++) {
                Doing<Integer> reader = doing(() -> pair.server().read(ByteBuffer.allocate(2)));
                if (round % 2 == 0) {
                    awaitSleep(reader);
                }
                writeAll(pair.client(), ByteBuffer.allocate(1));
                assertThat(reader.get()).isOne();

                pair.server().configureBlocking(false);
                SelectionKey key = pair.server().register(selector, READ);
                Doing<Integer> selecting = doing(() -> selectOne(selector));
                if (round % 2 == 0) {
                    awaitSleep(selecting);
                }
                writeAll(pair.client(), ByteBuffer.allocate(1));
                assertThat(selecting.get()).isEqualTo(READ);
                assertThat(pair.server().read(ByteBuffer.allocate(2))).isOne();
                key.cancel();
                selector.selectNow();
                pair.server().configureBlocking(true);
            }
        }
    }

    @Test
    void readerAndWriterOfOneConnection_areWokenEachByItsOwn() throws Exception {
        int length = 8 << 20;
        try (Pair pair = connect()) {
            Doing<ByteBuffer> reader = doing(() -> readAll(pair.server(), ROUNDS));
            Doing<Void> writer = doing(() -> {
                writeAll(pair.server(), pattern(1, length));
                return null;
            });
            writer.blocked();
            for (int i = 0; i < ROUNDS; i++) {
                writeAll(pair.client(), pattern(i, 1));
            }
            assertThat(reader.get().remaining()).isEqualTo(ROUNDS);
            Doing<ByteBuffer> second = doing(() -> readAll(pair.server(), 1));
            second.blocked();
            assertThat(readAll(pair.client(), length)).isEqualTo(pattern(1, length));
            writer.get();
            second.blocked();
            writeAll(pair.client(), pattern(2, 1));
            assertThat(second.get()).isEqualTo(pattern(2, 1));
        }
    }

    @Test
    void closeOfAConnection_endsAllWhoBlockOnIt() throws Exception {
        for (int round = 0; round < 5; round++) {
            try (Pair pair = connect()) {
                Doing<ByteBuffer> reader = doing(() -> readAll(pair.server(), 1));
                Doing<Void> writer = doing(() -> {
                    writeAll(pair.server(), ByteBuffer.allocate(64 << 20));
                    return null;
                });
                if (round % 2 == 0) {
                    reader.blocked();
                    writer.blocked();
                }
                closeNow(pair.server());
                reader.failed().isInstanceOf(ClosedChannelException.class);
                writer.failed().isInstanceOf(ClosedChannelException.class);
                if (round % 2 == 0) {
                    // The writer may have been told how much had gone, and been refused the next time.
                    reader.failed().isInstanceOf(AsynchronousCloseException.class);
                }
            }
        }
    }

    @Test
    void endOfOutput_needsNoSelectorThatIsBusyElsewhere() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector selector = provider().openSelector()) {
            // The key sleeps, and its selector does not select any more.
            pair.server().register(selector, READ);
            assertThat(selector.selectNow()).isZero();
            long written = fill(pair.server());
            pair.server().shutdownOutput();
            pair.client().configureBlocking(true);
            Doing<Long> reader = doing(() -> readToTheEnd(pair));
            assertThat(reader.get()).isEqualTo(written);
        }
    }

    @Test
    void closeOfARegisteredChannel_deliversItsTailWithoutItsSelector() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector selector = provider().openSelector()) {
            pair.server().register(selector, READ);
            assertThat(selector.selectNow()).isZero();
            long written = fill(pair.server());
            closeNow(pair.server());
            pair.client().configureBlocking(true);
            Doing<Long> reader = doing(() -> readToTheEnd(pair));
            assertThat(reader.get()).isEqualTo(written);
        }
    }

    private static long readToTheEnd(Pair pair) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
        long total = 0;
        int count = 0;
        while (count >= 0) {
            total += count;
            count = pair.client().read(buffer.clear());
        }
        return total;
    }

    @Test
    void manyReadyConnections_areAllSelected() throws Exception {
        List<Pair> pairs = new ArrayList<>();
        try (Selector selector = provider().openSelector()) {
            for (int i = 0; i < MANY; i++) {
                Pair pair = connectNonBlocking();
                pairs.add(pair);
                pair.server().register(selector, READ);
            }
            assertThat(selector.selectNow()).isZero();
            for (int round = 0; round < 3; round++) {
                for (Pair pair : pairs) {
                    writeAll(pair.client(), ByteBuffer.allocate(1));
                }
                Set<SelectionKey> found = new HashSet<>();
                while (found.size() < MANY) {
                    assertThat(selector.select(LONG_MILLIS)).isPositive();
                    found.addAll(selector.selectedKeys());
                    selector.selectedKeys().clear();
                }
                for (Pair pair : pairs) {
                    assertThat(pair.server().read(ByteBuffer.allocate(2))).isOne();
                }
                assertThat(selector.selectNow()).isZero();
            }
        } finally {
            for (Pair pair : pairs) {
                pair.close();
            }
        }
    }

    @Test
    void selector_isKeptByNoConnectionThatItWatched() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            WeakReference<Selector> closed = selectThenClose(pair);
            await().atMost(LONG_MILLIS, TimeUnit.MILLISECONDS).until(() -> {
                System.gc();
                return closed.get() == null;
            });
            assertThat(pair.server().isOpen()).isTrue();
        }
    }

    private WeakReference<Selector> selectThenClose(Pair pair) throws IOException {
        try (Selector selector = provider().openSelector()) {
            pair.server().register(selector, READ);
            writeAll(pair.client(), ByteBuffer.allocate(1));
            assertThat(selectOne(selector)).isEqualTo(READ);
            assertThat(pair.server().read(ByteBuffer.allocate(2))).isOne();
            assertThat(selector.selectNow()).isZero();
            return new WeakReference<>(selector);
        }
    }

    @Test
    void thread_isKeptByNoConnectionThatItWaitedFor() throws Exception {
        try (Pair pair = connect()) {
            WeakReference<Thread> ended = readThenEnd(pair);
            await().atMost(LONG_MILLIS, TimeUnit.MILLISECONDS).until(() -> {
                System.gc();
                return ended.get() == null;
            });
            assertThat(pair.server().isOpen()).isTrue();
        }
    }

    private static WeakReference<Thread> readThenEnd(Pair pair) throws Exception {
        Doing<Integer> reader = doing(() -> pair.server().read(ByteBuffer.allocate(2)));
        reader.blocked();
        writeAll(pair.client(), ByteBuffer.allocate(1));
        assertThat(reader.get()).isOne();
        reader.thread().join();
        return new WeakReference<>(reader.thread());
    }
}
