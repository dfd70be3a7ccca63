package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.RdmaSelectorProvider;
import io.rdmanio.ch.ChannelContract.Doing;
import io.rdmanio.ch.KilledProgram.Use;
import io.rdmanio.stream.StreamLeakCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A program at the other end of streams over the software device is killed (SIGKILL) at a random moment. Whatever this process is
 * doing on them, and whichever side has connected, it is told of a reset within a second, and nothing of the dead stays.
 * {@code -Dio.rdmanio.test.streamKills} asks for more than a few, {@code -Dio.rdmanio.test.seed} repeats a run's choices.
 */
@Tag("rdma")
@ExtendWith(StreamLeakCheck.class)
class KilledProgramTest {
    private static final int KILLS = Integer.getInteger("io.rdmanio.test.streamKills", 3);
    private static final long SEED = Long.getLong("io.rdmanio.test.seed", System.nanoTime());
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_DELAY_MILLIS = 100;
    private static final int EXCHANGES = 20;

    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider();

    private final Random random = new Random(SEED);
    private final AtomicInteger exchanges = new AtomicInteger();

    @BeforeAll
    static void warmUp() throws IOException {
        assumeTrue(RdmaTransport.overSoftwareDevice(), "the lab's PeerKilledTest does it over other devices");
        RdmaTransport.warmUp();
    }

    /** How somebody's work on a connection has ended. */
    private record End(String whose, IOException told, long nanoTime) {}

    /** A program that is not yet killed, and where it connects to. */
    private record Victim(ServerSocketChannel listener, ChildJvm program) implements AutoCloseable {
        static Victim start() throws IOException {
            ServerSocketChannel listener =
                    PROVIDER.openServerSocketChannel().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            return new Victim(listener, ChildJvm.of(PROVIDER, KilledProgram.class, listener.getLocalAddress()));
        }

        @Override
        public void close() throws IOException {
            try (listener) {
                program.close();
            }
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void programKilled_whateverIsDoneAtTheOtherEnd_isAResetWithinASecond() throws Exception {
        System.out.println(KILLS + " kills, seed " + SEED);
        long threads = deviceThreads();
        long worstNanos = 0;
        Victim next = Victim.start();
        try {
            for (int round = 0; round < KILLS; round++) {
                try (Victim victim = next) {
                    next = Victim.start();
                    worstNanos = Math.max(worstNanos, killOnce(victim, "seed " + SEED + ", round " + round));
                }
            }
        } finally {
            next.close();
        }
        await().atMost(ChannelContract.LONG_MILLIS, TimeUnit.MILLISECONDS)
                .untilAsserted(() -> assertThat(deviceThreads()).isEqualTo(threads));
        System.out.printf("the slowest end took %.1f ms%n", worstNanos / (double) TimeUnit.MILLISECONDS.toNanos(1));
    }

    private static long deviceThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdmanio-"))
                .count();
    }

    /** Returns how long it took after the kill until everything had ended. */
    private long killOnce(Victim victim, String where) throws Exception {
        List<SocketChannel> channels = new ArrayList<>();
        try (SocketChannel control = victim.listener().accept()) {
            int port = ChannelContract.readAll(control, Integer.BYTES).getInt();
            List<Doing<End>> ends = new ArrayList<>();
            for (Use ignored : Use.values()) {
                SocketChannel accepted = victim.listener().accept();
                channels.add(accepted);
                ends.add(begin(accepted, KilledProgram.useOf(accepted), "accepted"));
            }
            for (Use use : Use.values()) {
                SocketChannel connected = PROVIDER.openSocketChannel();
                channels.add(connected);
                connected.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                KilledProgram.tellUse(connected, use);
                ends.add(begin(connected, use, "connected"));
            }
            int atLeast = exchanges.get() + EXCHANGES;
            await().atMost(ChannelContract.LONG_MILLIS, TimeUnit.MILLISECONDS).until(() -> exchanges.get() >= atLeast);
            TimeUnit.MILLISECONDS.sleep(random.nextInt(MAX_DELAY_MILLIS));
            assertThat(ends).as("nobody has ended, %s", where).noneMatch(Doing::isDone);

            long killed = System.nanoTime();
            victim.program().kill();
            long worstNanos = 0;
            for (Doing<End> doing : ends) {
                End end = doing.get();
                assertThat(end.told())
                        .as("%s, %s", end.whose(), where)
                        .isInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
                assertThat(end.nanoTime() - killed)
                        .as("how long it took: %s, %s", end.whose(), where)
                        .isLessThan(PATIENCE_NANOS);
                worstNanos = Math.max(worstNanos, end.nanoTime() - killed);
            }
            return worstNanos;
        } finally {
            for (SocketChannel channel : channels) {
                channel.close();
            }
        }
    }

    private Doing<End> begin(SocketChannel channel, Use use, String side) {
        String whose = use + " on a connection that was " + side;
        return switch (use) {
            case READ -> ChannelContract.doing(() -> untilTold(whose, () -> read(channel)));
            case READ_VIRTUALLY -> ChannelContract.doingVirtually(() -> untilTold(whose, () -> read(channel)));
            case WRITE -> ChannelContract.doing(() -> untilTold(whose, () -> write(channel)));
            case SELECT -> ChannelContract.doing(() -> untilTold(whose, () -> select(channel)));
            case EXCHANGE -> ChannelContract.doing(() -> untilTold(whose, () -> exchange(channel)));
        };
    }

    private interface Work {
        void goOn() throws IOException;
    }

    private static End untilTold(String whose, Work work) {
        try {
            while (true) {
                work.goOn();
            }
        } catch (IOException e) {
            return new End(whose, e, System.nanoTime());
        }
    }

    private static void read(SocketChannel channel) throws IOException {
        assertThat(channel.read(ByteBuffer.allocate(1)))
                .as("what a reset must not pass for")
                .isPositive();
    }

    private static void write(SocketChannel channel) throws IOException {
        assertThat(channel.write(ByteBuffer.allocate(1 << 20))).isPositive();
    }

    private static void select(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        try (Selector selector = PROVIDER.openSelector()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            assertThat(selector.select(ChannelContract.LONG_MILLIS)).isOne();
            assertThat(key.isReadable()).isTrue();
            read(channel);
        }
    }

    private void exchange(SocketChannel channel) throws IOException {
        ByteBuffer message = ChannelContract.pattern(exchanges.get(), KilledProgram.MESSAGE_BYTES);
        ChannelContract.writeAll(channel, message.duplicate());
        ByteBuffer answer = ChannelContract.readAll(channel, KilledProgram.MESSAGE_BYTES);
        assertThat(answer.hasRemaining()).as("what a reset must not pass for").isTrue();
        assertThat(answer).isEqualTo(message);
        exchanges.incrementAndGet();
    }
}
