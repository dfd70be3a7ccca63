package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What several threads do to one channel, key or selector, at moments that chance chooses, as often as there is time for.
 * {@code -Dio.rdmanio.test.raceMillis} gives each test more, {@code -Dio.rdmanio.test.raceSeed} repeats a run's choices.
 */
abstract class RaceContractTest extends ChannelContract {
    private static final long RACE_NANOS =
            TimeUnit.MILLISECONDS.toNanos(Long.getLong("io.rdmanio.test.raceMillis", 500));
    private static final long SEED = Long.getLong("io.rdmanio.test.raceSeed", System.nanoTime());
    private static final int MAX_PAUSE_NANOS = 60_000;
    private static final int MOST_BYTES = 100_000;
    private static final long POLL_NANOS = 20_000;

    private final Random random = new Random(SEED);
    private Selector selector;
    private long endNanos;

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
        endNanos = System.nanoTime() + RACE_NANOS;
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    private boolean isOver() {
        return System.nanoTime() - endNanos > 0;
    }

    private static String seed() {
        return "seed " + SEED;
    }

    /** Lets some time pass, often none. */
    private static void pause(Random random) {
        long until = System.nanoTime() + Math.max(0, random.nextInt(-MAX_PAUSE_NANOS / 2, MAX_PAUSE_NANOS));
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    /** Waits for what another thread does at once; looks often, since it takes microseconds. */
    private static void awaitSoon(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("time for: %s, %s", what, seed()).isLessThan(deadline);
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Selects again and again, with pauses, until the selector is closed. Counts the selections. */
    private Callable<Void> selections(AtomicInteger count, Selecting each) {
        Random pauses = new Random(random.nextLong());
        return () -> {
            try {
                while (true) {
                    each.select();
                    count.incrementAndGet();
                    pause(pauses);
                }
            } catch (ClosedSelectorException e) {
                return null;
            }
        };
    }

    private interface Selecting {
        void select() throws IOException;
    }

    // -- selectors --

    /** A wake-up before, in or after a selection ends one, and one alone. */
    @Test
    void rule14_wakeup_atAnyMoment_endsOneSelection() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            pair.client().register(selector, READ);
            AtomicInteger ended = new AtomicInteger();
            Callable<Void> selections = selections(ended, selector::select);
            Doing<Void> selecting = random.nextBoolean() ? doing(selections) : doingVirtually(selections);
            int wakeups = 0;
            while (!isOver()) {
                int now = ++wakeups;
                selector.wakeup();
                awaitSoon("selection " + now, () -> ended.get() >= now);
                assertThat(ended).as(seed()).hasValue(now);
                pause(random);
            }
            selector.close();
            selecting.get();
        }
    }

