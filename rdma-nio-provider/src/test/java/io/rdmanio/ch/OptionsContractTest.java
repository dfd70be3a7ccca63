package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

/** Socket options: which there are, what is a value, and what they do. */
abstract class OptionsContractTest extends ChannelContract {
    private static final List<SocketOption<?>> SOCKET = List.of(
            StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_KEEPALIVE,
            StandardSocketOptions.SO_REUSEADDR,
            StandardSocketOptions.SO_REUSEPORT,
            StandardSocketOptions.SO_LINGER,
            StandardSocketOptions.TCP_NODELAY,
            StandardSocketOptions.IP_TOS,
            ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT);

    private static final List<SocketOption<?>> SERVER_SOCKET = List.of(
            StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_REUSEADDR,
            ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT);

    /** What TCP or its network devices have and RDMA has nothing like. */
    private static final Set<String> OF_TCP_ALONE = Set.of("TCP_QUICKACK", "SO_INCOMING_NAPI_ID", "SO_OOBINLINE");

    private List<NetworkChannel> channels() throws IOException {
        return List.of(provider().openSocketChannel(), provider().openServerSocketChannel());
    }

    @Test
    void rule40_supportedOptions_areAllThatMeanSomething() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel();
                ServerSocketChannel listener = provider().openServerSocketChannel()) {
            assertThat(channel.supportedOptions()).containsAll(SOCKET);
            assertThat(listener.supportedOptions()).containsAll(SERVER_SOCKET);
            assertThat(listener.supportedOptions().contains(StandardSocketOptions.SO_REUSEPORT))
                    .isNotEqualTo(differs(Difference.SHARED_LISTENERS));
            assertThat(listener.supportedOptions())
                    .doesNotContain(StandardSocketOptions.SO_LINGER, StandardSocketOptions.TCP_NODELAY);
        }
    }

    /** None that the JDK has is missing but those of the list; none is there that it has not. */
    @Test
    void rule40_supportedOptions_areThoseOfTheJdk() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel();
                ServerSocketChannel listener = provider().openServerSocketChannel();
                SocketChannel jdkChannel = JdkTransport.jdk().openSocketChannel();
                ServerSocketChannel jdkListener = JdkTransport.jdk().openServerSocketChannel()) {
            Set<SocketOption<?>> ofTheJdk = new HashSet<>(jdkChannel.supportedOptions());
            Set<SocketOption<?>> ofItsListener = new HashSet<>(jdkListener.supportedOptions());
            if (differs(Difference.OPTIONS_OF_TCP)) {
                ofTheJdk.removeIf(option -> OF_TCP_ALONE.contains(option.name()));
                ofItsListener.removeIf(option -> OF_TCP_ALONE.contains(option.name()));
            }
            if (differs(Difference.SHARED_LISTENERS)) {
                ofItsListener.remove(StandardSocketOptions.SO_REUSEPORT);
            }
            assertThat(channel.supportedOptions()).isEqualTo(ofTheJdk);
            assertThat(listener.supportedOptions()).isEqualTo(ofItsListener);
        }
    }

    @Test
    void rule40_supportedOptions_canNotBeChanged() throws IOException {
        for (NetworkChannel channel : channels()) {
            try (channel) {
                assertThatThrownBy(() -> channel.supportedOptions().clear())
                        .isInstanceOf(UnsupportedOperationException.class);
                assertThatThrownBy(() -> channel.supportedOptions().add(StandardSocketOptions.IP_MULTICAST_TTL))
                        .isInstanceOf(UnsupportedOperationException.class);
            }
            assertThat(channel.supportedOptions()).as("of a closed channel").isNotEmpty();
        }
    }

    @Test
    void rule39_option_isCheckedBeforeTheChannelIsLookedAt() throws IOException {
        for (NetworkChannel channel : channels()) {
            for (int again = 0; again < 2; again++) {
                assertThatThrownBy(() -> channel.setOption(null, 1)).isInstanceOf(NullPointerException.class);
                assertThatThrownBy(() -> channel.getOption(null)).isInstanceOf(NullPointerException.class);
                assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
                        .isInstanceOf(UnsupportedOperationException.class);
                assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL))
                        .isInstanceOf(UnsupportedOperationException.class);
                assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, null))
                        .isInstanceOf(IllegalArgumentException.class);
                channel.close(); // the second time it is closed
            }
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, 10_000))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.SO_RCVBUF))
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void rule39_value_ofTheWrongType_isRefused() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            SocketOption anyOption = StandardSocketOptions.SO_RCVBUF;
            assertThatThrownBy(() -> channel.setOption(anyOption, "big")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(anyOption, true)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void rule39_value_outOfRange_isRefused() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel();
                ServerSocketChannel listener = provider().openServerSocketChannel()) {
            for (SocketOption<Integer> option :
                    List.of(StandardSocketOptions.SO_SNDBUF, StandardSocketOptions.SO_RCVBUF)) {
                assertThatThrownBy(() -> channel.setOption(option, -1)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> listener.setOption(StandardSocketOptions.SO_RCVBUF, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            for (int wrong : new int[] {-1, 256}) {
                assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_TOS, wrong))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            for (SocketOption<Integer> option : keepAlive()) {
                for (int wrong : new int[] {-1, 0, 40_000}) {
                    assertThatThrownBy(() -> channel.setOption(option, wrong))
                            .as("%s = %d", option, wrong)
                            .isInstanceOf(SocketException.class);
                    assertThatThrownBy(() -> listener.setOption(option, wrong))
                            .as("%s = %d", option, wrong)
                            .isInstanceOf(SocketException.class);
                }
            }
        }
    }

    private static List<SocketOption<Integer>> keepAlive() {
        return List.of(
                ExtendedSocketOptions.TCP_KEEPIDLE,
                ExtendedSocketOptions.TCP_KEEPINTERVAL,
                ExtendedSocketOptions.TCP_KEEPCOUNT);
    }

    @Test
    void rule39_linger_isClamped() throws IOException {
        try (SocketChannel channel = provider().openSocketChannel()) {
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            channel.setOption(StandardSocketOptions.SO_LINGER, 1 << 20);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(65_535);
            channel.setOption(StandardSocketOptions.SO_LINGER, -5);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isZero();
        }
    }

    @Test
    void rule39_options_haveTheirDefaultsAndAreKept() throws IOException {
        try (Pair pair = connect();
                SocketChannel ofTheJdk = JdkTransport.jdk().openSocketChannel();
                SocketChannel fresh = provider().openSocketChannel()) {
            for (SocketChannel channel : List.of(fresh, pair.client(), pair.server())) {
                assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE))
                        .isFalse();
                for (SocketOption<Integer> option : keepAlive()) {
                    assertThat(channel.getOption(option)).as("%s", option).isEqualTo(ofTheJdk.getOption(option));
                }
                assertThat(channel.getOption(StandardSocketOptions.IP_TOS)).isZero();
                for (boolean on : new boolean[] {true, false}) {
                    for (SocketOption<Boolean> option : List.of(
                            StandardSocketOptions.SO_KEEPALIVE,
                            StandardSocketOptions.SO_REUSEADDR,
                            StandardSocketOptions.SO_REUSEPORT,
                            StandardSocketOptions.TCP_NODELAY)) {
                        assertThat(channel.setOption(option, on)).isSameAs(channel);
                        assertThat(channel.getOption(option))
                                .as("%s of %s", option, channel)
                                .isEqualTo(on);
                    }
                }
                for (SocketOption<Integer> option : keepAlive()) {
                    channel.setOption(option, 17);
                    assertThat(channel.getOption(option)).as("%s", option).isEqualTo(17);
                }
                channel.setOption(StandardSocketOptions.IP_TOS, 0x68);
                assertThat(channel.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x68);
            }
        }
    }

    @Test
    void rule39_buffers_mayBeOfAnySizeAndCarryTheirBytes() throws Exception {
        for (int size : new int[] {0, 1, 10_000, 1 << 20}) {
            try (ServerSocketChannel listener = provider().openServerSocketChannel();
                    SocketChannel client = provider().openSocketChannel()) {
                listener.setOption(StandardSocketOptions.SO_RCVBUF, size).bind(anyPort());
                client.setOption(StandardSocketOptions.SO_SNDBUF, size);
                client.setOption(StandardSocketOptions.SO_RCVBUF, size);
                assertThat(client.getOption(StandardSocketOptions.SO_SNDBUF)).isPositive();
                client.connect(listener.getLocalAddress());
                try (SocketChannel server = listener.accept()) {
                    for (Pair pair : List.of(new Pair(client, server), new Pair(server, client))) {
                        Thread writer = start("writer", () -> writeAll(pair.client(), pattern(size, 100_000)));
                        assertThat(readAll(pair.server(), 100_000)).isEqualTo(pattern(size, 100_000));
                        writer.join();
                    }
                }
            }
        }
    }

    @Test
    void rule39_buffers_setOnAConnectedChannel_areKeptOrFixed() throws IOException {
        try (Pair pair = connect()) {
            int before = pair.client().getOption(StandardSocketOptions.SO_SNDBUF);
            pair.client().setOption(StandardSocketOptions.SO_SNDBUF, 20_000);
            int after = pair.client().getOption(StandardSocketOptions.SO_SNDBUF);
            assertThat(after).isEqualTo(differs(Difference.BUFFER_SIZES) ? before : 20_000);
        }
    }

    // -- what they do --

    @Test
    void rule39_reuseAddress_letsTwoSocketsConnectFromOnePort() throws IOException {
        assertThatSocketsShareAPort(StandardSocketOptions.SO_REUSEADDR);
    }

    @Test
    void rule39_reusePort_letsTwoSocketsConnectFromOnePort() throws IOException {
        assertThatSocketsShareAPort(StandardSocketOptions.SO_REUSEPORT);
    }

    private void assertThatSocketsShareAPort(SocketOption<Boolean> option) throws IOException {
        try (ServerSocketChannel one = listen();
                ServerSocketChannel two = listen();
                SocketChannel first = provider().openSocketChannel();
                SocketChannel second = provider().openSocketChannel();
                SocketChannel third = provider().openSocketChannel()) {
            first.setOption(option, true).bind(anyPort());
            second.setOption(option, true).bind(first.getLocalAddress());
            assertThatThrownBy(() -> third.bind(first.getLocalAddress())).isInstanceOf(BindException.class);
            first.connect(one.getLocalAddress());
            second.connect(two.getLocalAddress());
            try (SocketChannel atOne = one.accept();
                    SocketChannel atTwo = two.accept()) {
                assertThat(atOne.getRemoteAddress()).isEqualTo(atTwo.getRemoteAddress());
                writeAll(first, pattern(1, 10));
                writeAll(second, pattern(2, 10));
                assertThat(readAll(atOne, 10)).isEqualTo(pattern(1, 10));
                assertThat(readAll(atTwo, 10)).isEqualTo(pattern(2, 10));
            }
        }
    }

    @Test
    void rule39_keepAlive_settingsOfAListener_areInherited() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            int value = 100;
            for (SocketOption<Integer> option : keepAlive()) {
                assertThat(listener.setOption(option, value)).isSameAs(listener);
                assertThat(listener.getOption(option)).isEqualTo(value);
                value++;
            }
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                value = 100;
                for (SocketOption<Integer> option : keepAlive()) {
                    assertThat(server.getOption(option)).as("%s", option).isEqualTo(value++);
                }
            }
        }
    }

    @Test
    void rule39_keepAlive_letsALivingPeerLive() throws Exception {
        try (Pair pair = connect()) {
            for (SocketChannel end : List.of(pair.client(), pair.server())) {
                end.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
                end.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
                end.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 1);
                end.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            }
            Doing<Byte> reader = doing(() -> readAll(pair.client(), 1).get());
            TimeUnit.MILLISECONDS.sleep(3500);
            assertThat(reader.isDone()).isFalse();
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {9}));
            assertThat(reader.get()).isEqualTo((byte) 9);
        }
    }

    @Test
    void rule39_linger_letsCloseWaitForTheTail() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            long written = fill(pair.client());
            pair.client().configureBlocking(true);
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 30);
            Doing<Void> closer = doing(() -> {
                pair.client().close();
                return null;
            });
            if (!differs(Difference.LINGER)) {
                closer.blocked();
            }
            assertThat(readAll(pair.server(), (int) written + 1).remaining()).isEqualTo((int) written);
            closer.get();
        }
    }

    @Test
    void rule39_linger_bounded_letsCloseReturn() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            fill(pair.client());
            pair.client().configureBlocking(true);
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 1);
            long start = System.nanoTime();
            pair.client().close();
            long least = differs(Difference.LINGER) ? 0 : TimeUnit.MILLISECONDS.toNanos(900);
            assertThat(System.nanoTime() - start).isBetween(least, TimeUnit.SECONDS.toNanos(20));
        }
    }
}
