package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.junit.jupiter.api.Test;

/** How a socket channel gets bound and connected. */
abstract class ConnectContractTest extends ChannelContract {
    @Test
    void rule33_connect_beforeAnybodyAccepts_returns() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            assertThat(client.connect(listener.getLocalAddress())).isTrue();
            assertThat(client.isConnected()).isTrue();
            assertThat(client.finishConnect()).as("no-op when connected").isTrue();
            writeAll(client, pattern(1, 100));
            try (SocketChannel server = listener.accept()) {
                assertThat(readAll(server, 100)).isEqualTo(pattern(1, 100));
            }
        }
    }

    @Test
    void rule33_connect_toTheWildcard_reachesThisHost() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel().bind(null);
                SocketChannel client = provider().openSocketChannel()) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            InetSocketAddress target = new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), port);
            if (differs(Difference.LOOPBACK)) {
                assertThatThrownBy(() -> client.connect(target))
                        .isInstanceOf(NoRouteToHostException.class)
                        .hasMessageContaining("127.0.0.1");
                return;
            }
            client.connect(target);
            InetSocketAddress remote = (InetSocketAddress) client.getRemoteAddress();
            assertThat(remote.getAddress().isLoopbackAddress()).isTrue();
            assertThat(remote.getPort()).isEqualTo(port);
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
            }
        }
    }

    @Test
    void rule33_connect_toNobody_isRefusedAndClosesTheChannel() throws IOException {
        InetSocketAddress nobody = nobody();
        try (SocketChannel client = provider().openSocketChannel()) {
            assertThatThrownBy(() -> client.connect(nobody)).isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void rule33_connect_nonBlockingToNobody_failsInFinishConnectAndClosesTheChannel() throws IOException {
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
    void rule33_connect_nonBlocking_isFinishedByFinishConnect() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.isConnectionPending()).isTrue();
                assertThat(client.isConnected()).isFalse();
                assertThat(client.getRemoteAddress()).isEqualTo(listener.getLocalAddress());
                await().until(client::finishConnect);
            }
            assertThat(client.isConnected()).isTrue();
            assertThat(client.isConnectionPending()).isFalse();
        }
    }

    @Test
    void rule33_finishConnect_inBlockingMode_waits() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            client.configureBlocking(true);
            assertThat(client.finishConnect()).isTrue();
            assertThat(client.isConnected()).isTrue();
        }
    }

    @Test
    void rule33_connect_twice_isRefusedAndClosesNothing() throws IOException {
        try (Pair pair = connect()) {
            assertThatThrownBy(() -> pair.client().connect(pair.client().getRemoteAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThat(pair.client().isOpen())
                    .as("a programming error does not close")
                    .isTrue();
        }
        try (Crowd crowd = new Crowd(this);
                SocketChannel pending = provider().openSocketChannel()) {
            pending.configureBlocking(false);
            assertThat(pending.connect(crowd.address())).isFalse();
            assertThatThrownBy(() -> pending.connect(crowd.address())).isInstanceOf(ConnectionPendingException.class);
            assertThatThrownBy(() -> pending.bind(anyPort())).isInstanceOf(ConnectionPendingException.class);
            assertThatThrownBy(() -> pending.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThat(pending.finishConnect()).isFalse();
            assertThat(pending.isConnectionPending()).isTrue();
        }
    }

    @Test
    void rule33_connect_toWhatIsNoAddress_isRefusedBeforeTheStateIsLookedAt() throws IOException {
        SocketChannel channel = provider().openSocketChannel();
        for (boolean open : new boolean[] {true, false}) {
            assertThatThrownBy(() -> channel.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> channel.connect(UnixDomainSocketAddress.of("/nowhere")))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> channel.connect(null)).isInstanceOf(NullPointerException.class);
            assertThat(channel.isOpen()).isEqualTo(open);
            channel.close();
        }
        try (SocketChannel inet = provider().openSocketChannel(StandardProtocolFamily.INET)) {
            assertThatThrownBy(() -> inet.connect(new InetSocketAddress(InetAddress.ofLiteral("::1"), 1)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
        }
    }

    @Test
    void rule33_finishConnect_withoutConnect_isRefused() throws IOException {
        SocketChannel channel = provider().openSocketChannel();
        assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
        assertThat(channel.isOpen()).isTrue();
        channel.close();
        assertThatThrownBy(channel::finishConnect).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.connect(anyPort())).isExactlyInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule34_addresses_areNullThenSetAndGoneWithTheChannel() throws IOException {
        SocketChannel client = provider().openSocketChannel();
        try (ServerSocketChannel listener = listen()) {
            assertThat(client.getLocalAddress()).isNull();
            assertThat(client.getRemoteAddress()).isNull();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(client.getRemoteAddress()).isEqualTo(listener.getLocalAddress());
                assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                assertThat(server.getLocalAddress()).isEqualTo(client.getRemoteAddress());
            }
        } finally {
            client.close();
        }
        assertThatThrownBy(client::getLocalAddress).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(client::getRemoteAddress).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule34_bind_isSeenByThePeer() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.bind(anyPort());
            InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
            assertThat(bound.getPort()).isPositive();
            assertThatThrownBy(() -> client.bind(anyPort())).isInstanceOf(AlreadyBoundException.class);
            client.connect(listener.getLocalAddress());
            assertThatThrownBy(() -> client.bind(anyPort())).isInstanceOf(AlreadyBoundException.class);
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(bound);
            }
        }
    }

    @Test
    void rule34_bind_toTheWildcard_isMadeConcreteByConnect() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.bind(null);
            InetSocketAddress bound = (InetSocketAddress) client.getLocalAddress();
            assertThat(bound.getAddress().isAnyLocalAddress()).isTrue();
            client.connect(listener.getLocalAddress());
            InetSocketAddress connected = (InetSocketAddress) client.getLocalAddress();
            assertThat(connected.getPort()).isEqualTo(bound.getPort());
            assertThat(connected.getAddress().isAnyLocalAddress()).isFalse();
        }
    }

    @Test
    void rule34_bind_thatFails_leavesTheChannelAsItWas() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            assertThatThrownBy(() -> client.bind(listener.getLocalAddress())).isInstanceOf(BindException.class);
            assertThatThrownBy(() -> client.bind(UnixDomainSocketAddress.of("/nowhere")))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> client.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThat(client.getLocalAddress()).isNull();
            client.bind(anyPort());
            client.connect(listener.getLocalAddress());
            assertThat(client.isConnected()).isTrue();
        }
        SocketChannel closed = provider().openSocketChannel();
        closed.close();
        assertThatThrownBy(() -> closed.bind(anyPort())).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule34_toString_tellsStateAndAddresses() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            assertThat(client.toString()).endsWith("SocketChannel[unconnected]");
            client.connect(listener.getLocalAddress());
            assertThat(client.toString())
                    .contains("[connected local=" + client.getLocalAddress())
                    .endsWith("remote=" + client.getRemoteAddress() + "]");
            closeNow(client);
            assertThat(client.toString()).endsWith("SocketChannel[closed]");
        }
    }
}