    /** An operation of interest is looked for from the next selection on, whoever names it whenever. */
    @Test
    void rule09_interest_changedAtAnyMoment_countsForTheNextSelection() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            writeAll(pair.server(), pattern(1, 1));
            SelectionKey key = pair.client().register(selector, 0);
            AtomicInteger found = new AtomicInteger();
            Doing<Void> selecting = doing(selections(
                    new AtomicInteger(),
                    () -> selector.select(ready -> {
                        ready.interestOpsAnd(~ready.readyOps());
                        found.incrementAndGet();
                    })));
            while (!isOver()) {
                int before = found.get();
                key.interestOpsOr(random.nextBoolean() ? READ : WRITE);
                selector.wakeup();
                awaitSoon("what is ready is found", () -> found.get() > before);
                pause(random);
            }
            selector.close();
            selecting.get();
        }
    }

    /** Keys come and go while a selection is under way; each sees what had arrived before it came, and what arrives after. */
    @Test
    void rule04_registerAndCancel_atAnyMoment_loseNoReadiness() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            AtomicInteger found = new AtomicInteger();
            ByteBuffer one = ByteBuffer.allocate(1);
            Doing<Void> selecting = doing(selections(
                    new AtomicInteger(),
                    () -> selector.select(ready -> {
                        readOne(pair.client(), one.clear(), found);
                    })));
            ByteBuffer sent = ByteBuffer.allocate(1);
            while (!isOver()) {
                int before = found.get();
                if (random.nextBoolean()) {
                    writeAll(pair.server(), sent.clear());
                    pause(random);
                }
                SelectionKey key = pair.client().register(selector, READ);
                selector.wakeup();
                pause(random);
                if (sent.hasRemaining()) {
                    writeAll(pair.server(), sent);
                }
                sent.clear();
                awaitSoon("the byte is found", () -> found.get() > before);
                key.cancel();
                selector.wakeup();
                awaitSoon("the key is flushed", () -> !pair.client().isRegistered());
            }
            selector.close();
            selecting.get();
        }
    }

    private static void readOne(SocketChannel channel, ByteBuffer target, AtomicInteger found) {
        try {
            if (channel.read(target) == 1) {
                found.incrementAndGet();
            }
        } catch (ClosedChannelException e) {
            assertThat(channel.isOpen()).isFalse(); // by the other thread
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A registered channel that is closed goes, and its peer sees the end, whatever the selector's thread is doing with it. */
    @Test
    void rule08_close_atAnyMomentOfASelection_endsTheChannel() throws Exception {
        AtomicInteger found = new AtomicInteger();
        ByteBuffer one = ByteBuffer.allocate(1);
        Doing<Void> selecting = doing(selections(
                new AtomicInteger(),
                () -> selector.select(ready -> readOne((SocketChannel) ready.channel(), one.clear(), found))));
        while (!isOver()) {
            try (Pair pair = connectNonBlocking()) {
                SelectionKey key = pair.client().register(selector, READ);
                selector.wakeup();
                Doing<Void> closing = doing(() -> {
                    pause(new Random(SEED));
                    pair.client().close();
                    return null;
                });
                writeAll(pair.server(), pattern(1, 1));
                setInterest(key, 0);
                closing.get();
                selector.wakeup();
                awaitSoon("the key is flushed", () -> !selector.keys().contains(key));
                pair.server().configureBlocking(true);
                awaitEnd(pair.server());
            }
        }
        selector.close();
        selecting.get();
    }

    private static void setInterest(SelectionKey key, int ops) {
        try {
            key.interestOps(ops);
        } catch (CancelledKeyException e) {
            assertThat(key.isValid()).isFalse();
        }
    }

    /** Over TCP the byte that was not read makes the end a reset. */
    private static void awaitEnd(SocketChannel channel) throws IOException {
        try {
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        } catch (IOException e) {
            assertThat(e).hasMessage("Connection reset");
        }
    }

    // -- channels --

    /** What a writer was told that it has written until its output ended arrives, and no more. */
    private interface OutputEnd {
        void end(SocketChannel channel) throws IOException;
    }

    private void assertAllWrittenArrives(OutputEnd end) throws Exception {
        ByteBuffer content = pattern(SEED, MOST_BYTES);
        while (!isOver()) {
            boolean blocking = random.nextBoolean();
            long seed = random.nextLong();
            try (Pair pair = connect()) {
                pair.client().configureBlocking(blocking);
                Doing<Integer> writer = doing(() -> writeUntilEnded(pair.client(), content, new Random(seed)));
                Doing<Integer> reader = doing(() -> readAndCheck(pair.server(), content));
                Doing<Integer> other = doing(() -> blocking ? readUntilEnded(pair.client()) : 0);
                pause(random);
                pause(random);
                end.end(pair.client());
                int written = writer.get();
                assertThat(reader.get()).as("%s, blocking %s", seed(), blocking).isEqualTo(written);
                pair.server().close();
                assertThat(other.get()).as(seed()).isZero();
            }
        }
    }

    /** Writes pieces of the content, which begins again when it is used up, until that is refused; returns how many bytes. */
    private int writeUntilEnded(SocketChannel channel, ByteBuffer content, Random random) throws IOException {
        int written = 0;
        try {
            while (true) {
                int offset = written % content.capacity();
                int length = Math.min(content.capacity() - offset, 1 + random.nextInt(MOST_BYTES));
                written += channel.write(content.slice(offset, length));
            }
        } catch (ClosedChannelException e) {
            return written;
        } catch (IOException e) {
            assertThat(e).hasMessage("Broken pipe");
            if (differs(Difference.OUTPUT_ENDED_IN_A_WRITE)) {
                throw e;
            }
            return written;
        }
    }

    private static int readAndCheck(SocketChannel channel, ByteBuffer content) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(MOST_BYTES);
        int read = 0;
        while (true) {
            int offset = read % content.capacity();
            int count = channel.read(target.clear().limit(content.capacity() - offset));
            if (count < 0) {
                return read;
            }
            assertThat(target.flip()).as("behind byte %d, %s", read, seed()).isEqualTo(content.slice(offset, count));
            read += count;
        }
    }

    /** Reads until the stream or the channel ends; returns how many bytes. */
    private static int readUntilEnded(SocketChannel channel) throws IOException {
        try {
            int count = channel.read(ByteBuffer.allocate(1));
            return Math.max(count, 0);
        } catch (ClosedChannelException e) {
            return 0;
        }
    }

    @Test
    void rule22_close_atAnyMomentOfReadAndWrite_deliversWhatWasWritten() throws Exception {
        assertAllWrittenArrives(SocketChannel::close);
    }

    @Test
    void rule30_shutdownOutput_atAnyMomentOfAWrite_deliversWhatWasWritten() throws Exception {
        assertAllWrittenArrives(SocketChannel::shutdownOutput);
    }
}
