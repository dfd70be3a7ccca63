package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Virtual threads in channels and selectors: they park, and leave their carrier to others. */
abstract class VirtualThreadContractTest extends ChannelContract {
    @Test
    void rule55_virtualThreads_readWriteConnectAndAccept() throws Exception {
        try (ServerSocketChannel listener = listen();
                SocketChannel client = provider().openSocketChannel()) {
            Doing<ByteBuffer> server = doingVirtually(() -> {
                try (SocketChannel accepted = listener.accept()) {
                    return readAll(accepted, 500_000);
                }
            });
            Doing<Void> writer = doingVirtually(() -> {
                client.connect(listener.getLocalAddress());
                writeAll(client, pattern(4, 500_000));
                return null;
            });
            assertThat(server.result().get(60, TimeUnit.SECONDS)).isEqualTo(pattern(4, 500_000));
            writer.get();
        }
    }

    @Test
    void rule55_virtualThread_selects() throws Exception {
        try (Pair pair = connectNonBlocking();
                Selector selector = provider().openSelector()) {
            pair.server().register(selector, READ);
            for (int round = 0; round < 20; round++) {
                Doing<Integer> selecting = doingVirtually(selector::select);
                await().until(() -> selecting.thread().getState() == Thread.State.WAITING
                        || selecting.thread().getState() == Thread.State.TIMED_WAITING);
                writeAll(pair.client(), pattern(round, 1));
                assertThat(selecting.get()).isOne();
                selector.selectedKeys().clear();
                assertThat(pair.server().read(ByteBuffer.allocate(10))).isOne();
            }
        }
    }

    @Test
    void rule55_virtualThread_readsWithinATimeout() throws Exception {
        try (Pair pair = connect()) {
            pair.client().socket().setSoTimeout(100);
            Doing<Integer> reader =
                    doingVirtually(() -> pair.client().socket().getInputStream().read());
            reader.failed().isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    @Tag("once")
    void rule55_aHundredBlockedVirtualThreads_leaveTheOneCarrierToOthers() throws Exception {
        List<String> flags = List.of(
                "-Djava.nio.channels.spi.SelectorProvider="
                        + provider().getClass().getName(),
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1");
        try (ChildJvm jvm = ChildJvm.start(flags, OneCarrier.class, address().getHostAddress())) {
            assertThat(jvm.output()).isEqualTo("100 were blocked, 1 ran, 100 ended\n");
            assertThat(jvm.exitValue()).isZero();
        }
    }
}
