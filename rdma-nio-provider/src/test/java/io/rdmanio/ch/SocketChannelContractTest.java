package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rules of java.nio for stream channels, which hold whatever carries the bytes. */
abstract class SocketChannelContractTest extends ChannelContract {
    // -- connecting --

    @Test
    void connect_setsBothAddresses() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            assertThat(client.getLocalAddress()).isNull();
            assertThat(client.getRemoteAddress()).isNull();
            assertThat(client.connect(listener.getLocalAddress())).isTrue();
            try (SocketChannel server = listener.accept()) {
                assertThat(client.getRemoteAddress()).isEqualTo(listener.getLocalAddress());
                assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                assertThat(server.getLocalAddress()).isEqualTo(client.getRemoteAddress());
                assertThat(server.isBlocking()).isTrue();
                assertThat(client.isConnected()).isTrue();
                assertThat(client.finishConnect()).as("no-op when connected").isTrue();
            }
        }
    }

    @Test
    void connect_beforeAnybodyAccepts_returns() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            writeAll(client, pattern(1, 100));
            try (SocketChannel server = listener.accept()) {
                assertThat(readAll(server, 100)).isEqualTo(pattern(1, 100));
            }
        }
    }

    @Test
    void connect_toNobody_isRefusedAndClosesTheChannel() throws IOException {
        InetSocketAddress nobody = nobody();
        try (SocketChannel client = provider().openSocketChannel()) {
            assertThatThrownBy(() -> client.connect(nobody)).isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void connect_nonBlocking_isFinishedByFinishConnect() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.isConnectionPending()).isTrue();
                await().until(client::finishConnect);
            }
            assertThat(client.isConnected()).isTrue();
            assertThat(client.isConnectionPending()).isFalse();
        }
    }

    @Test
    void connect_nonBlockingToNobody_failsInFinishConnect() throws IOException {
        InetSocketAddress nobody = nobody();
        try (SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            assertThatThrownBy(() -> {
                        client.connect(nobody);
                        await().pollInSameThread().until(client::finishConnect);
                    })
                    .isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void connect_inTheWrongState_isRefused() throws IOException {
        try (Pair pair = connect();
                SocketChannel fresh = provider().openSocketChannel()) {
            assertThatThrownBy(() -> pair.client().connect(pair.client().getRemoteAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThat(pair.client().isOpen())
                    .as("a programming error does not close")
                    .isTrue();
            assertThatThrownBy(fresh::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            assertThatThrownBy(() -> fresh.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> fresh.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> fresh.write(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(fresh::shutdownInput).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(fresh::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
        }
    }

    @Test
    void bind_isSeenByThePeer() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.bind(anyPort());
            InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
            assertThat(bound.getPort()).isPositive();
            assertThatThrownBy(() -> client.bind(anyPort())).isInstanceOf(AlreadyBoundException.class);
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(bound);
            }
        }
    }

    @Test
    void listen_onAPortInUse_isRefused() throws IOException {
        try (ServerSocketChannel listener = listen();
                ServerSocketChannel second = provider().openServerSocketChannel()) {
            assertThatThrownBy(() -> second.bind(listener.getLocalAddress())).isInstanceOf(BindException.class);
            assertThatThrownBy(() -> listener.bind(anyPort())).isInstanceOf(AlreadyBoundException.class);
        }
    }

    @Test
    void listen_onAPortJustClosed_works() throws IOException {
        InetSocketAddress port = nobody();
        for (int i = 0; i < 3; i++) {
            try (ServerSocketChannel listener = provider().openServerSocketChannel()) {
                listener.bind(port);
            }
        }
    }

    @Test
    void accept_inEachState_asSpecified() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel()) {
            assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
            listener.bind(anyPort());
            listener.configureBlocking(false);
            assertThat(listener.accept()).isNull();
        }
        ServerSocketChannel closed = listen();
        closed.close();
        assertThatThrownBy(closed::accept).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void bind_toTheWildcard_isOfTheChannelsFamily() throws IOException {
        try (ServerSocketChannel both = provider().openServerSocketChannel().bind(null);
                ServerSocketChannel inet = provider()
                        .openServerSocketChannel(StandardProtocolFamily.INET)
                        .bind(null);
                SocketChannel client = provider().openSocketChannel()) {
            InetSocketAddress wildcard = (InetSocketAddress) both.getLocalAddress();
            assertThat(wildcard.getAddress()).isInstanceOf(Inet6Address.class);
            assertThat(wildcard.getAddress().isAnyLocalAddress()).isTrue();
            assertThat(((InetSocketAddress) inet.getLocalAddress()).getAddress())
                    .isInstanceOf(Inet4Address.class);
            client.bind(null);
            InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
            assertThat(bound.getAddress().isAnyLocalAddress()).isTrue();
            client.connect(new InetSocketAddress(address(), wildcard.getPort()));
            assertThat(((InetSocketAddress) client.getLocalAddress()).getPort()).isEqualTo(bound.getPort());
            try (SocketChannel server = both.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
            }
        }
    }

    @Test
    void accept_inheritsTheReceiveBuffer() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel();
                SocketChannel client = provider().openSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 48 << 10).bind(anyPort());
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getOption(StandardSocketOptions.SO_RCVBUF))
                        .isEqualTo(listener.getOption(StandardSocketOptions.SO_RCVBUF));
                writeAll(client, pattern(9, 20_000));
                assertThat(readAll(server, 20_000)).isEqualTo(pattern(9, 20_000));
            }
        }
    }

    // -- bytes --

    @Test
    void write_ofEverySizeAroundTheBuffers_arrives() throws Exception {
        int[] sizes = {1, 63, 64, 65, 2047, 2048, 2049, 4096, 65_535, 65_536, 65_537, 131_072, 131_073, 1_000_000};
        try (Pair pair = connect()) {
            for (int size : sizes) {
                Thread writer = start("writer", () -> writeAll(pair.client(), pattern(size, size)));
                assertThat(readAll(pair.server(), size)).as("%d bytes", size).isEqualTo(pattern(size, size));
                writer.join();
            }
        }
    }

    @Test
    void write_bothWaysAtOnce_arrives() throws Exception {
        int size = 3_000_000;
        try (Pair pair = connect()) {
            Thread one = start("client writes", () -> writeAll(pair.client(), pattern(1, size)));
            Thread two = start("server writes", () -> writeAll(pair.server(), pattern(2, size)));
            CompletableFuture<ByteBuffer> atServer = new CompletableFuture<>();
            start("server reads", () -> atServer.complete(readAll(pair.server(), size)));
            assertThat(readAll(pair.client(), size)).isEqualTo(pattern(2, size));
            assertThat(atServer.get(60, TimeUnit.SECONDS)).isEqualTo(pattern(1, size));
            one.join();
            two.join();
        }
    }

    @Test
    void manySmallWrites_arriveInOrder() throws Exception {
        int count = 5000;
        try (Pair pair = connect()) {
            Thread writer = start("writer", () -> {
                ByteBuffer number = ByteBuffer.allocateDirect(Integer.BYTES);
                for (int i = 0; i < count; i++) {
                    writeAll(pair.client(), number.clear().putInt(0, i));
                }
            });
            for (int i = 0; i < count; i++) {
                assertThat(readAll(pair.server(), Integer.BYTES).getInt()).isEqualTo(i);
            }
            writer.join();
        }
    }

    @Test
    void gatherAndScatter_keepOrderAndBounds() throws IOException {
        try (Pair pair = connect()) {
            ByteBuffer[] sources = {pattern(1, 3), ByteBuffer.allocate(0), pattern(2, 5000), pattern(3, 70)};
            long written = pair.client().write(sources, 0, 4);
            assertThat(written).isEqualTo(5073);
            ByteBuffer[] targets = {ByteBuffer.allocate(0), ByteBuffer.allocate(3), ByteBuffer.allocate(5070)};
            long read = 0;
            while (read < 5073) {
                read += pair.server().read(targets);
            }
            assertThat(targets[1].flip()).isEqualTo(pattern(1, 3));
            ByteBuffer rest = targets[2].flip();
            assertThat(rest.slice(0, 5000)).isEqualTo(pattern(2, 5000));
            assertThat(rest.slice(5000, 70)).isEqualTo(pattern(3, 70));
            assertThatThrownBy(() -> pair.client().write(sources, 2, 3)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.client().read(targets, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void gather_ofTheSameBufferTwice_sendsItTwice() throws IOException {
        try (Pair pair = connect()) {
            for (int size : new int[] {8, 3000}) {
                ByteBuffer twice = pattern(size, size);
                assertThat(pair.client().write(new ByteBuffer[] {twice, twice})).isEqualTo(2L * size);
                assertThat(twice.hasRemaining()).isFalse();
                assertThat(readAll(pair.server(), size)).isEqualTo(pattern(size, size));
                assertThat(readAll(pair.server(), size)).isEqualTo(pattern(size, size));
            }
        }
    }

    @Test
    void read_ofAnEmptyOrReadOnlyBuffer_asSpecified() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.client(), pattern(1, 1));
            assertThat(pair.server().read(ByteBuffer.allocate(0))).isZero();
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(readAll(pair.server(), 1)).isEqualTo(pattern(1, 1));
        }
    }

    @Test
    void read_nonBlockingWithoutData_isZero() throws IOException {
        try (Pair pair = connect()) {
            pair.server().configureBlocking(false);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isZero();
        }
    }

    @Test
    void write_nonBlockingToAPeerThatDoesNotRead_comesToAStopAndLosesNothing() throws IOException {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            ByteBuffer source = pattern(7, 16 << 20);
            int idle = 0;
            while (idle < 100) {
                idle = pair.client().write(source) == 0 ? idle + 1 : 0;
            }
            int accepted = source.position();
            assertThat(accepted).isBetween(1, source.capacity() - 1);
            pair.client().shutdownOutput();
            ByteBuffer expected = source.duplicate().flip();
            assertThat(readAll(pair.server(), accepted)).isEqualTo(expected);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    // -- ends --

    @Test
    void close_isSeenAsTheEndAfterAllData() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.client(), pattern(1, 100_000));
            pair.client().close();
            assertThat(readAll(pair.server(), 100_000)).isEqualTo(pattern(1, 100_000));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).as("again").isEqualTo(-1);
        }
    }

    @Test
    void shutdownOutput_leavesTheOtherDirectionOpen() throws IOException {
        try (Pair pair = connect()) {
            pair.client().shutdownOutput();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            writeAll(pair.server(), pattern(3, 50_000));
            assertThat(readAll(pair.client(), 50_000)).isEqualTo(pattern(3, 50_000));
            assertThatThrownBy(() -> pair.client().write(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
            pair.server().shutdownOutput();
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void shutdownInput_endsReadsOfOurs() throws Exception {
        try (Pair pair = connect()) {
            CompletableFuture<Integer> blocked = new CompletableFuture<>();
            Thread reader = start("reader", () -> blocked.complete(pair.client().read(ByteBuffer.allocate(1))));
            awaitBlocked(reader);
            pair.client().shutdownInput();
            assertThat(blocked.get(10, TimeUnit.SECONDS)).isEqualTo(-1);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            writeAll(pair.client(), pattern(1, 10));
            assertThat(readAll(pair.server(), 10)).isEqualTo(pattern(1, 10));
        }
    }

    /** A scatter over many buffers takes a while, in which the input is shut under the reader. */
    @Test
    void shutdownInput_duringARead_leavesTheStreamWhole() throws Exception {
        ByteBuffer[] targets = new ByteBuffer[50_000];
        Arrays.fill(targets, ByteBuffer.allocate(0));
        for (int round = 0; round < 20; round++) {
            try (Pair pair = connect()) {
                targets[targets.length - 1] = ByteBuffer.allocate(1000);
                writeAll(pair.client(), pattern(1, 1000));
                CompletableFuture<Long> read = new CompletableFuture<>();
                start("reader", () -> read.complete(pair.server().read(targets)));
                pair.server().shutdownInput();
                assertThat(read.get(10, TimeUnit.SECONDS)).isIn(-1L, 1000L);
                Thread writer = start("writer", () -> writeAll(pair.client(), pattern(2, 100_000)));
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                writeAll(pair.server(), pattern(3, 100_000));
                assertThat(readAll(pair.client(), 100_000)).isEqualTo(pattern(3, 100_000));
                writer.join(10_000);
                assertThat(writer.isAlive()).isFalse();
            }
        }
    }

    @Test
    void shutdownOutput_endsABlockedWrite() throws Exception {
        try (Pair pair = connect()) {
            assertEnds(
                            () -> {
                                while (true) {
                                    pair.client().write(pattern(1, 1 << 20));
                                }
                            },
                            pair.client()::shutdownOutput)
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void write_toAPeerThatHasClosed_failsBeforeLong() throws IOException {
        try (Pair pair = connect()) {
            pair.server().close();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            pair.client().write(pattern(1, 1000));
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void close_withLingerZero_isAReset() throws IOException {
        try (Pair pair = connect()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            for (int again = 0; again < 2; again++) {
                assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)))
                        .as("sticky")
                        .isInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            }
        }
    }

    @Test
    void closedChannel_saysSo() throws IOException {
        Pair pair = connect();
        pair.close();
        SocketChannel closed = pair.client();
        assertThatThrownBy(() -> closed.read(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> closed.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(closed::getLocalAddress).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(closed::shutdownOutput).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> closed.setOption(StandardSocketOptions.TCP_NODELAY, true))
                .isInstanceOf(ClosedChannelException.class);
        closed.close();
    }

    // -- asynchronous close and interrupt --

    @Test
    void close_endsABlockedRead() throws Exception {
        try (Pair pair = connect()) {
            assertEnds(() -> pair.client().read(ByteBuffer.allocate(1)), pair.client()::close)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void close_endsABlockedWrite() throws Exception {
        try (Pair pair = connect()) {
            assertEnds(
                            () -> {
                                while (true) {
                                    pair.client().write(pattern(1, 1 << 20));
                                }
                            },
                            pair.client()::close)
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void close_endsABlockedAccept() throws Exception {
        try (ServerSocketChannel listener = listen()) {
            assertEnds(listener::accept, listener::close).isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void interrupt_closesTheChannelOfABlockedRead() throws Exception {
        try (Pair pair = connect()) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            Thread reader = start("reader", () -> {
                try {
                    pair.client().read(ByteBuffer.allocate(1));
                    ended.complete(null);
                } catch (IOException e) {
                    ended.completeExceptionally(
                            Thread.interrupted() ? e : new AssertionError("interrupt status not set", e));
                }
            });
            awaitBlocked(reader);
            reader.interrupt();
            assertThatThrownBy(() -> ended.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.client().isOpen()).isFalse();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void interruptedThread_mayReadWithoutBlocking() throws IOException {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            Thread.currentThread().interrupt();
            try {
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
                assertThat(pair.client().isOpen()).isTrue();
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    private static org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> assertEnds(
            Action blocking, Action end) throws Exception {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Thread thread = start("blocked", () -> {
            try {
                blocking.run();
                ended.complete(null);
            } catch (Exception e) {
                ended.completeExceptionally(e);
            }
        });
        awaitBlocked(thread);
        end.run();
        return assertThatThrownBy(() -> ended.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause();
    }

    /** Waits until a thread stays for a while where threads wait: parked, or in a native call. */
    private static void awaitBlocked(Thread thread) {
        await().during(200, TimeUnit.MILLISECONDS).atMost(10, TimeUnit.SECONDS).until(() -> waits(thread));
    }

    private static boolean waits(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0
                && (stack[0].isNativeMethod() // as the JDK's own channels block, and parked threads
                        || Arrays.stream(stack)
                                .limit(8)
                                .anyMatch(frame -> frame.getClassName().equals("io.rdmanio.linux.Poll")));
    }

    @Test
    void close_endsABlockedFinishConnectOrConnect() throws Exception {
        for (int round = 0; round < 30; round++) {
            SocketChannel client = provider().openSocketChannel();
            try (ServerSocketChannel listener = listen()) {
                CompletableFuture<Boolean> ended = new CompletableFuture<>();
                start("connecting", () -> {
                    try {
                        ended.complete(client.connect(listener.getLocalAddress()));
                    } catch (ClosedChannelException e) {
                        ended.complete(false);
                    }
                });
                long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(200L * round);
                while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
                client.close();
                assertThat(ended.get(20, TimeUnit.SECONDS)).isIn(true, false);
            }
        }
    }

    /** At whatever moment of connecting the close comes, nothing is left behind, and no native object is used after its end. */
    @Test
    void close_atAnyMomentOfConnecting_isHarmless() throws Exception {
        int rounds = 300;
        try (ServerSocketChannel listener = provider().openServerSocketChannel().bind(anyPort(), 1000)) {
            for (int round = 0; round < rounds; round++) {
                SocketChannel client = provider().openSocketChannel();
                client.configureBlocking(false);
                client.connect(listener.getLocalAddress());
                TimeUnit.MICROSECONDS.sleep(10L * round);
                client.close();
            }
            try (SocketChannel last = provider().openSocketChannel()) {
                last.connect(listener.getLocalAddress());
                writeAll(last, pattern(1, 1));
                assertThat(acceptTheOneThatSent(listener)).isTrue();
            }
        }
    }

    private static boolean acceptTheOneThatSent(ServerSocketChannel listener) throws IOException {
        while (true) {
            try (SocketChannel server = listener.accept()) {
                if (readAll(server, 1).hasRemaining()) {
                    return true;
                }
            } catch (SocketException e) {
                assertThat(e).hasMessageContaining("reset"); // one that was closed while it connected
            }
        }
    }

    @Test
    void close_racingWithBind_leavesThePortFree() throws Exception {
        InetSocketAddress port = nobody();
        for (int round = 0; round < 50; round++) {
            SocketChannel channel = provider().openSocketChannel();
            CompletableFuture<Void> bound = new CompletableFuture<>();
            start("binding", () -> {
                try {
                    channel.bind(port);
                } catch (ClosedChannelException e) {
                    assertThat(channel.isOpen()).isFalse();
                } finally {
                    bound.complete(null);
                }
            });
            TimeUnit.MICROSECONDS.sleep(20L * round);
            channel.close();
            bound.get(10, TimeUnit.SECONDS);
            await().atMost(10, TimeUnit.SECONDS)
                    .ignoreExceptionsInstanceOf(BindException.class)
                    .until(() -> isFree(port));
            assertThat(isFree(port)).as("free as soon as close returns").isTrue();
        }
    }

    private boolean isFree(InetSocketAddress port) throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            channel.bind(port);
            return true;
        }
    }

    // -- virtual threads --

    @Test
    void virtualThreads_readWriteConnectAndAccept() throws Exception {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            CompletableFuture<ByteBuffer> received = new CompletableFuture<>();
            Thread server = Thread.startVirtualThread(() -> {
                try (SocketChannel accepted = listener.accept()) {
                    received.complete(readAll(accepted, 500_000));
                } catch (IOException e) {
                    received.completeExceptionally(e);
                }
            });
            Thread writer = Thread.startVirtualThread(() -> {
                try {
                    client.connect(listener.getLocalAddress());
                    writeAll(client, pattern(4, 500_000));
                } catch (IOException e) {
                    received.completeExceptionally(e);
                }
            });
            assertThat(received.get(60, TimeUnit.SECONDS)).isEqualTo(pattern(4, 500_000));
            writer.join();
            server.join();
        }
    }

    // -- options and adaptors --

    @Test
    void options_areKeptAndChecked() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            channel.setOption(StandardSocketOptions.SO_LINGER, 1 << 20);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(65_535);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 256 << 10);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(256 << 10);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> channel.supportedOptions().clear())
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void adaptor_readsWithinItsTimeout() throws IOException {
        try (Pair pair = connect()) {
            Socket socket = pair.client().socket();
            assertThat(pair.client().socket()).isSameAs(socket);
            assertThat(socket.getChannel()).isSameAs(pair.client());
            socket.setSoTimeout(100);
            InputStream input = socket.getInputStream();
            assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
            assertThat(socket.isClosed()).as("still usable").isFalse();
            OutputStream output = pair.server().socket().getOutputStream();
            output.write(new byte[] {1, 2, 3});
            assertThat(input.readNBytes(3)).containsExactly(1, 2, 3);
            pair.server().configureBlocking(false);
            assertThatThrownBy(() -> output.write(1)).isInstanceOf(IllegalBlockingModeException.class);
        }
    }

    @Test
    void adaptor_tellsItsAddressesAndState() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel();
                SocketChannel channel = provider().openSocketChannel()) {
            assertThat(listener.socket().isBound()).isFalse();
            assertThat(listener.socket().getLocalPort()).isEqualTo(-1);
            listener.socket().bind(anyPort(), 10);
            assertThat(listener.socket().isBound()).isTrue();
            Socket socket = channel.socket();
            assertThat(socket.isConnected()).isFalse();
            assertThat(socket.getLocalPort()).isEqualTo(-1);
            assertThat(socket.getPort()).isZero();
            assertThatThrownBy(socket::getInputStream)
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Socket is not connected");
            socket.connect(listener.getLocalAddress(), 10_000);
            assertThat(socket.isConnected()).isTrue();
            try (Socket accepted = listener.socket().accept()) {
                assertThat(accepted.getPort()).isEqualTo(socket.getLocalPort());
                assertThat(socket.getPort()).isEqualTo(listener.socket().getLocalPort());
                socket.setTcpNoDelay(true);
                assertThat(socket.getTcpNoDelay()).isTrue();
                socket.shutdownOutput();
                assertThat(socket.isOutputShutdown()).isTrue();
                assertThat(accepted.getInputStream().read()).isEqualTo(-1);
            }
            socket.close();
            assertThatThrownBy(() -> socket.setTcpNoDelay(false))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Socket is closed");
        }
    }

    @Test
    void adaptor_acceptsWithinItsTimeout() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            listener.socket().setSoTimeout(100);
            assertThatThrownBy(() -> listener.socket().accept()).isInstanceOf(SocketTimeoutException.class);
            listener.configureBlocking(false);
            listener.socket().setSoTimeout(0);
            assertThatThrownBy(() -> listener.socket().accept()).isInstanceOf(IllegalBlockingModeException.class);
        }
    }
}
