package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a selection finds ready, and the sets it puts it in. */
abstract class ReadySetContractTest extends ChannelContract {
    private Selector selector;

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    // -- sets --

    @Test
    void rule11_keys_areReadOnlyAndSelectedKeysShrinkOnly() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, WRITE);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThatThrownBy(() -> selector.selectedKeys().add(key))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.selectedKeys().addAll(List.of(key)))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().add(key)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().remove(key)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().clear()).isInstanceOf(UnsupportedOperationException.class);
            assertThat(selector.keys()).isSameAs(selector.keys());
            assertThat(selector.selectedKeys()).isSameAs(selector.selectedKeys());
            for (Iterator<SelectionKey> i = selector.selectedKeys().iterator(); i.hasNext(); ) {
                assertThat(i.next()).isSameAs(key);
                i.remove();
            }
            assertThat(selector.selectedKeys()).isEmpty();
            assertThat(selector.select(LONG_MILLIS)).as("ready still").isOne();
            assertThat(selector.selectedKeys().remove(key)).isTrue();
        }
    }

    @Test
    void rule11_keys_mayBeIteratedWhileOthersRegister() throws Exception {
        try (ServerSocketChannel listener = listen()) {
            listener.configureBlocking(false);
            AtomicBoolean done = new AtomicBoolean();
            Doing<Void> iterating = doing(() -> {
                while (!done.get()) {
                    for (SelectionKey key : selector.keys()) {
                        assertThat(key.selector()).isSameAs(selector);
                    }
                }
                return null;
            });
            for (int i = 0; i < 500; i++) {
                listener.register(selector, ACCEPT).cancel();
                selector.selectNow();
            }
            done.set(true);
            iterating.get();
        }
    }

    @Test
    void rule12_select_countsASelectedKeyOnlyWhenItsReadySetGrows() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            writeAll(pair.client(), pattern(1, 1));
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(selector.selectNow()).as("selected already").isZero();
            key.interestOps(READ | WRITE);
            assertThat(selector.select(LONG_MILLIS)).as("write is new").isOne();
            assertThat(key.readyOps()).isEqualTo(READ | WRITE);
        }
    }

    @Test
    void rule12_select_addsToTheReadySetOfASelectedKeyAndReplacesThatOfAnother() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ | WRITE);
            writeAll(pair.client(), pattern(1, 1));
            selectUntil(selector, key, READ | WRITE);
            assertThat(pair.server().read(ByteBuffer.allocate(10))).isOne();
            assertThat(selector.selectNow()).isZero();
            assertThat(key.readyOps()).as("kept while selected").isEqualTo(READ | WRITE);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isOne();
            assertThat(key.readyOps()).as("found anew").isEqualTo(WRITE);
        }
    }

    // -- readiness --

    @Test
    void rule19_accept_isReadyWhileAConnectionWaits() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, ACCEPT);
            assertThat(selector.selectNow()).isZero();
            client.connect(listener.getLocalAddress());
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(key.isAcceptable()).isTrue();
            listener.accept().close();
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void rule19_connect_isReadyWhilePendingAloneAndReadAndWriteAfterwards() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            assertThat(client.connect(listener.getLocalAddress())).isIn(true, false);
            SelectionKey key = client.register(selector, CONNECT | READ | WRITE);
            if (client.isConnectionPending()) {
                assertThat(selector.select(LONG_MILLIS)).isOne();
                assertThat(key.readyOps()).as("pending").isEqualTo(CONNECT);
                assertThat(client.finishConnect()).isTrue();
                selector.selectedKeys().clear();
            }
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.readyOps()).as("connected").isEqualTo(WRITE);
        }
    }

    @Test
    void rule19_readAndWrite_areNotReadyBeforeFinishConnect() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            if (client.isConnectionPending()) {
                SelectionKey key = client.register(selector, READ | WRITE);
                assertThat(selector.select(SHORT_MILLIS)).isZero();
                await().until(client::finishConnect);
                assertThat(selector.select(LONG_MILLIS)).isOne();
                assertThat(key.readyOps()).isEqualTo(WRITE);
            }
        }
    }

    @Test
    void rule19_key_registeredBeforeConnect_followsTheChannel() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, CONNECT);
            client.connect(listener.getLocalAddress());
            if (client.isConnectionPending()) {
                assertThat(selector.select(LONG_MILLIS)).isOne();
                assertThat(key.isConnectable()).isTrue();
                assertThat(client.finishConnect()).isTrue();
            }
            selector.selectedKeys().clear();
            key.interestOps(READ | WRITE);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.readyOps()).isEqualTo(WRITE);
        }
    }

    @Test
    void rule19_unconnectedChannel_isReadyOverTcpAlone() throws IOException {
        try (SocketChannel fresh = provider().openSocketChannel()) {
            fresh.configureBlocking(false);
            SelectionKey key = fresh.register(selector, CONNECT | READ | WRITE);
            int found = selector.select(SHORT_MILLIS);
            if (differs(Difference.UNCONNECTED_KEY)) {
                assertThat(found).isZero();
            } else {
                assertThat(found).isOne();
                assertThat(key.readyOps()).isEqualTo(CONNECT | READ | WRITE);
            }
        }
    }

    @Test
    void rule19_read_isReadyWithDataAndStaysSoUntilAllIsRead() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            assertThat(selector.selectNow()).isZero();
            writeAll(pair.client(), pattern(1, 10));
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.isReadable()).isTrue();
            pair.server().read(ByteBuffer.allocate(4));
            selector.selectedKeys().clear();
            assertThat(selector.select(LONG_MILLIS)).as("six bytes are left").isOne();
            pair.server().read(ByteBuffer.allocate(10));
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void rule19_write_isReadyUntilThePeerHasNoRoomAndAgainWhenItHas() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, WRITE);
            ByteBuffer source = pattern(5, 16 << 20);
            while (selector.select(500) == 1) {
                pair.client().write(source);
                selector.selectedKeys().clear();
            }
            assertThat(source.hasRemaining()).isTrue();
            ByteBuffer got = ByteBuffer.allocate(source.position());
            while (got.hasRemaining()) {
                pair.server().read(got);
            }
            assertThat(got.flip()).isEqualTo(source.duplicate().flip());
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.isWritable()).isTrue();
        }
    }

    @Test
    void rule19_readAndWrite_areBothSeenWhileOneOfThemStaysReady() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ | WRITE);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.readyOps()).isEqualTo(WRITE);
            selector.selectedKeys().clear();
            writeAll(pair.client(), pattern(1, 10));
            selectUntil(selector, key, READ);
            assertThat(pair.server().read(ByteBuffer.allocate(20))).isEqualTo(10);
            pair.client().close();
            selector.selectedKeys().clear();
            selectUntil(selector, key, READ);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void rule19_read_isReadyAtTheEnd() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            pair.server().register(selector, READ);
            pair.client().close();
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void rule19_shutdownOfOurs_makesReadAndWriteReady() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey reading = pair.client().register(selector, READ);
            assertThat(selector.selectNow()).isZero();
            pair.client().shutdownInput();
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(reading.isReadable()).isTrue();
        }
        try (Pair pair = connectNonBlocking();
                Selector other = provider().openSelector()) {
            fill(pair.client());
            SelectionKey writing = pair.client().register(other, WRITE);
            assertThat(other.selectNow()).isZero();
            pair.client().shutdownOutput();
            assertThat(other.select(LONG_MILLIS)).as("the write will say why").isOne();
            assertThat(writing.isWritable()).isTrue();
        }
    }

    // -- errors --

    @Test
    void rule18_connectThatFails_makesAllOfInterestReady() throws IOException {
        InetSocketAddress nobody = nobody();
        try (SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            assertThatThrownBy(() -> {
                        client.connect(nobody);
                        SelectionKey key = client.register(selector, CONNECT | READ | WRITE);
                        assertThat(selector.select(LONG_MILLIS)).isOne();
                        assertThat(key.readyOps()).isEqualTo(CONNECT | READ | WRITE);
                        client.finishConnect();
                    })
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void rule18_reset_makesAllOfInterestReady() throws IOException {
        try (Pair pair = connectNonBlocking();
                Selector other = provider().openSelector()) {
            SelectionKey all = pair.server().register(selector, CONNECT | READ | WRITE);
            SelectionKey connect = pair.server().register(other, CONNECT);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(all.readyOps()).isEqualTo(WRITE);
            assertThat(other.selectNow()).isZero();
            selector.selectedKeys().clear();
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            selectUntil(selector, all, CONNECT | READ | WRITE);
            assertThat(other.select(LONG_MILLIS)).isOne();
            assertThat(connect.readyOps()).isEqualTo(CONNECT);
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1))).hasMessage("Connection reset");
        }
    }

    @Test
    void rule18_endOfBothDirections_makesAllOfInterestReady() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey all = pair.server().register(selector, CONNECT | READ | WRITE);
            pair.client().shutdownOutput();
            selectUntil(selector, all, READ | WRITE);
            assertThat(all.readyOps()).as("one direction is no hang-up").isEqualTo(READ | WRITE);
            pair.server().shutdownOutput();
            selectUntil(selector, all, CONNECT | READ | WRITE);
        }
    }

    // -- several selectors --

    @Test
    void rule63_channel_registeredWithTwoSelectors_isReadyInBoth() throws IOException {
        try (Pair pair = connectNonBlocking();
                Selector other = provider().openSelector()) {
            pair.server().register(selector, READ);
            pair.server().register(other, READ);
            for (int i = 0; i < 100; i++) {
                assertThat(selector.selectNow()).isZero();
                assertThat(other.selectNow()).isZero();
                writeAll(pair.client(), pattern(i, 10));
                assertThat(selector.select(LONG_MILLIS)).isOne();
                assertThat(other.select(LONG_MILLIS)).isOne();
                assertThat(pair.server().read(ByteBuffer.allocate(100))).isEqualTo(10);
                selector.selectedKeys().clear();
                other.selectedKeys().clear();
            }
        }
    }

    @Test
    void rule63_channel_registeredWithManySelectorsThatWait_wakesThemAll() throws Exception {
        List<Selector> selectors = new ArrayList<>();
        try (Pair pair = connectNonBlocking();
                ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            listener.configureBlocking(false);
            List<Doing<Integer>> selecting = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Selector one = provider().openSelector();
                selectors.add(one);
                pair.server().register(one, READ);
                listener.register(one, ACCEPT);
                selecting.add(i < 2 ? doing(() -> one.select()) : doingVirtually(() -> one.select()));
            }
            for (Doing<Integer> one : selecting) {
                one.blocked();
            }
            writeAll(pair.client(), pattern(1, 1));
            for (Doing<Integer> one : selecting) {
                assertThat(one.get()).isOne();
            }
            assertThat(pair.server().read(ByteBuffer.allocate(10))).isOne();
            selecting.clear();
            for (Selector one : selectors) {
                one.selectedKeys().clear();
                selecting.add(doing(() -> one.select()).blocked());
            }
            client.connect(listener.getLocalAddress());
            for (Doing<Integer> one : selecting) {
                assertThat(one.get()).isOne();
            }
        } finally {
            for (Selector one : selectors) {
                one.close();
            }
        }
    }

    @Test
    void rule63_transfer_drivenByTwoSelectors_losesNothing() throws Exception {
        int size = 4 << 20;
        try (Pair pair = connectNonBlocking();
                Selector writing = provider().openSelector()) {
            pair.client().register(writing, WRITE);
            Thread writer = start("writer", () -> {
                ByteBuffer source = pattern(6, size);
                while (source.hasRemaining()) {
                    writing.select(LONG_MILLIS);
                    writing.selectedKeys().clear();
                    pair.client().write(source);
                }
                pair.client().shutdownOutput();
            });
            pair.server().register(selector, READ);
            ByteBuffer target = ByteBuffer.allocate(size + 1);
            while (true) {
                assertThat(selector.select(LONG_MILLIS)).as("at %s", target).isOne();
                selector.selectedKeys().clear();
                if (pair.server().read(target) < 0) {
                    break;
                }
            }
            assertThat(target.flip()).isEqualTo(pattern(6, size));
            writer.join();
        }
    }
}
