package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules of java.nio for selectors and keys, which hold whatever carries the bytes. */
abstract class SelectorContractTest extends ChannelContract {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    /** Long enough for what must happen, and never waited out by a test that passes. */
    private static final long LONG = 20_000;

    private Selector selector;

    /** A provider whose channels the selector must not take. */
    abstract SelectorProvider foreigner();

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    private Pair nonBlocking() throws IOException {
        Pair pair = connect();
        pair.client().configureBlocking(false);
        pair.server().configureBlocking(false);
        return pair;
    }

    // -- readiness --

    @Test
    void accept_becomesReadyWithAConnection() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            assertThat(selector.selectNow()).isZero();
            client.connect(listener.getLocalAddress());
            assertThat(selector.select(LONG)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(key.isAcceptable()).isTrue();
            listener.accept().close();
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void connect_becomesReadyOnceAndThenReadAndWrite() throws IOException {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            client.connect(listener.getLocalAddress());
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.isConnectable()).isTrue();
            assertThat(client.finishConnect()).isTrue();
            selector.selectedKeys().clear();
            key.interestOps(READ | WRITE);
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.readyOps()).isEqualTo(WRITE);
        }
    }

    @Test
    void connect_thatFails_becomesReadyToTellSo() throws IOException {
        try (SocketChannel client = provider().openSocketChannel()) {
            client.configureBlocking(false);
            client.register(selector, SelectionKey.OP_CONNECT);
            assertThatThrownBy(() -> {
                        client.connect(nobody());
                        assertThat(selector.select(LONG)).isOne();
                        client.finishConnect();
                    })
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void read_becomesReadyWithDataAndStaysSoUntilAllIsRead() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            assertThat(selector.selectNow()).isZero();
            writeAll(pair.client(), pattern(1, 10));
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.isReadable()).isTrue();
            pair.server().read(ByteBuffer.allocate(4));
            selector.selectedKeys().clear();
            assertThat(selector.select(LONG)).as("six bytes are left").isOne();
            pair.server().read(ByteBuffer.allocate(10));
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void read_becomesReadyAtTheEnd() throws IOException {
        try (Pair pair = nonBlocking()) {
            pair.server().register(selector, READ);
            pair.client().close();
            assertThat(selector.select(LONG)).isOne();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void write_isReadyUntilThePeerHasNoRoomAndAgainWhenItHas() throws IOException {
        try (Pair pair = nonBlocking()) {
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
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.isWritable()).isTrue();
        }
    }

    @Test
    void transfer_drivenByTwoSelectors_losesNothing() throws Exception {
        int size = 4 << 20;
        try (Pair pair = nonBlocking();
                Selector writing = provider().openSelector()) {
            pair.client().register(writing, WRITE);
            Thread writer = start("writer", () -> {
                ByteBuffer source = pattern(6, size);
                while (source.hasRemaining()) {
                    writing.select(LONG);
                    writing.selectedKeys().clear();
                    pair.client().write(source);
                }
                pair.client().shutdownOutput();
            });
            pair.server().register(selector, READ);
            ByteBuffer target = ByteBuffer.allocate(size + 1);
            while (true) {
                assertThat(selector.select(LONG)).as("at %s", target).isOne();
                selector.selectedKeys().clear();
                if (pair.server().read(target) < 0) {
                    break;
                }
            }
            assertThat(target.flip()).isEqualTo(pattern(6, size));
            writer.join();
        }
    }

    @Test
    void channel_registeredWithTwoSelectors_isReadyInBoth() throws IOException {
        try (Pair pair = nonBlocking();
                Selector other = provider().openSelector()) {
            pair.server().register(selector, READ);
            pair.server().register(other, READ);
            for (int i = 0; i < 100; i++) {
                assertThat(selector.selectNow()).isZero();
                assertThat(other.selectNow()).isZero();
                writeAll(pair.client(), pattern(i, 10));
                assertThat(selector.select(LONG)).isOne();
                assertThat(other.select(LONG)).isOne();
                assertThat(pair.server().read(ByteBuffer.allocate(100))).isEqualTo(10);
                selector.selectedKeys().clear();
                other.selectedKeys().clear();
            }
        }
    }

    @Test
    void readAndWrite_areBothSeenWhileOneOfThemStaysReady() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ | WRITE);
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.readyOps()).isEqualTo(WRITE);
            selector.selectedKeys().clear();
            writeAll(pair.client(), pattern(1, 10));
            await().atMost(10, TimeUnit.SECONDS).pollInSameThread().until(() -> {
                selector.select(100);
                return key.isReadable();
            });
            assertThat(pair.server().read(ByteBuffer.allocate(20))).isEqualTo(10);
            pair.client().close();
            selector.selectedKeys().clear();
            await().atMost(10, TimeUnit.SECONDS).pollInSameThread().until(() -> {
                selector.select(100);
                return key.isReadable();
            });
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    // -- sets --

    @Test
    void select_countsAKeyOnlyWhenItsReadySetGrows() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            writeAll(pair.client(), pattern(1, 1));
            assertThat(selector.select(LONG)).isOne();
            assertThat(selector.selectNow()).as("selected already").isZero();
            key.interestOps(READ | WRITE);
            assertThat(selector.select(LONG)).as("write is new").isOne();
            assertThat(key.readyOps()).isEqualTo(READ | WRITE);
            assertThatThrownBy(() -> selector.selectedKeys().add(key))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().remove(key)).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void selectWithAction_callsItAndLeavesTheSelectedSetAlone() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            writeAll(pair.client(), pattern(1, 1));
            List<SelectionKey> seen = new ArrayList<>();
            assertThat(selector.select(seen::add, LONG)).isOne();
            assertThat(selector.select(seen::add)).isOne();
            assertThat(seen).containsExactly(key, key);
            assertThat(selector.selectedKeys()).isEmpty();
            assertThatThrownBy(() -> selector.select(ready -> {
                        try {
                            selector.selectNow();
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void interest_isCheckedAndZeroMeansNothing() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, 0);
            writeAll(pair.client(), pattern(1, 1));
            assertThat(selector.select(200)).isZero();
            assertThatThrownBy(() -> key.interestOps(SelectionKey.OP_ACCEPT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(key.interestOpsOr(READ)).isZero();
            assertThat(selector.select(LONG)).isOne();
            assertThat(key.interestOpsAnd(~READ)).isEqualTo(READ);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void interest_removedByAnAction_isNotDeliveredAnyMore() throws IOException {
        try (Pair one = nonBlocking();
                Pair two = nonBlocking()) {
            List<SelectionKey> keys =
                    List.of(one.server().register(selector, READ), two.server().register(selector, READ));
            writeAll(one.client(), pattern(1, 1));
            writeAll(two.client(), pattern(1, 1));
            for (SelectionKey key : keys) {
                await().pollInSameThread().until(() -> {
                    selector.select(100);
                    return key.isReadable();
                });
            }
            List<SelectionKey> seen = new ArrayList<>();
            int count = selector.selectNow(ready -> {
                seen.add(ready);
                keys.forEach(key -> key.interestOps(key.equals(ready) ? READ : 0));
            });
            assertThat(seen).hasSize(1);
            assertThat(count).isOne();
        }
    }

    // -- keys and close --

    @Test
    void cancelledKey_isGoneAfterTheNextSelection() throws IOException {
        try (Pair pair = nonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            key.cancel();
            assertThat(key.isValid()).isFalse();
            assertThat(selector.keys()).containsExactly(key);
            assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> pair.server().register(selector, READ)).isInstanceOf(CancelledKeyException.class);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(pair.server().isRegistered()).isFalse();
            assertThat(pair.server().register(selector, READ)).isNotSameAs(key);
        }
    }

    @Test
    void closedChannel_isSeenByThePeerBeforeItsKeyIsFlushed() throws IOException {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            pair.client().register(selector, READ);
            selector.selectNow();
            pair.client().close();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(selector.keys()).hasSize(1);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
    }

    @Test
    void register_isRefusedForForeignAndBlockingChannels() throws IOException {
        try (Pair pair = connect();
                SocketChannel foreign = foreigner().openSocketChannel()) {
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
            foreign.configureBlocking(false);
            assertThatThrownBy(() -> foreign.register(selector, READ)).isInstanceOf(IllegalSelectorException.class);
            pair.client().configureBlocking(false);
            pair.client().register(selector, READ);
            assertThatThrownBy(() -> pair.client().configureBlocking(true))
                    .isInstanceOf(IllegalBlockingModeException.class);
        }
    }

    @Test
    void register_whileASelectionWaits_doesNotWait() throws Exception {
        try (Pair pair = nonBlocking()) {
            CompletableFuture<Integer> selected = new CompletableFuture<>();
            start("selecting", () -> selected.complete(selector.select(LONG)));
            SelectionKey key = pair.server().register(selector, WRITE);
            assertThat(key.isValid()).isTrue();
            selector.wakeup();
            selected.get(10, TimeUnit.SECONDS);
            assertThat(selector.select(LONG)).isBetween(0, 1);
            assertThat(selector.selectedKeys()).containsExactly(key);
        }
    }

    // -- waking --

    @Test
    void wakeup_beforeASelection_endsItAtOnceAndOnlyIt() throws IOException {
        selector.wakeup();
        selector.wakeup();
        assertThat(selector.select()).isZero();
        long start = System.nanoTime();
        assertThat(selector.select(100)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(95));
    }

    @Test
    void wakeup_endsASelectionThatWaits() throws Exception {
        CompletableFuture<Integer> selected = new CompletableFuture<>();
        Thread thread = start("selecting", () -> selected.complete(selector.select()));
        await().until(() -> thread.getState() != Thread.State.NEW);
        selector.wakeup();
        assertThat(selected.get(10, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void interrupt_endsASelectionAndLeavesTheSelectorOpen() throws IOException {
        Thread.currentThread().interrupt();
        assertThat(selector.select()).isZero();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(selector.isOpen()).isTrue();
    }

    @Test
    void virtualThread_selects() throws Exception {
        try (Pair pair = nonBlocking()) {
            pair.server().register(selector, READ);
            CompletableFuture<Integer> selected = new CompletableFuture<>();
            Thread thread = Thread.ofVirtual().start(() -> {
                try {
                    selected.complete(selector.select());
                } catch (IOException e) {
                    selected.completeExceptionally(e);
                }
            });
            await().until(() ->
                    thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
            writeAll(pair.client(), pattern(1, 1));
            assertThat(selected.get(10, TimeUnit.SECONDS)).isOne();
        }
    }

    @Test
    void closedSelector_saysSoAndEndsASelection() throws Exception {
        CompletableFuture<Integer> selected = new CompletableFuture<>();
        Thread thread = start("selecting", () -> {
            try {
                selected.complete(selector.select());
            } catch (ClosedSelectorException e) {
                selected.complete(0); // close came before the selection began
            }
        });
        await().until(() -> thread.getState() != Thread.State.NEW);
        selector.close();
        assertThat(selected.get(10, TimeUnit.SECONDS)).isZero();
        assertThatThrownBy(selector::selectNow).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(() -> selector.select(-1)).isInstanceOf(IllegalArgumentException.class);
        selector.wakeup();
    }
}
