package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.RdmaSelectorProvider;
import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A peer that breaks the protocol costs its own connection and nothing else; one that is merely odd costs nothing. */
@Tag("rdma")
@ExtendWith(StreamLeakCheck.class)
class HostilePeerTest {
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider();
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final int HALF = StreamConfiguration.DEFAULT.firstHalfBytes();

    private ServerSocketChannel listener;

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(System.getProperty("io.rdmanio.test.address"), 0);
    }

    /** Long enough for a thread that has just been started to wait for data; when it isn't, nothing fails. */
    private static final long READING_MILLIS = 100;

    @BeforeAll
    static void warmUp() throws Exception {
        try (ServerSocketChannel once = PROVIDER.openServerSocketChannel().bind(anyPort());
                SocketChannel client = PROVIDER.openSocketChannel()) {
            client.connect(once.getLocalAddress());
            // virtually: the event loop wakes it, of which the peer's device is told once
            CompletableFuture<?> reader = user(true, () -> drain(client));
            TimeUnit.MILLISECONDS.sleep(READING_MILLIS);
            once.accept().close();
            reader.get(20, TimeUnit.SECONDS);
        }
        StreamLeakCheck.awaitQuiet();
    }

    @BeforeEach
    void listen() throws IOException {
        listener = PROVIDER.openServerSocketChannel().bind(anyPort());
    }

    /** After every test: the listener still serves an honest peer. */
    @AfterEach
    void serveAnHonestPeer() throws IOException {
        try (ServerSocketChannel last = listener;
                SocketChannel client = PROVIDER.openSocketChannel()) {
            client.connect(last.getLocalAddress());
            try (SocketChannel server = last.accept()) {
                client.write(ByteBuffer.wrap(HELLO));
                assertThat(read(server, HELLO.length)).isEqualTo(HELLO);
            }
        }
    }

    private InetSocketAddress address() throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    private static byte[] read(SocketChannel channel, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining()) {
            assertThat(channel.read(target)).isPositive();
        }
        return target.array();
    }

    private interface Hostility {
        void by(RawPeer peer) throws IOException;
    }

    /** Everybody who uses the connection is told: platform and virtual threads that read and write, and a selector. */
    private void assertBreaks(Hostility hostility) throws Exception {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            List<CompletableFuture<?>> users = new ArrayList<>();
            users.add(user(false, () -> drain(victim)));
            users.add(user(true, () -> {
                while (true) {
                    victim.write(ByteBuffer.allocate(1 << 16));
                }
            }));
            hostility.by(peer);
            for (CompletableFuture<?> user : users) {
                assertThatThrownBy(() -> user.get(20, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(SocketException.class);
            }
            assertThatThrownBy(() -> victim.read(ByteBuffer.allocate(1))).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> victim.write(ByteBuffer.allocate(1))).isInstanceOf(SocketException.class);
            peer.awaitDisconnected();
        }
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept();
                Selector selector = PROVIDER.openSelector()) {
            victim.configureBlocking(false);
            victim.register(selector, SelectionKey.OP_READ);
            hostility.by(peer);
            assertThat(selector.select(20_000)).isOne();
            assertThatThrownBy(() -> drain(victim)).isInstanceOf(SocketException.class);
        }
    }

    /** Reads what there is, and what comes, until the end. */
    private static void drain(SocketChannel channel) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(1 << 16);
        while (channel.read(target.clear()) >= 0) {
            Thread.onSpinWait();
        }
    }

    private interface Use {
        void run() throws IOException;
    }

    private static CompletableFuture<?> user(boolean virtual, Use use) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Runnable task = () -> {
            try {
                use.run();
                ended.complete(null);
            } catch (IOException | RuntimeException e) {
                ended.completeExceptionally(e);
            }
        };
        Thread thread = virtual
                ? Thread.ofVirtual().start(task)
                : Thread.ofPlatform().daemon().start(task);
        assertThat(thread.isVirtual()).isEqualTo(virtual);
        return ended;
    }

    private static int data(int length) {
        return StreamMessage.of(StreamMessage.DATA, length);
    }

    @Test
    void reservedOperations_breakTheConnection() throws Exception {
        for (int operation : new int[] {1, 3, 5}) {
            assertBreaks(peer -> peer.post(operation, 0));
        }
    }

    @Test
    void dataBeyondTheHalf_breaksTheConnection() throws Exception {
        assertBreaks(peer -> peer.post(StreamMessage.DATA, HALF + 1));
        assertBreaks(peer -> {
            peer.post(StreamMessage.DATA, HALF - 1);
            peer.post(StreamMessage.DATA, 2);
        });
    }

    @Test
    void impossibleTableEntries_breakTheConnection() throws Exception {
        assertBreaks(peer -> peer.postEntry(1, 0, 0, -1));
        assertBreaks(peer -> {
            peer.postEntry(1, 4096, 1, 4096);
            peer.postEntry(0, 4096, 1, 4096);
        });
    }

    /** Our device refuses it and brings our queue pair to ERROR, of which nothing tells but the receives it flushes. */
    @Test
    void aWriteOutsideTheBuffer_breaksTheConnection() throws Exception {
        assertBreaks(RawPeer::writeNowhere);
    }

    /** The half that the peer has ended is over as it would be anyway; the other can't go on. */
    @Test
    void aWriteOutsideTheBufferBehindShutdown_breaksTheConnection() throws Exception {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.post(StreamMessage.CTRL, StreamMessage.CTRL_SHUTDOWN);
            assertThat(victim.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            CompletableFuture<?> writer = user(false, () -> {
                while (true) {
                    victim.write(ByteBuffer.allocate(1 << 16));
                }
            });
            peer.writeNowhere();
            assertThatThrownBy(() -> writer.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(SocketException.class);
            peer.awaitDisconnected();
        }
    }

    /** Over InfiniBand the write is refused by the peer's device, over iWARP too: the writer's connection ends. */
    @Test
    void aTargetThatThePeerDoesNotOwn_breaksTheConnection() throws Exception {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.postEntry(1, 4096, RawPeer.NO_KEY, 4096);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            victim.write(ByteBuffer.allocate(HALF));
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    /** Knowing the keys of another process's connection does not help: what is written with them does not arrive. */
    @Test
    void aWriteIntoAnotherProcesssBuffer_doesNotArrive() throws IOException {
        assumeThat(TransportPolicy.engine().name())
                .as("other devices tell peers apart by their addresses, and these two have the same")
                .isEqualTo(RdmaEngine.soft().name());
        try (RawPeer honest = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            honest.postPayload(0, new byte[HELLO.length], data(1));
            assertThat(read(victim, 1)).isEqualTo(new byte[1]);
            try (ForgingProcess forger = new ForgingProcess(address());
                    SocketChannel forgersOwn = listener.accept()) {
                forger.writeInto(honest, new String(HELLO, StandardCharsets.US_ASCII));
                honest.post(StreamMessage.DATA, HELLO.length - 1); // tells of bytes that nobody has written
                assertThat(read(victim, HELLO.length - 1)).isEqualTo(new byte[HELLO.length - 1]);
                assertThatThrownBy(() -> drain(forgersOwn)).isInstanceOf(SocketException.class);
            }
        }
    }

    @Test
    void anotherVersion_isRejected() throws IOException {
        assertThatThrownBy(() -> RawPeer.connect(address(), parameters -> {
                            parameters[0] = 2;
                            return parameters;
                        })
                        .close())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("in place of ESTABLISHED");
    }

    @Test
    void oddButHarmlessMessages_areIgnored() throws IOException {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.post(StreamMessage.CTRL, StreamMessage.CTRL_KEEPALIVE);
            peer.post(StreamMessage.CTRL, 3);
            peer.post(StreamMessage.WRITE, 5);
            peer.post(StreamMessage.IOMAP_SGL, 0);
            peer.post(StreamMessage.SGL, 0x1_0100);
            peer.post(StreamMessage.DATA, 0);
            peer.postPayload(0, HELLO, data(HELLO.length));
            assertThat(read(victim, HELLO.length)).isEqualTo(HELLO);
            assertThat(victim.write(ByteBuffer.wrap(HELLO))).isEqualTo(HELLO.length);
        }
    }

    /** A limit of credits has 16 bits; what the peer says above them says nothing. */
    @Test
    void creditsAboveTheLimitsBits_areNone() throws Exception {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            victim.configureBlocking(false);
            peer.post(StreamMessage.SGL, 0x1_0000 | peer.credits());
            int sent = 0;
            for (int quiet = 0; quiet < 10; quiet++) {
                while (victim.write(ByteBuffer.allocate(1)) == 1) {
                    sent++;
                }
                TimeUnit.MILLISECONDS.sleep(10); // until what the peer has posted is there
            }
            assertThat(sent).isEqualTo(peer.credits());
            peer.post(StreamMessage.SGL, 0x1_0000 | peer.credits() + 1);
            await().until(() -> victim.write(ByteBuffer.allocate(1)) == 1);
        }
    }

    @Test
    void privateDataWithATail_isAccepted() throws IOException {
        try (RawPeer peer = RawPeer.connect(address(), parameters -> RawPeer.padded(parameters, 56));
                SocketChannel victim = listener.accept()) {
            peer.postPayload(0, HELLO, data(HELLO.length));
            assertThat(read(victim, HELLO.length)).isEqualTo(HELLO);
        }
    }

    @Test
    void listenerOfAnotherVersion_isRefused() throws Exception {
        try (RawPeer.Listener raw = new RawPeer.Listener(anyPort());
                SocketChannel victim = PROVIDER.openSocketChannel()) {
            CompletableFuture<?> connecting = user(false, () -> victim.connect(raw.address()));
            try (RawPeer peer = raw.accept(parameters -> {
                parameters[0] = 2;
                return parameters;
            })) {
                assertThatThrownBy(() -> connecting.get(20, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("version 2");
                peer.awaitDisconnected();
            }
            assertThat(victim.isOpen()).isFalse();
        }
    }

    @Test
    void listenerWhosePrivateDataHasATail_isAccepted() throws Exception {
        try (RawPeer.Listener raw = new RawPeer.Listener(anyPort());
                SocketChannel victim = PROVIDER.openSocketChannel()) {
            CompletableFuture<?> connecting = user(false, () -> victim.connect(raw.address()));
            try (RawPeer peer = raw.accept(parameters -> RawPeer.padded(parameters, 56))) {
                connecting.get(20, TimeUnit.SECONDS);
                peer.postPayload(0, HELLO, data(HELLO.length));
                assertThat(read(victim, HELLO.length)).isEqualTo(HELLO);
            }
        }
    }

    @Test
    void dataBehindShutdown_isTolerated() throws IOException {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.postPayload(0, HELLO, data(HELLO.length));
            peer.post(StreamMessage.CTRL, StreamMessage.CTRL_SHUTDOWN);
            peer.post(StreamMessage.DATA, 1);
            assertThat(read(victim, HELLO.length)).isEqualTo(HELLO);
            ByteBuffer rest = ByteBuffer.allocate(10);
            int count = 0;
            while (count >= 0) {
                count = victim.read(rest);
            }
            assertThat(rest.position()).isBetween(0, 1);
        }
    }

    @Test
    void anEndWithoutAWord_isAResetAfterTheData() throws IOException {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.postPayload(0, HELLO, data(HELLO.length));
            assertThat(read(victim, 1)).isEqualTo(new byte[] {HELLO[0]});
            peer.vanish();
            assertThatThrownBy(() -> drain(victim))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    @Test
    void disconnect_isTheEnd() throws IOException {
        try (RawPeer peer = RawPeer.connect(address());
                SocketChannel victim = listener.accept()) {
            peer.postPayload(0, HELLO, data(HELLO.length));
            peer.post(StreamMessage.CTRL, StreamMessage.CTRL_DISCONNECT);
            assertThat(read(victim, HELLO.length)).isEqualTo(HELLO);
            assertThat(victim.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> victim.write(ByteBuffer.wrap(HELLO)))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Broken pipe");
        }
    }
}
