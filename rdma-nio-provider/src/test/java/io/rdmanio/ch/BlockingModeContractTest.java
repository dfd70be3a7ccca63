package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** Changing the blocking mode, and the locks that this and connecting take. */
abstract class BlockingModeContractTest extends ChannelContract {
    @Test
    void rule26_configureBlocking_waitsForTheReadInProgress() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            Doing<?> changer =
                    doing(() -> pair.client().configureBlocking(false)).blocked();
            writeAll(pair.server(), pattern(1, 1));
            assertThat(reader.get()).isOne();
            assertThat(changer.get()).isSameAs(pair.client());
            assertThat(pair.client().isBlocking()).isFalse();
        }
    }

    @Test
    void rule26_configureBlocking_waitsForTheWriteInProgress() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            long written = fill(pair.client());
            pair.client().configureBlocking(true);
            Doing<Integer> writer =
                    doing(() -> pair.client().write(pattern(1, 1))).blocked();
            Doing<?> changer =
                    doing(() -> pair.client().configureBlocking(false)).blocked();
            assertThat(readAll(pair.server(), (int) written + 1).remaining()).isEqualTo((int) written + 1);
            assertThat(writer.get()).isOne();
            changer.get();
        }
    }

    @Test
    void rule26_configureBlocking_waitsForTheAcceptInProgress() throws Exception {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            Doing<SocketChannel> acceptor = doing(listener::accept).blocked();
            Doing<?> changer = doing(() -> listener.configureBlocking(false)).blocked();
            client.connect(listener.getLocalAddress());
            acceptor.get().close();
            changer.get();
            assertThat(listener.accept()).isNull();
        }
    }

    @Test
    void rule26_bindAndConnect_waitForTheReadInProgress() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            SocketAddress peer = pair.client().getRemoteAddress();
            Doing<?> binder = doing(() -> pair.client().bind(null)).blocked();
            Doing<?> connecter = doing(() -> pair.client().connect(peer)).blocked();
            Doing<Boolean> finisher = doing(() -> pair.client().finishConnect()).blocked();
            writeAll(pair.server(), pattern(1, 1));
            assertThat(reader.get()).isOne();
            binder.failed().isInstanceOf(AlreadyBoundException.class);
            connecter.failed().isInstanceOf(AlreadyConnectedException.class);
            assertThat(finisher.get()).isTrue();
        }
    }

    /** What needs the state alone goes on while threads are blocked. */
    @Test
    void rule26_state_isToldAndChangedWhileThreadsAreBlocked() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            assertThat(pair.client().isConnected()).isTrue();
            assertThat(pair.client().getLocalAddress()).isNotNull();
            assertThat(pair.client().getRemoteAddress()).isEqualTo(pair.server().getLocalAddress());
            pair.client().setOption(StandardSocketOptions.TCP_NODELAY, true);
            assertThat(pair.client().getOption(StandardSocketOptions.TCP_NODELAY))
                    .isTrue();
            assertThat(pair.client().socket().isConnected()).isTrue();
            assertThat(pair.client().toString()).contains("connected");
            pair.client().shutdownOutput();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(reader.isDone()).isFalse();
            writeAll(pair.server(), pattern(1, 1));
            assertThat(reader.get()).isOne();
        }
    }

    @Test
    void rule27_configureBlocking_withAValidKey_isRefused() throws IOException {
        try (Pair pair = connectNonBlocking();
                ServerSocketChannel listener = listen();
                Selector selector = provider().openSelector()) {
            listener.configureBlocking(false);
            listener.register(selector, ACCEPT);
            pair.client().register(selector, READ);
            assertThatThrownBy(() -> pair.client().configureBlocking(true))
                    .isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> listener.configureBlocking(true)).isInstanceOf(IllegalBlockingModeException.class);
            pair.client().configureBlocking(false);
        }
    }

    @Test
    void rule27_channelWithACancelledKey_mayBlockAndBeClosedSo() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector selector = provider().openSelector()) {
            pair.client().register(selector, READ).cancel();
            pair.client().configureBlocking(true);
            assertThat(pair.client().isRegistered()).as("not flushed yet").isTrue();
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            writeAll(pair.server(), pattern(1, 1));
            assertThat(reader.get()).isOne();
            Doing<Integer> another =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            pair.client().close();
            another.failed().isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(pair.client().isRegistered()).isFalse();
        }
    }

    @Test
    void rule27_listenerWithACancelledKey_mayBlockAndBeClosedSo() throws Exception {
        try (ServerSocketChannel listener = listen();
                Selector selector = provider().openSelector()) {
            listener.configureBlocking(false);
            listener.register(selector, ACCEPT).cancel();
            listener.configureBlocking(true);
            Doing<SocketChannel> acceptor = doing(listener::accept).blocked();
            closeNow(listener);
            acceptor.failed().isExactlyInstanceOf(AsynchronousCloseException.class);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
    }
}
