package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

/** A server socket channel seen as a server socket. */
abstract class ServerSocketAdaptorContractTest extends ChannelContract {
    @Test
    void rule41_serverSocket_isOneAndKnowsItsChannel() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel()) {
            assertThat(listener.socket()).isSameAs(listener.socket());
            assertThat(listener.socket().getChannel()).isSameAs(listener);
            listener.socket().close();
            assertThat(listener.isOpen()).isFalse();
            assertThat(listener.socket().isClosed()).isTrue();
        }
    }

    @Test
    void rule42_accept_inNonBlockingMode_givesWhatWaitsAndWaitsForNothing() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            listener.configureBlocking(false);
            assertThatThrownBy(() -> listener.socket().accept()).isInstanceOf(IllegalBlockingModeException.class);
            client.connect(listener.getLocalAddress());
            try (Selector selector = provider().openSelector()) {
                SelectionKey key = listener.register(selector, ACCEPT);
                selectUntil(selector, key, ACCEPT);
                listener.socket().setSoTimeout(100);
                assertThatThrownBy(() -> listener.socket().accept())
                        .as("with a timeout it never does")
                        .isInstanceOf(IllegalBlockingModeException.class);
                listener.socket().setSoTimeout(0);
                try (Socket accepted = listener.socket().accept()) {
                    assertThat(accepted.getPort()).isEqualTo(client.socket().getLocalPort());
                    assertThat(accepted.getChannel().isBlocking()).isTrue();
                }
            }
        }
    }

    @Test
    void rule43_accept_withinItsTimeout_leavesTheListenerUsable() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            ServerSocket socket = listener.socket();
            socket.setSoTimeout(100);
            assertThat(socket.getSoTimeout()).isEqualTo(100);
            long start = System.nanoTime();
            assertThatThrownBy(socket::accept).isInstanceOf(SocketTimeoutException.class);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(95));
            socket.setSoTimeout((int) LONG_MILLIS);
            client.connect(listener.getLocalAddress());
            try (Socket accepted = socket.accept()) {
                assertThat(accepted.isConnected()).isTrue();
            }
        }
    }

    @Test
    void rule43_accept_ofTheChannel_ignoresTheTimeout() throws Exception {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            listener.socket().setSoTimeout(50);
            Doing<SocketChannel> acceptor = doing(listener::accept).blocked();
            TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
            assertThat(acceptor.isDone()).isFalse();
            client.connect(listener.getLocalAddress());
            acceptor.get().close();
        }
    }

    @Test
    void rule45_addresses_ofAServerSocketInEachState() throws IOException {
        ServerSocketChannel listener = provider().openServerSocketChannel();
        ServerSocket socket = listener.socket();
        assertThat(socket.isBound()).isFalse();
        assertThat(socket.getInetAddress()).isNull();
        assertThat(socket.getLocalPort()).isEqualTo(-1);
        assertThat(socket.getLocalSocketAddress()).isNull();
        assertThat(socket).hasToString("ServerSocket[unbound]");
        socket.bind(anyPort(), 10);
        assertThat(socket.isBound()).isTrue();
        assertThat(socket.getInetAddress()).isEqualTo(address());
        assertThat(socket.getLocalSocketAddress()).isEqualTo(listener.getLocalAddress());
        int port = socket.getLocalPort();
        assertThat(port).isPositive();
        assertThat(socket.toString()).contains("localport=" + port);
        socket.close();
        assertThat(socket.isClosed()).isTrue();
        assertThat(socket.isBound()).as("closed").isTrue();
        assertThat(socket.getLocalPort()).as("closed").isEqualTo(port);
    }

    @Test
    void rule45_bind_toNull_isAnyPort() throws IOException {
        try (ServerSocketChannel one = provider().openServerSocketChannel();
                ServerSocketChannel two = provider().openServerSocketChannel()) {
            one.socket().bind(null);
            two.socket().bind(null, 5);
            assertThat(one.socket().getInetAddress().isAnyLocalAddress()).isTrue();
            assertThat(two.socket().getLocalPort()).isPositive();
        }
    }

    @Test
    void rule46_options_areThoseOfTheChannel() throws IOException {
        ServerSocketChannel listener = provider().openServerSocketChannel();
        ServerSocket socket = listener.socket();
        assertThat(socket.supportedOptions()).isEqualTo(listener.supportedOptions());
        assertThat(socket.getReuseAddress()).isTrue();
        socket.setReuseAddress(false);
        assertThat(socket.getReuseAddress()).isFalse();
        assertThat(listener.getOption(StandardSocketOptions.SO_REUSEADDR)).isFalse();
        socket.setReceiveBufferSize(64 << 10);
        assertThat(socket.getReceiveBufferSize()).isEqualTo(listener.getOption(StandardSocketOptions.SO_RCVBUF));
        assertThat(socket.setOption(StandardSocketOptions.SO_RCVBUF, 32 << 10)).isSameAs(socket);
        assertThat(socket.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(32 << 10);
        socket.setPerformancePreferences(1, 2, 3);
        for (int wrong : new int[] {0, -1}) {
            assertThatThrownBy(() -> socket.setReceiveBufferSize(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> socket.setSoTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
        socket.close();
        List<ThrowableAssert.ThrowingCallable> calls = List.of(
                () -> socket.setSoTimeout(1),
                socket::getSoTimeout,
                () -> socket.setReuseAddress(true),
                socket::getReuseAddress,
                () -> socket.setReceiveBufferSize(1000),
                socket::getReceiveBufferSize);
        for (ThrowableAssert.ThrowingCallable call : calls) {
            assertThatThrownBy(call).isExactlyInstanceOf(SocketException.class).hasMessage("Socket is closed");
        }
    }

    @Test
    void rule47_exceptions_areThoseOfSocketsOrOfTheChannel() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel();
                ServerSocketChannel other = listen()) {
            ServerSocket socket = listener.socket();
            assertSocketException(socket::accept, "Socket is not bound yet", NotYetBoundException.class);
            assertSocketException(
                    () -> socket.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)),
                    "Unresolved address",
                    UnresolvedAddressException.class);
            assertSocketException(
                    () -> socket.bind(UnixDomainSocketAddress.of("/nowhere")),
                    "Unsupported address type",
                    UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> socket.bind(other.getLocalAddress())).isInstanceOf(BindException.class);
            socket.bind(anyPort());
            assertSocketException(() -> socket.bind(anyPort()), "Already bound", AlreadyBoundException.class);
            socket.close();
            assertThatThrownBy(socket::accept).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> socket.bind(anyPort())).isExactlyInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> socket.getOption(StandardSocketOptions.SO_RCVBUF))
                    .isExactlyInstanceOf(ClosedChannelException.class);
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
    void rule47_close_endsABlockedAccept() throws Exception {
        try (ServerSocketChannel listener = listen()) {
            listener.socket().setSoTimeout((int) LONG_MILLIS);
            Doing<Socket> acceptor = doing(listener.socket()::accept).blocked();
            listener.socket().close();
            acceptor.failed().isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }
}
