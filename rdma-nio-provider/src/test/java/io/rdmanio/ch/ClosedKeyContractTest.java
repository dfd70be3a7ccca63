package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A channel that is closed while registered: what the peer sees, and when what stands behind it goes. */
abstract class ClosedKeyContractTest extends ChannelContract {
    private Selector selector;

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    private void assertStays(int live) throws Exception {
        TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
        assertThat(transport().liveConnections()).isEqualTo(live);
    }

    private void assertGoes(int live) {
        await().atMost(LONG_MILLIS, TimeUnit.MILLISECONDS)
                .untilAsserted(() -> assertThat(transport().liveConnections()).isEqualTo(live));
    }

    @Test
    void rule08_closedChannel_livesUntilItsLastKeyIsFlushed() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector other = provider().openSelector()) {
            int live = transport().liveConnections();
            pair.client().register(selector, READ);
            pair.client().register(other, READ);
            selector.selectNow();
            other.selectNow();
            pair.client().close();
            assertStays(live);
            assertThat(pair.client().isRegistered()).isTrue();
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(other.keys()).hasSize(1);
            assertStays(live);
            other.selectNow();
            assertThat(pair.client().isRegistered()).isFalse();
            assertGoes(live - 1);
        }
    }

    @Test
    void rule08_closingTheSelector_flushesItsKeys() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            int live = transport().liveConnections();
            SelectionKey key = pair.client().register(selector, READ);
            SelectionKey open = pair.server().register(selector, READ);
            pair.client().close();
            assertStays(live);
            selector.close();
            assertGoes(live - 1);
            assertThat(key.isValid()).isFalse();
            assertThat(open.isValid()).isFalse();
            assertThat(pair.server().isRegistered()).isFalse();
            pair.server().configureBlocking(true);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void rule08_keyCancelledDuringASelection_isFlushedByIt() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            int live = transport().liveConnections();
            SelectionKey key = pair.client().register(selector, READ);
            Doing<Integer> selecting = doing(() -> selector.select()).blocked();
            pair.client().close();
            assertThat(key.isValid()).isFalse();
            assertStays(live);
            selector.wakeup();
            assertThat(selecting.get()).isZero();
            assertThat(selector.keys()).isEmpty();
            assertGoes(live - 1);
        }
    }

    @Test
    void rule08_selectedKey_thatIsFlushed_leavesTheSelectedSet() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, WRITE);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            key.cancel();
            assertThat(selector.selectedKeys()).containsExactly(key);
            selector.selectNow();
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @Test
    void rule08_listener_thatIsClosed_hasFreedItsPortWhenItsKeyIsFlushed() throws IOException {
        InetSocketAddress port;
        try (ServerSocketChannel listener = listen()) {
            port = (InetSocketAddress) listener.getLocalAddress();
            listener.configureBlocking(false);
            listener.register(selector, ACCEPT);
            selector.selectNow();
        }
        try (SocketChannel client = provider().openSocketChannel()) {
            if (differs(Difference.CLOSED_LISTENER)) {
                assertThatThrownBy(() -> client.connect(port)).isInstanceOf(ConnectException.class);
            } else {
                assertThat(client.connect(port)).isTrue();
            }
        }
        selector.selectNow();
        assertThat(selector.keys()).isEmpty();
        try (ServerSocketChannel again = provider().openServerSocketChannel()) {
            again.bind(port);
        }
    }

    @Test
    void rule21_closedChannel_isSeenByThePeerBeforeItsKeyIsFlushed() throws IOException {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            pair.client().register(selector, READ);
            selector.selectNow();
            writeAll(pair.client(), pattern(1, 1000));
            pair.client().close();
            assertThat(readAll(pair.server(), 1000)).isEqualTo(pattern(1, 1000));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(selector.keys()).hasSize(1);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
    }

    @Test
    void rule21_closedChannel_withLingerZero_isResetWhenItsKeyIsFlushed() throws Exception {
        try (Pair pair = connect()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().configureBlocking(false);
            pair.client().register(selector, READ);
            selector.selectNow();
            Doing<Integer> reader =
                    doing(() -> pair.server().read(ByteBuffer.allocate(1))).blocked();
            pair.client().close();
            reader.blocked();
            selector.selectNow();
            reader.failed().isInstanceOf(SocketException.class).hasMessage("Connection reset");
        }
    }

    @Test
    void rule21_closedChannel_withALinger_doesNotHoldUpTheCloserNorTheSelection() throws Exception {
        try (Pair pair = connect()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 30);
            pair.client().configureBlocking(false);
            long written = fill(pair.client());
            pair.client().register(selector, READ);
            selector.selectNow();
            Doing<Integer> closing = doing(() -> {
                pair.client().close();
                return selector.selectNow();
            });
            assertThat(closing.result().get(10, TimeUnit.SECONDS)).isZero();
            assertThat(readAll(pair.server(), (int) written + 1).remaining()).isEqualTo((int) written);
        }
    }

    /** What was under way when the channel was closed and its key flushed is delivered all the same. */
    @Test
    void rule58_channel_killedWithDataUnderWay_deliversIt() throws IOException {
        for (int round = 0; round < 5; round++) {
            try (Pair pair = connect()) {
                pair.client().configureBlocking(false);
                pair.client().register(selector, READ);
                selector.selectNow();
                long written = fill(pair.client());
                pair.client().close();
                selector.selectNow();
                assertThat(readAll(pair.server(), (int) written + 1).remaining())
                        .isEqualTo((int) written);
            }
        }
    }
}
