package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rdmanio.RdmaSelectorProvider;
import io.rdmanio.policy.TransportPolicy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What many connections take, at once or one after the other, and that they give it back. */
@Tag("rdma")
@ExtendWith(StreamLeakCheck.class)
class StreamCrowdTest {
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider();
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** Over iWARP, 64 threads may be connecting. */
    private static final int MANY_THREADS = 80;

    private static final int TRAFFIC_BYTES = 2 << 20;
    private static final int ROOM_FOR_SOME = 2 << 20;
    private static final int MOST_AT_ONCE = 32 << 20;

    private ServerSocketChannel listener;

    private record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            client.close();
            server.close();
        }
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(System.getProperty("io.rdmanio.test.address"), 0);
    }

    @BeforeAll
    static void warmUp() throws IOException, InterruptedException {
        try (ServerSocketChannel once = PROVIDER.openServerSocketChannel().bind(anyPort());
                SocketChannel client = PROVIDER.openSocketChannel()) {
            client.connect(once.getLocalAddress());
            try (SocketChannel server = once.accept()) {
                Thread reader = Thread.startVirtualThread(() -> readOne(client));
                TimeUnit.MILLISECONDS.sleep(100);
                server.write(ByteBuffer.allocate(1));
                reader.join();
            }
        }
        StreamLeakCheck.awaitQuiet();
    }

    private static void readOne(SocketChannel channel) {
        try {
            channel.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void listen() throws IOException {
        listener = PROVIDER.openServerSocketChannel().bind(anyPort(), 128);
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    private Pair connect() throws IOException {
        SocketChannel client = PROVIDER.openSocketChannel();
        client.connect(listener.getLocalAddress());
        return new Pair(client, listener.accept());
    }

    private static MemoryBudget budget() throws IOException {
        return StreamRuntime.over(TransportPolicy.engine()).memory().budget();
    }

    private static long ownThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdma-nio"))
                .count();
    }

    /** The most that was registered meanwhile. */
    private long comeAndGo(int cycles, boolean abort) throws IOException {
        long most = 0;
        for (int cycle = 0; cycle < cycles; cycle++) {
            try (Pair pair = connect()) {
                if (abort) {
                    pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
                    pair.client().write(ByteBuffer.allocate(1000));
                }
            }
            most = Math.max(most, budget().registeredBytes());
        }
        assertThat(ownThreads()).isLessThanOrEqualTo(MANY_THREADS);
        return most;
    }

    @Test
    void connections_thatComeAndGo_leaveNothing() throws IOException {
        comeAndGo(500, false);
    }

    @Test
    void abortedConnections_leaveNothing() throws IOException {
        comeAndGo(200, true);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void twentyThousandConnections_thatComeAndGo_leaveNothing() throws IOException {
        long most = comeAndGo(20_000, false);
        assertThat(comeAndGo(1000, true)).isPositive();
        assertThat(most)
                .as("what was registered at most, where all together need ten times as much")
                .isLessThan(MOST_AT_ONCE);
    }

    @Test
    void idleConnections_takeAnEighthOfWhatBusyOnesDo() throws IOException {
        crowd(100);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void twoThousandIdleConnections_takeAnEighthOfWhatBusyOnesDo() throws IOException {
        crowd(2000);
    }

    private void crowd(int size) throws IOException {
        List<Pair> pairs = new ArrayList<>();
        try {
            long before = budget().lentBytes();
            for (int i = 0; i < size; i++) {
                pairs.add(connect());
            }
            long idle = budget().lentBytes() - before;
            long idleRegistered = budget().registeredBytes();
            for (Pair pair : pairs) {
                exchange(pair);
            }
            long busy = budget().lentBytes() - before;
            long ends = 2L * size;
            System.out.printf(
                    "Lent to an end of an idle connection %d bytes, of a busy one %d; registered for each %d and %d%n",
                    idle / ends, busy / ends, idleRegistered / ends, budget().registeredBytes() / ends);
            assertThat(idle).isPositive().isLessThanOrEqualTo(busy / 8);
        } finally {
            for (Pair pair : pairs) {
                pair.close();
            }
        }
        await().atMost(30, TimeUnit.SECONDS).until(() -> budget().lentBytes() == 0);
    }

    /** Sends much both ways, as fast as it goes. */
    private static void exchange(Pair pair) throws IOException {
        pair.client().configureBlocking(false);
        pair.server().configureBlocking(false);
        ByteBuffer source = ByteBuffer.allocateDirect(1 << 16);
        ByteBuffer target = ByteBuffer.allocateDirect(1 << 17);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        int[] sent = new int[2];
        int[] received = new int[2];
        while (received[0] < TRAFFIC_BYTES || received[1] < TRAFFIC_BYTES) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            for (int way = 0; way < 2; way++) {
                SocketChannel from = way == 0 ? pair.client() : pair.server();
                SocketChannel to = way == 0 ? pair.server() : pair.client();
                source.clear().limit(Math.min(source.capacity(), TRAFFIC_BYTES - sent[way]));
                sent[way] += from.write(source);
                received[way] += to.read(target.clear());
            }
        }
    }

    /**
     * A peer that writes before anybody reads gets rid of much more than the buffer is at first, and it arrives as it was. How
     * much depends on how soon the buffer grows.
     */
    @Test
    void writesBeforeAnybodyReads_growTheBufferAndArrive() throws Exception {
        long seed = System.nanoTime();
        byte[] bytes = new byte[StreamConfiguration.DEFAULT.receiveBufferBytes() - (16 << 10)];
        new Random(seed).nextBytes(bytes);
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            ByteBuffer source = ByteBuffer.wrap(bytes);
            long lastNanos = System.nanoTime();
            while (source.hasRemaining() && System.nanoTime() - lastNanos < QUIET_NANOS) {
                if (pair.client().write(source) > 0) {
                    lastNanos = System.nanoTime();
                } else {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
            }
            assertThat(source.position()).isGreaterThan(8 * 2 * StreamConfiguration.DEFAULT.firstHalfBytes());
            ByteBuffer target = ByteBuffer.allocate(source.position());
            while (target.hasRemaining()) {
                assertThat(pair.server().read(target)).isPositive();
            }
            assertThat(target.array()).as("seed %d", seed).isEqualTo(Arrays.copyOf(bytes, source.position()));
        }
    }

    /** Whatever is written and read in whatever pieces, while halves and buffers grow and shrink: the same bytes arrive. */
    @Test
    void traffic_ofEveryPace_arrivesAsItWas() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            pair.server().configureBlocking(false);
            byte written = 0;
            byte read = 0;
            long ahead = 0;
            for (int step = 0; step < 4000; step++) {
                if (random.nextInt(200) == 0) {
                    TimeUnit.MILLISECONDS.sleep(random.nextInt(40));
                }
                ByteBuffer source = ByteBuffer.allocate(random.nextInt(random.nextInt(4) == 0 ? 200_000 : 3000));
                byte next = written;
                while (source.hasRemaining()) {
                    source.put(next++);
                }
                int sent = pair.client().write(source.flip());
                written += (byte) sent;
                ahead += sent;
                ByteBuffer target = ByteBuffer.allocate(random.nextInt(random.nextInt(4) == 0 ? 300_000 : 3000));
                ahead -= pair.server().read(target);
                for (target.flip(); target.hasRemaining(); read++) {
                    if (target.get() != read) {
                        throw new AssertionError("seed " + seed + ", step " + step);
                    }
                }
                assertThat(ahead).as("seed %d", seed).isNotNegative();
            }
            assertThat(budget().lentBytes()).isGreaterThan(StreamConfiguration.DEFAULT.receiveBufferBytes() / 4);
        }
    }

    /** Buffers stay short, and everything arrives all the same. */
    @Test
    void traffic_withNothingLeftOfTheBudget_goesOn() throws IOException {
        MemoryBudget budget = budget();
        try (Pair pair = connect()) {
            long lent = budget.lentBytes();
            long taken = budget.limitBytes() - budget.registeredBytes();
            assertThat(budget.tryRegister(taken)).isTrue();
            try {
                exchange(pair);
                assertThat(budget.registeredBytes()).isLessThanOrEqualTo(budget.limitBytes());
                assertThat(budget.lentBytes() - lent).isLessThan(StreamConfiguration.DEFAULT.receiveBufferBytes());
            } finally {
                budget.deregistered(taken);
            }
        }
    }

    /** Nothing is left to register, and nothing registered is lent or kept: who connects is told what to do. */
    @Test
    void connect_beyondTheBudget_failsWithWhatToDo() throws IOException {
        StreamRuntime runtime = StreamRuntime.over(TransportPolicy.engine());
        MemoryBudget budget = budget();
        runtime.memory().freeUnused(0);
        long taken = budget.limitBytes() - budget.registeredBytes();
        assertThat(budget.tryRegister(taken)).isTrue();
        try (SocketChannel refused = PROVIDER.openSocketChannel()) {
            assertThatThrownBy(() -> refused.connect(listener.getLocalAddress()))
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("ENOBUFS")
                    .hasMessageContaining(budget.limitBytes() + " may be")
                    .hasMessageContaining("-D" + MemoryBudget.PROPERTY + "=");
        } finally {
            budget.deregistered(taken);
        }
        connect().close();
    }

    @Test
    void requests_beyondTheBudget_waitUntilMemoryComesBack() throws Exception {
        MemoryBudget budget = budget();
        long left = budget.limitBytes() - budget.lentBytes();
        // as if others had borrowed all but what some connections need
        long taken = left - ROOM_FOR_SOME;
        budget.lent(taken);
        List<Pair> pairs = new ArrayList<>();
        try (SocketChannel waits = PROVIDER.openSocketChannel()) {
            for (int i = 0; i < 5; i++) {
                pairs.add(connect());
            }
            budget.lent(left - taken);
            waits.configureBlocking(false);
            waits.connect(listener.getLocalAddress());
            TimeUnit.MILLISECONDS.sleep(300);
            assertThat(waits.finishConnect()).as("its request waits for memory").isFalse();
            budget.lent(-(left - taken));
            pairs.removeLast().close();
            await().atMost(20, TimeUnit.SECONDS).until(waits::finishConnect);
            listener.accept().close();
        } finally {
            budget.lent(-taken);
            for (Pair pair : pairs) {
                pair.close();
            }
        }
    }
}
