package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rdmanio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A peer whose queue pair is in ERROR tells nobody: only who asks for a sign of life hears of it. */
@Tag("rdma")
class KeepAliveTest {
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider();

    /** So few that a dead peer is found, by the slowest of ways, in three seconds. */
    private static final int PROBES = 2;

    /** Longer than it takes to find a dead peer. */
    private static final long SILENCE_MILLIS = 4_000;

    private ServerSocketChannel listener;
    private RawPeer peer;
    private SocketChannel channel;

    @BeforeEach
    void connect() throws IOException {
        listener = PROVIDER.openServerSocketChannel()
                .bind(new InetSocketAddress(System.getProperty("io.rdmanio.test.address"), 0));
        peer = RawPeer.connect((InetSocketAddress) listener.getLocalAddress());
        channel = listener.accept();
        channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1)
                .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1)
                .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    }

    @AfterEach
    void close() throws IOException {
        try (ServerSocketChannel closing = listener;
                SocketChannel victim = channel) {
            peer.close();
            assertThat(closing.isOpen()).isEqualTo(victim.isOpen());
        }
    }

    private CompletableFuture<Integer> reading() {
        CompletableFuture<Integer> read = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                read.complete(channel.read(ByteBuffer.allocate(1)));
            } catch (IOException e) {
                read.completeExceptionally(e);
            }
        });
        return read;
    }

    @Test
    void deadPeer_isFoundByWhoeverSleeps() throws Exception {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        CompletableFuture<Integer> read = reading();
        peer.fail();
        assertThatThrownBy(() -> read.get(50, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(SocketException.class)
                .hasMessage("Connection reset");
    }

    @Test
    void deadPeer_isFoundByASelector() throws Exception {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        try (Selector selector = PROVIDER.openSelector()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            peer.fail();
            assertThat(selector.select(50_000)).isOne();
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1))).hasMessage("Connection reset");
        }
    }

    /** Without which the two tests before would show nothing. */
    @Test
    void deadPeer_isNotFoundByWhoDoesNotAsk() throws Exception {
        assumeThat(peer.tellsOfItsFailure())
                .as("TCP below ends with the queue pair")
                .isFalse();
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, false);
        CompletableFuture<Integer> read = reading();
        peer.fail();
        assertThatThrownBy(() -> read.get(SILENCE_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
    }

    /** A peer that is merely silent answers, for its device does, and takes no receive for it. */
    @Test
    void silentPeer_isAliveAndSeesNothing() throws Exception {
        CompletableFuture<Integer> read = reading();
        TimeUnit.MILLISECONDS.sleep(500); // in which what the victim has to say to any peer comes
        peer.takeCompletions();
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        assertThatThrownBy(() -> read.get(SILENCE_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        assertThat(peer.takeCompletions()).isZero();
        peer.postPayload(0, new byte[] {1}, StreamMessage.of(StreamMessage.DATA, 1));
        assertThat(read.get(20, TimeUnit.SECONDS)).isOne();
    }
}
