package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How channels end: by close, by the peer's close, by a reset. */
abstract class CloseContractTest extends ChannelContract {
    @Test
    void rule20_close_isIdempotentAndCancelsAllKeys() throws IOException {
        try (Pair pair = connectNonBlocking();
                Selector one = provider().openSelector();
                Selector two = provider().openSelector()) {
            List<SelectionKey> keys =
                    List.of(pair.client().register(one, READ), pair.client().register(two, WRITE));
            pair.client().close();
            pair.client().close();
            assertThat(pair.client().isOpen()).isFalse();
            assertThat(keys).noneMatch(SelectionKey::isValid);
            one.selectNow();
            two.selectNow();
            pair.client().close();
        }
    }

    @Test
    void rule20_close_byManyThreadsAtOnce_closesOnce() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Pair pair = connect()) {
                writeAll(pair.client(), pattern(round, 100));
                List<Doing<Void>> closers = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    closers.add(doing(() -> {
                        pair.client().close();
                        return null;
                    }));
                }
                for (Doing<Void> closer : closers) {
                    closer.get();
                }
                assertThat(readAll(pair.server(), 100)).isEqualTo(pattern(round, 100));
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    @Test
    void rule20_close_isSeenAsTheEndAfterAllData() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.client(), pattern(1, 100_000));
            pair.client().close();
            assertThat(readAll(pair.server(), 100_000)).isEqualTo(pattern(1, 100_000));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).as("again").isEqualTo(-1);
        }
    }

    /** What a write has returned as written before the close is delivered, and nothing else. */
    @Test
    void rule22_close_inNonBlockingMode_waitsForTheWriteInProgress() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Pair pair = connect()) {
                pair.client().configureBlocking(false);
                Doing<Long> writer = doing(() -> {
                    ByteBuffer source = ByteBuffer.allocate(10_000);
                    long written = 0;
                    try {
                        while (true) {
                            written += pair.client().write(source.clear());
                        }
                    } catch (ClosedChannelException e) {
                        return written;
                    }
                });
                Doing<Long> reader = doing(() -> {
                    ByteBuffer target = ByteBuffer.allocate(1 << 16);
                    long read = 0;
                    int count;
                    while ((count = pair.server().read(target.clear())) >= 0) {
                        read += count;
                    }
                    return read;
                });
                TimeUnit.MILLISECONDS.sleep(10);
                pair.client().close();
                assertThat(reader.get()).isEqualTo(writer.get());
            }
        }
    }

    @Test
    void rule22_close_inBlockingMode_endsReaderAndWriterAtOnce() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            fill(pair.client());
            pair.client().configureBlocking(true);
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            Doing<Integer> writer =
                    doing(() -> pair.client().write(pattern(1, 1))).blocked();
            pair.client().close();
            reader.failed().isExactlyInstanceOf(AsynchronousCloseException.class);
            writer.failed().isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule23_close_endsABlockedRead() throws Exception {
        try (Pair pair = connect()) {
            assertEnds(() -> pair.client().read(ByteBuffer.allocate(1)), pair.client()::close)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
        try (Pair pair = connect()) {
            assertEnds(() -> pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(1)}), pair.client()::close)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule23_close_endsABlockedWrite() throws Exception {
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
    void rule23_close_endsABlockedAccept() throws Exception {
        try (ServerSocketChannel listener = listen()) {
            assertEnds(listener::accept, listener::close).isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule23_close_endsABlockedConnectAndFinishConnect() throws Exception {
        try (Crowd crowd = new Crowd(this)) {
            SocketChannel connecting = provider().openSocketChannel();
            assertEnds(() -> connecting.connect(crowd.address()), connecting::close)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
            SocketChannel finishing = provider().openSocketChannel();
            finishing.configureBlocking(false);
            finishing.connect(crowd.address());
            finishing.configureBlocking(true);
            assertEnds(finishing::finishConnect, finishing::close)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule23_close_endsABlockedConnectAtAnyMoment() throws Exception {
        int rounds = transport().affordsManyRounds() ? 30 : 10;
        for (int round = 0; round < rounds; round++) {
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
                long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(6000L * round / rounds);
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
    void rule23_close_atAnyMomentOfConnecting_isHarmless() throws Exception {
        int rounds = transport().affordsManyRounds() ? 300 : 60;
        try (ServerSocketChannel listener = provider().openServerSocketChannel().bind(anyPort(), 1000)) {
            for (int round = 0; round < rounds; round++) {
                SocketChannel client = provider().openSocketChannel();
                client.configureBlocking(false);
                client.connect(listener.getLocalAddress());
                TimeUnit.MICROSECONDS.sleep(3000L * round / rounds);
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
    void rule23_close_racingWithBind_leavesThePortFree() throws Exception {
        InetSocketAddress port = nobody();
        for (int round = 0; round < 20; round++) {
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

    // -- the order of checks --

    @Test
    void rule28_closedChannel_saysSoBeforeAnythingElse() throws IOException {
        try (SocketChannel fresh = provider().openSocketChannel()) {
            closeNow(fresh);
            assertThatThrownBy(() -> fresh.read(ByteBuffer.allocate(1)))
                    .as("closed, though never connected")
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> fresh.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        }
        Pair pair = connect();
        pair.client().shutdownInput();
        pair.close();
        SocketChannel closed = pair.client();
        assertThatThrownBy(() -> closed.read(ByteBuffer.allocate(1)))
                .as("closed, though its input was shut")
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> closed.read(ByteBuffer.allocate(0)))
                .as("closed, though there is no room")
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> closed.write(ByteBuffer.allocate(0)))
                .as("closed, though there is nothing to write")
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> closed.configureBlocking(false)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void rule28_unconnectedChannel_neitherReadsNorWrites() throws IOException {
        try (SocketChannel fresh = provider().openSocketChannel()) {
            assertThatThrownBy(() -> fresh.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> fresh.read(ByteBuffer.allocate(0))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> fresh.write(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
        }
    }

    // -- the peer's end --

    @Test
    void rule31_reset_isStickyAndNeverTheEndOfTheStream() throws IOException {
        try (Pair pair = connect()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            for (int again = 0; again < 3; again++) {
                assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)))
                        .as("sticky")
                        .isInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            }
            assertThatThrownBy(() -> pair.server().read(new ByteBuffer[] {ByteBuffer.allocate(1)}))
                    .hasMessage("Connection reset");
        }
    }

    @Test
    void rule31_shutdown_afterAReset_isHarmless() throws IOException {
        try (Pair pair = connect()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1))).hasMessage("Connection reset");
            assertThatThrownBy(() -> pair.server().write(ByteBuffer.allocate(1)))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ClosedChannelException.class);
            assertThat(pair.server().isConnected()).isTrue();
            pair.server().shutdownInput();
            pair.server().shutdownOutput();
            pair.server().setOption(StandardSocketOptions.SO_LINGER, 5);
        }
    }

    @Test
    void rule31_reset_endsABlockedRead() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.server().read(ByteBuffer.allocate(1))).blocked();
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            reader.failed().isInstanceOf(SocketException.class).hasMessage("Connection reset");
        }
    }

    @Test
    void rule31_write_toAPeerThatHasClosed_failsBeforeLong() throws IOException {
        try (Pair pair = connect()) {
            pair.server().close();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            pair.client().write(pattern(1, 1000));
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ClosedChannelException.class);
            assertThat(pair.client().isOpen()).isTrue();
        }
    }

    @Test
    void rule60_close_withUnreadData_isAResetOverTcpAlone() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.server(), pattern(1, 10));
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isOne();
            pair.client().close();
            if (differs(Difference.CLOSE_WITH_UNREAD_DATA)) {
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            } else {
                assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)))
                        .hasMessage("Connection reset");
            }
        }
    }

    @Test
    @Tag("once")
    void rule60_peerThatIsKilled_endsTheStreamOverTcpAndResetsItOverRdma() throws Exception {
        try (ServerSocketChannel listener = listen();
                ChildJvm child = ChildJvm.of(provider(), SilentClient.class, listener.getLocalAddress());
                SocketChannel server = listener.accept()) {
            assertThat(readAll(server, 1).get()).isEqualTo((byte) 5);
            child.kill();
            if (differs(Difference.KILLED_PEER)) {
                assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
                        .isInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            } else {
                assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }
}
