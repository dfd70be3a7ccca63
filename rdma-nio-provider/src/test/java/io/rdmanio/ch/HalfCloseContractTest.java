package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** One direction ended, the other open. */
abstract class HalfCloseContractTest extends ChannelContract {
    @Test
    void rule29_shutdownInput_endsTheBlockedReadAndLaterOnes() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            assertThat(pair.client().shutdownInput()).isSameAs(pair.client());
            assertThat(reader.get()).isEqualTo(-1);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(1)}))
                    .isEqualTo(-1);
            pair.client().shutdownInput();
            writeAll(pair.client(), pattern(1, 10));
            assertThat(readAll(pair.server(), 10)).isEqualTo(pattern(1, 10));
        }
    }

    @Test
    void rule29_shutdownInput_hidesWhatHadArrived() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.server(), pattern(1, 10));
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isOne();
            pair.client().shutdownInput();
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.client().configureBlocking(false);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    /** A scatter over many buffers takes a while, in which the input is shut under the reader. */
    @Test
    void rule29_shutdownInput_duringARead_leavesTheStreamWhole() throws Exception {
        ByteBuffer[] targets = new ByteBuffer[50_000];
        Arrays.fill(targets, ByteBuffer.allocate(0));
        for (int round = 0; round < 20; round++) {
            try (Pair pair = connect()) {
                targets[targets.length - 1] = ByteBuffer.allocate(1000);
                writeAll(pair.client(), pattern(1, 1000));
                Doing<Long> read = doing(() -> pair.server().read(targets));
                pair.server().shutdownInput();
                assertThat(read.get()).isIn(-1L, 1000L);
                Thread writer = start("writer", () -> writeAll(pair.client(), pattern(2, 100_000)));
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                writeAll(pair.server(), pattern(3, 100_000));
                assertThat(readAll(pair.client(), 100_000)).isEqualTo(pattern(3, 100_000));
                writer.join(10_000);
                assertThat(writer.isAlive()).isFalse();
            }
        }
    }

    @Test
    void rule30_shutdownOutput_leavesTheOtherDirectionOpen() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.client(), pattern(2, 50_000));
            assertThat(pair.client().shutdownOutput()).isSameAs(pair.client());
            pair.client().shutdownOutput();
            assertThat(readAll(pair.server(), 50_000)).isEqualTo(pattern(2, 50_000));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            writeAll(pair.server(), pattern(3, 50_000));
            assertThat(readAll(pair.client(), 50_000)).isEqualTo(pattern(3, 50_000));
            pair.server().shutdownOutput();
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.client().isOpen()).isTrue();
            assertThat(pair.client().isConnected()).isTrue();
        }
    }

    @Test
    void rule30_shutdownOutput_refusesWritesOfEveryKind() throws IOException {
        for (boolean blocking : new boolean[] {true, false}) {
            try (Pair pair = connect()) {
                SocketChannel client = pair.client();
                client.configureBlocking(blocking);
                client.shutdownOutput();
                assertThatThrownBy(() -> client.write(ByteBuffer.allocate(1)))
                        .isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(() -> client.write(new ByteBuffer[] {ByteBuffer.allocate(1)}))
                        .isInstanceOf(ClosedChannelException.class);
                assertThat(client.isOpen()).isTrue();
            }
        }
    }

    @Test
    void rule30_shutdownOutput_endsABlockedWrite() throws Exception {
        try (Pair pair = connect()) {
            assertEnds(
                            () -> {
                                while (true) {
                                    pair.client().write(pattern(1, 1 << 20));
                                }
                            },
                            pair.client()::shutdownOutput)
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void rule30_shutdownOutput_endsABlockedWriteThatHasWrittenNothing() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            fill(pair.client());
            pair.client().configureBlocking(true);
            assertEnds(() -> pair.client().write(pattern(1, 1)), pair.client()::shutdownOutput)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule30_shutdownOutput_endsABlockedGatheringWrite() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            fill(pair.client());
            pair.client().configureBlocking(true);
            assertEnds(
                            () -> pair.client().write(new ByteBuffer[] {pattern(1, 1), pattern(2, 1)}),
                            pair.client()::shutdownOutput)
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void rule28_shutdown_ofWhatIsNotConnectedOrClosed_asSpecified() throws IOException {
        SocketChannel channel = provider().openSocketChannel();
        assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
        channel.close();
        assertThatThrownBy(channel::shutdownInput).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(channel::shutdownOutput).isInstanceOf(ClosedChannelException.class);
    }
}
