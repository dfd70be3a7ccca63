package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

/** A socket channel seen as a socket. */
abstract class SocketAdaptorContractTest extends ChannelContract {
    @Test
    void rule41_socket_isOneAndKnowsItsChannel() throws Exception {
        try (SocketChannel channel = provider().openSocketChannel()) {
            List<Doing<Socket>> askers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                askers.add(doing(channel::socket));
            }
            for (Doing<Socket> asker : askers) {
                assertThat(asker.get()).isSameAs(channel.socket());
            }
            assertThat(channel.socket().getChannel()).isSameAs(channel);
            closeNow(channel);
            assertThat(channel.socket().isClosed()).isTrue();
        }
    }

    @Test
    void rule41_socket_closesItsChannel() throws IOException {
        try (Pair pair = connect()) {
            pair.client().socket().close();
            assertThat(pair.client().isOpen()).isFalse();
            pair.client().socket().close();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.server().socket().getInputStream().close();
            assertThat(pair.server().isOpen())
                    .as("closing a stream closes the socket")
                    .isFalse();
        }
    }

    // -- streams --

    @Test
    void rule42_streamsAndConnect_needBlockingMode() throws IOException {
        try (Pair pair = connect();
                SocketChannel fresh = provider().openSocketChannel()) {
            InputStream input = pair.client().socket().getInputStream();
            OutputStream output = pair.client().socket().getOutputStream();
            pair.client().configureBlocking(false);
            assertThatThrownBy(input::read).isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> input.read(new byte[2])).isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> output.write(1)).isInstanceOf(IllegalBlockingModeException.class);
            assertThat(input.read(new byte[0])).as("nothing to do").isZero();
            output.write(new byte[0]);
            fresh.configureBlocking(false);
            assertThatThrownBy(() -> fresh.socket().connect(pair.client().getRemoteAddress()))
                    .isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> fresh.socket().connect(pair.client().getRemoteAddress(), 100))
                    .isInstanceOf(IllegalBlockingModeException.class);
            assertThat(fresh.isOpen()).isTrue();
        }
    }

    @Test
    void rule42_streams_carryBytes() throws Exception {
        try (Pair pair = connect()) {
            InputStream input = pair.client().socket().getInputStream();
            OutputStream output = pair.server().socket().getOutputStream();
            Thread writer = start("writer", () -> {
                output.write(0xfe);
                output.write(pattern(3, 200_000).array());
                output.write(pattern(4, 1000).array(), 10, 100);
                output.flush();
                pair.server().socket().shutdownOutput();
            });
            assertThat(input.read()).isEqualTo(0xfe);
            assertThat(input.readNBytes(200_000)).isEqualTo(pattern(3, 200_000).array());
            byte[] rest = new byte[200];
            int count = input.readNBytes(rest, 50, 150);
            assertThat(Arrays.copyOfRange(rest, 50, 50 + count))
                    .isEqualTo(Arrays.copyOfRange(pattern(4, 1000).array(), 10, 110));
            assertThat(input.read()).isEqualTo(-1);
            assertThat(input.read(rest)).isEqualTo(-1);
            writer.join();
            assertThatThrownBy(() -> input.read(rest, 199, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> output.write(rest, -1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void rule42_available_tellsWhatCanBeReadAtOnce() throws IOException {
        try (Pair pair = connect()) {
            InputStream input = pair.client().socket().getInputStream();
            assertThat(input.available()).isZero();
            writeAll(pair.server(), pattern(1, 100));
            await().until(() -> input.available() == 100);
            assertThat(input.readNBytes(40)).hasSize(40);
            assertThat(input.available()).isEqualTo(60);
            pair.client().shutdownInput();
            assertThat(input.available()).isZero();
            assertThat(input.read()).isEqualTo(-1);
        }
    }

    @Test
    void rule42_available_isToldWhileAnotherThreadReads() throws Exception {
        try (Pair pair = connect()) {
            InputStream input = pair.client().socket().getInputStream();
            Doing<Integer> reader = doing(input::read).blocked();
            assertThat(doing(input::available).get()).isZero();
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {3}));
            assertThat(reader.get()).isEqualTo(3);
        }
    }

    /** A stream's write that returns has written all, so one that can't does not return. */
    @Test
    void rule42_write_thatIsCutShort_throws() throws Exception {
        interface Cut {
            void by(Pair pair) throws IOException;
        }
        Cut reset = pair -> {
            pair.server().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.server().close();
        };
        Cut close = pair -> pair.client().close();
        Cut shutdown = pair -> pair.client().shutdownOutput();
        for (Cut cut : List.of(reset, close, shutdown)) {
            try (Pair pair = connect()) {
                OutputStream output = pair.client().socket().getOutputStream();
                Doing<Void> writer = doing(() -> {
                    output.write(new byte[32 << 20]);
                    return null;
                });
                awaitBlocked(writer.thread());
                cut.by(pair);
                writer.failed().isInstanceOf(IOException.class);
            }
        }
    }

    // -- timeouts --

    @Test
    void rule43_read_withinItsTimeout_leavesTheSocketUsable() throws IOException {
        try (Pair pair = connect()) {
            Socket socket = pair.client().socket();
            socket.setSoTimeout(100);
            assertThat(socket.getSoTimeout()).isEqualTo(100);
            InputStream input = socket.getInputStream();
            for (int again = 0; again < 2; again++) {
                assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
                assertThat(socket.isClosed()).isFalse();
            }
            pair.server().socket().getOutputStream().write(new byte[] {1, 2, 3});
            assertThat(input.readNBytes(3)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void rule43_read_ofTheChannel_ignoresTheTimeout() throws Exception {
        try (Pair pair = connect()) {
            pair.client().socket().setSoTimeout(50);
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
            assertThat(reader.isDone()).isFalse();
            writeAll(pair.server(), pattern(1, 1));
            assertThat(reader.get()).isOne();
        }
    }

    @Test
    void rule43_timeoutSetDuringARead_countsForTheNext() throws Exception {
        try (Pair pair = connect()) {
            InputStream input = pair.client().socket().getInputStream();
            Doing<Integer> reader = doing(input::read).blocked();
            pair.client().socket().setSoTimeout(50);
            reader.blocked();
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {1}));
            assertThat(reader.get()).isOne();
            assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void rule43_connect_beyondItsTimeout_closes() throws IOException {
        try (Crowd crowd = new Crowd(this);
                SocketChannel client = provider().openSocketChannel()) {
            assertThatThrownBy(() -> client.socket().connect(crowd.address(), 200))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void rule43_connect_withinItsTimeout_connects() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.socket().connect(listener.getLocalAddress(), (int) LONG_MILLIS);
            assertThat(client.isConnected()).isTrue();
            assertThat(client.isBlocking()).isTrue();
        }
    }

    /** Traffic in the other direction wakes the reader and gives it no more time. */
    @Test
    void rule44_read_withinItsTimeout_takesWakingsForNothing() throws Exception {
        try (Pair pair = connect()) {
            AtomicBoolean done = new AtomicBoolean();
            Doing<Void> writer = doing(() -> {
                while (!done.get()) {
                    writeAll(pair.client(), pattern(1, 1000));
                    assertThat(readAll(pair.server(), 1000).remaining()).isEqualTo(1000);
                }
                return null;
            });
            Socket socket = pair.client().socket();
            socket.setSoTimeout(500);
            InputStream input = socket.getInputStream();
            long start = System.nanoTime();
            assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
            assertThat(System.nanoTime() - start)
                    .isBetween(TimeUnit.MILLISECONDS.toNanos(495), TimeUnit.SECONDS.toNanos(15));
            done.set(true);
            writer.get();
        }
    }

    // -- addresses and state --

    @Test
    void rule45_addresses_ofASocketInEachState() throws IOException {
        SocketChannel channel = provider().openSocketChannel();
        Socket socket = channel.socket();
        assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
        assertThat(socket.getLocalPort()).isEqualTo(-1);
        assertThat(socket.getLocalSocketAddress()).isNull();
        assertThat(socket.getInetAddress()).isNull();
        assertThat(socket.getPort()).isZero();
        assertThat(socket.getRemoteSocketAddress()).isNull();
        assertThat(socket.isBound()).isFalse();
        assertThat(socket.isConnected()).isFalse();
        assertThat(socket.isClosed()).isFalse();
        assertThat(socket).hasToString("Socket[unconnected]");
        socket.bind(anyPort());
        assertThat(socket.isBound()).isTrue();
        assertThat(socket.getLocalPort()).isPositive();
        assertThat(socket.getLocalAddress()).isEqualTo(address());
        int port = socket.getLocalPort();
        try (ServerSocketChannel listener = listen()) {
            socket.connect(listener.getLocalAddress());
            assertThat(socket.isConnected()).isTrue();
            assertThat(socket.getLocalPort()).isEqualTo(port);
            assertThat(socket.getLocalSocketAddress()).isEqualTo(channel.getLocalAddress());
            assertThat(socket.getRemoteSocketAddress()).isEqualTo(listener.getLocalAddress());
            assertThat(socket.getInetAddress()).isEqualTo(address());
            assertThat(socket.getPort()).isEqualTo(listener.socket().getLocalPort());
            assertThat(socket.toString()).contains("port=" + socket.getPort(), "localport=" + port);
            assertThat(socket.isInputShutdown()).isFalse();
            assertThat(socket.isOutputShutdown()).isFalse();
            socket.shutdownInput();
            socket.shutdownOutput();
            assertThat(socket.isInputShutdown()).isTrue();
            assertThat(socket.isOutputShutdown()).isTrue();
        }
        socket.close();
        assertThat(socket.isClosed()).isTrue();
        assertThat(socket.getLocalAddress().isAnyLocalAddress()).as("closed").isTrue();
        assertThat(socket.getLocalPort()).as("closed").isEqualTo(port);
        assertThat(socket.isBound()).as("closed").isTrue();
    }

    // -- options --

    @Test
    void rule46_options_areThoseOfTheChannel() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            Socket socket = channel.socket();
            assertThat(socket.supportedOptions()).isEqualTo(channel.supportedOptions());
            for (boolean on : new boolean[] {true, false}) {
                socket.setTcpNoDelay(on);
                socket.setKeepAlive(on);
                socket.setReuseAddress(on);
                assertThat(socket.getTcpNoDelay()).isEqualTo(on);
                assertThat(socket.getKeepAlive()).isEqualTo(on);
                assertThat(socket.getReuseAddress()).isEqualTo(on);
                assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isEqualTo(on);
                assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE))
                        .isEqualTo(on);
                assertThat(channel.getOption(StandardSocketOptions.SO_REUSEADDR))
                        .isEqualTo(on);
            }
            socket.setSoLinger(true, 70_000);
            assertThat(socket.getSoLinger()).isEqualTo(65_535);
            socket.setSoLinger(false, 5);
            assertThat(socket.getSoLinger()).isEqualTo(-1);
            socket.setTrafficClass(0x10);
            assertThat(socket.getTrafficClass()).isEqualTo(0x10);
            socket.setSendBufferSize(32 << 10);
            socket.setReceiveBufferSize(32 << 10);
            assertThat(socket.getSendBufferSize()).isEqualTo(channel.getOption(StandardSocketOptions.SO_SNDBUF));
            assertThat(socket.getReceiveBufferSize()).isEqualTo(channel.getOption(StandardSocketOptions.SO_RCVBUF));
            assertThat(socket.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isSameAs(socket);
            assertThat(socket.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            socket.setPerformancePreferences(1, 2, 3);
        }
    }

    @Test
    void rule46_values_thatTheChannelTakesAndASocketDoesNot() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            Socket socket = channel.socket();
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 0);
            for (int wrong : new int[] {0, -1}) {
                assertThatThrownBy(() -> socket.setSendBufferSize(wrong)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> socket.setReceiveBufferSize(wrong))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> socket.setSoTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> socket.setTrafficClass(256)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> socket.connect(anyPort(), -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> socket.connect(null)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void rule46_urgentData_isOfTcpAlone() throws IOException {
        try (Pair pair = connect()) {
            Socket socket = pair.client().socket();
            if (differs(Difference.URGENT_DATA)) {
                assertThatThrownBy(() -> socket.sendUrgentData(1))
                        .isInstanceOf(SocketException.class)
                        .hasMessageContaining("Urgent data");
                assertThatThrownBy(() -> socket.setOOBInline(true)).isInstanceOf(SocketException.class);
                socket.setOOBInline(false);
            } else {
                pair.server().socket().setOOBInline(true);
                socket.sendUrgentData(1);
                assertThat(readAll(pair.server(), 1).get()).isEqualTo((byte) 1);
            }
            assertThat(socket.getOOBInline()).isFalse();
            socket.close();
            assertThatThrownBy(() -> socket.sendUrgentData(1)).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(socket::getOOBInline).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void rule46_closedSocket_saysSo() throws IOException {
        Socket socket = provider().openSocketChannel().socket();
        socket.close();
        List<ThrowableAssert.ThrowingCallable> calls = List.of(
                () -> socket.setSoTimeout(1),
                () -> socket.setSoTimeout(-1),
                socket::getSoTimeout,
                () -> socket.setTcpNoDelay(true),
                socket::getTcpNoDelay,
                () -> socket.setSoLinger(true, 1),
                socket::getSoLinger,
                () -> socket.setSendBufferSize(1000),
                socket::getSendBufferSize,
                () -> socket.setReceiveBufferSize(1000),
                socket::getReceiveBufferSize,
                () -> socket.setKeepAlive(true),
                socket::getKeepAlive,
                () -> socket.setTrafficClass(0),
                socket::getTrafficClass,
                () -> socket.setReuseAddress(true),
                socket::getReuseAddress,
                socket::getInputStream,
                socket::getOutputStream,
                () -> socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        for (ThrowableAssert.ThrowingCallable call : calls) {
            assertThatThrownBy(call).isExactlyInstanceOf(SocketException.class).hasMessage("Socket is closed");
        }
    }

    // -- exceptions --

    @Test
    void rule47_ioOfAClosedChannel_throwsWhatTheChannelDoes() throws IOException {
        Socket socket = provider().openSocketChannel().socket();
        socket.close();
        assertThatThrownBy(() -> socket.connect(anyPort())).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.connect(anyPort(), 100)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.bind(anyPort())).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(socket::shutdownInput).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(socket::shutdownOutput).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.setOption(StandardSocketOptions.TCP_NODELAY, true))
                .isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.getOption(StandardSocketOptions.TCP_NODELAY))
                .isExactlyInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule47_runtimeExceptionsOfTheChannel_becomeThoseOfSockets() throws IOException {
        try (Pair pair = connect();
                SocketChannel fresh = provider().openSocketChannel();
                ServerSocketChannel listener = listen()) {
            assertSocketException(
                    () -> pair.client().socket().connect(listener.getLocalAddress()),
                    "Already connected",
                    AlreadyConnectedException.class);
            assertSocketException(
                    () -> pair.client().socket().bind(anyPort()), "Already bound", AlreadyBoundException.class);
            assertSocketException(
                    fresh.socket()::shutdownInput, "Socket is not connected", NotYetConnectedException.class);
            assertSocketException(
                    fresh.socket()::shutdownOutput, "Socket is not connected", NotYetConnectedException.class);
            assertSocketException(
                    () -> fresh.socket().bind(UnixDomainSocketAddress.of("/nowhere")),
                    "Unsupported address type",
                    UnsupportedAddressTypeException.class);
            assertSocketException(
                    () -> fresh.socket().connect(UnixDomainSocketAddress.of("/nowhere")),
                    "Unsupported address type",
                    UnsupportedAddressTypeException.class);
            assertSocketException(
                    () -> fresh.socket().bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)),
                    "Unresolved address",
                    UnresolvedAddressException.class);
            assertThat(fresh.isOpen()).isTrue();
            assertThatThrownBy(() ->
                            pair.client().socket().connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Already connected");
            assertThatThrownBy(() -> fresh.socket().connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnknownHostException.class);
            assertThat(fresh.isOpen()).as("after an unknown host").isFalse();
        }
    }

    private static void assertSocketException(
            ThrowableAssert.ThrowingCallable call, String text, Class<? extends Throwable> cause) {
        assertThatThrownBy(call)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage(text)
                .hasCauseExactlyInstanceOf(cause);
    }

    @Test
    void rule47_otherExceptions_pass() throws IOException {
        try (Crowd crowd = new Crowd(this);
                SocketChannel pending = provider().openSocketChannel();
                ServerSocketChannel listener = listen();
                SocketChannel refused = provider().openSocketChannel()) {
            pending.configureBlocking(false);
            pending.connect(crowd.address());
            assertThatThrownBy(() -> pending.socket().bind(anyPort())).isInstanceOf(ConnectionPendingException.class);
            assertThatThrownBy(() -> pending.socket().setTrafficClass(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pending.socket().setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> refused.socket().bind(listener.getLocalAddress()))
                    .isInstanceOf(BindException.class);
            InetSocketAddress nobody = nobody();
            assertThatThrownBy(() -> refused.socket().connect(nobody)).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void rule48_streams_areRefusedWithTheReason() throws IOException {
        try (Pair pair = connect();
                SocketChannel fresh = provider().openSocketChannel()) {
            assertRefusesStreams(fresh.socket(), "Socket is not connected", "Socket is not connected");
            Socket socket = pair.client().socket();
            assertThat(socket.getInputStream().available()).isZero();
            socket.shutdownInput();
            assertThatThrownBy(socket::getInputStream).hasMessage("Socket input is shutdown");
            socket.shutdownOutput();
            assertRefusesStreams(socket, "Socket input is shutdown", "Socket output is shutdown");
            socket.close();
            assertRefusesStreams(socket, "Socket is closed", "Socket is closed");
        }
    }

    private static void assertRefusesStreams(Socket socket, String input, String output) {
        assertThatThrownBy(socket::getInputStream)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage(input);
        assertThatThrownBy(socket::getOutputStream)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage(output);
    }

    @Test
    void rule43_close_endsABlockedStream() throws Exception {
        try (Pair pair = connect()) {
            InputStream input = pair.client().socket().getInputStream();
            Doing<Integer> reader = doing(input::read).blocked();
            pair.client().socket().close();
            reader.failed().isInstanceOf(ClosedChannelException.class);
        }
    }
}
