package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** How a server socket channel gets bound, and what it accepts. */
abstract class AcceptContractTest extends ChannelContract {
    @Test
    void rule36_bind_onAPortInUse_isRefused() throws IOException {
        try (ServerSocketChannel listener = listen();
                ServerSocketChannel second = provider().openServerSocketChannel()) {
            assertThatThrownBy(() -> second.bind(listener.getLocalAddress())).isInstanceOf(BindException.class);
            assertThat(second.getLocalAddress()).isNull();
            second.bind(anyPort());
            assertThatThrownBy(() -> listener.bind(anyPort())).isInstanceOf(AlreadyBoundException.class);
        }
    }

    @Test
    void rule36_bind_onAPortJustClosed_works() throws IOException {
        InetSocketAddress port = nobody();
        for (int i = 0; i < 3; i++) {
            try (ServerSocketChannel listener = provider().openServerSocketChannel()) {
                listener.bind(port);
            }
        }
    }

    @Test
    void rule36_bind_toNull_isAnyPortOfTheChannelsFamily() throws IOException {
        try (ServerSocketChannel both = provider().openServerSocketChannel().bind(null);
                ServerSocketChannel inet = provider()
                        .openServerSocketChannel(StandardProtocolFamily.INET)
                        .bind(null);
                SocketChannel client = provider().openSocketChannel()) {
            InetSocketAddress wildcard = (InetSocketAddress) both.getLocalAddress();
            assertThat(wildcard.getAddress()).isInstanceOf(Inet6Address.class);
            assertThat(wildcard.getAddress().isAnyLocalAddress()).isTrue();
            assertThat(wildcard.getPort()).isPositive();
            assertThat(((InetSocketAddress) inet.getLocalAddress()).getAddress())
                    .isInstanceOf(Inet4Address.class);
            client.connect(new InetSocketAddress(address(), wildcard.getPort()));
            try (SocketChannel server = both.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
            }
        }
    }

    @Test
    void rule36_bind_toWhatIsNoAddress_isRefused() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel(StandardProtocolFamily.INET)) {
            assertThatThrownBy(() -> listener.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> listener.bind(UnixDomainSocketAddress.of("/nowhere")))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> listener.bind(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThat(listener.getLocalAddress()).isNull();
        }
    }

    @Test
    void rule36_bind_withABacklogBelowOne_hasRoomForFifty() throws IOException {
        for (int backlog : new int[] {0, -7}) {
            List<SocketChannel> clients = new ArrayList<>();
            try (ServerSocketChannel listener =
                    provider().openServerSocketChannel().bind(anyPort(), backlog)) {
                for (int i = 0; i < 50; i++) {
                    SocketChannel client = provider().openSocketChannel();
                    clients.add(client);
                    client.connect(listener.getLocalAddress());
                }
            } finally {
                for (SocketChannel client : clients) {
                    client.close();
                }
            }
            assertThat(clients).hasSize(50);
        }
    }

    @Test
    void rule36_accept_inEachState_asSpecified() throws IOException {
        ServerSocketChannel listener = provider().openServerSocketChannel();
        assertThat(listener.getLocalAddress()).isNull();
        assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
        listener.configureBlocking(false);
        assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
        listener.bind(anyPort());
        assertThat(listener.accept()).isNull();
        listener.close();
        assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(listener::getLocalAddress).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> listener.bind(anyPort())).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule36_backlog_beyondWhichPeersWait_isTakenUpAsTheApplicationAccepts() throws Exception {
        try (ServerSocketChannel listener = provider().openServerSocketChannel().bind(anyPort(), 1)) {
            int many = 4;
            List<Doing<SocketChannel>> clients = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                clients.add(doing(() -> {
                    SocketChannel client = provider().openSocketChannel();
                    client.connect(listener.getLocalAddress());
                    return client;
                }));
            }
            for (int i = 0; i < many; i++) {
                listener.accept().close();
            }
            for (Doing<SocketChannel> client : clients) {
                client.get().close();
            }
        }
    }

    @Test
    void rule37_accept_whateverTheListenersMode_givesBlockingChannels() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel one = provider().openSocketChannel();
                SocketChannel two = provider().openSocketChannel()) {
            one.connect(listener.getLocalAddress());
            try (SocketChannel accepted = listener.accept()) {
                assertThat(accepted.isBlocking()).isTrue();
            }
            listener.configureBlocking(false);
            assertThat(listener.accept()).isNull();
            two.connect(listener.getLocalAddress());
            AtomicReference<SocketChannel> accepted = new AtomicReference<>();
            await().until(() -> {
                accepted.set(listener.accept());
                return accepted.get() != null;
            });
            try (SocketChannel channel = accepted.get()) {
                assertThat(channel.isBlocking()).isTrue();
                assertThat(channel.isConnected()).isTrue();
                assertThat(channel.provider()).isSameAs(provider());
            }
        }
    }

    @Test
    void rule38_accept_inheritsTheReceiveBufferSetBeforeBind() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel();
                SocketChannel client = provider().openSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 48 << 10).bind(anyPort());
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getOption(StandardSocketOptions.SO_RCVBUF))
                        .isEqualTo(listener.getOption(StandardSocketOptions.SO_RCVBUF))
                        .isGreaterThanOrEqualTo(48 << 10);
                writeAll(client, pattern(9, 20_000));
                assertThat(readAll(server, 20_000)).isEqualTo(pattern(9, 20_000));
            }
        }
    }

    /** What a connection is made with is read from the listener when its request comes. */
    @Test
    void rule61_accept_inheritsTheReceiveBufferOfTheMomentOfTheRequest() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            for (int size : new int[] {32 << 10, 64 << 10}) {
                listener.setOption(StandardSocketOptions.SO_RCVBUF, size);
                try (SocketChannel client = provider().openSocketChannel()) {
                    client.connect(listener.getLocalAddress());
                    try (SocketChannel server = listener.accept()) {
                        assertThat(server.getOption(StandardSocketOptions.SO_RCVBUF))
                                .isEqualTo(listener.getOption(StandardSocketOptions.SO_RCVBUF))
                                .isGreaterThanOrEqualTo(size);
                    }
                }
            }
        }
    }
}
