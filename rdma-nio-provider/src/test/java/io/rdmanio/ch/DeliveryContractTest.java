package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Every byte that a write has taken is delivered, whenever the reader begins to read and whenever the writer closes.
 * {@code -Dio.rdmanio.test.stallSeconds} asks for a reader that takes longer than a build has time for.
 */
abstract class DeliveryContractTest extends ChannelContract {
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(Long.getLong("io.rdmanio.test.stallSeconds", 1));
    private static final int BUFFER_BYTES = 128 << 10;

    /** What a stalled stream may hold: buffers of both ends, of which a kernel makes twice as much as it is asked for, or a bit more. */
    private static final int MOST_HELD_BYTES = 8 * BUFFER_BYTES;

    /** What counting memory by pages may add. */
    private static final int SLACK_BYTES = 64 << 10;

    private static final int STALLED_STREAM_BYTES = 4 << 20;
    private static final int PIECE_BYTES = 200_000;

    /** What streams consist of; its length divides nothing, so that a byte out of its place shows. */
    private static final ByteBuffer CONTENT = pattern(11, 1_048_573);

    private static final ByteBuffer DIRECT_CONTENT = ByteBuffer.allocateDirect(CONTENT.capacity())
            .put(CONTENT.duplicate())
            .flip();

    /** Bytes of the stream from a place on, as many as asked for or as there are up to where the content begins again. */
    private static ByteBuffer content(ByteBuffer all, long at, long bytes) {
        int offset = (int) (at % all.capacity());
        return all.slice(offset, (int) Math.min(bytes, all.capacity() - offset));
    }

    /** Reads a stream to its end and checks all of it. */
    private static long readToTheEnd(SocketChannel channel) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(PIECE_BYTES);
        long at = 0;
        while (channel.read(target.clear()) >= 0) {
            target.flip();
            while (target.hasRemaining()) {
                ByteBuffer expected = content(CONTENT, at, target.remaining());
                ByteBuffer got = target.slice(target.position(), expected.remaining());
                assertThat(got.mismatch(expected))
                        .as("mismatch behind byte %d", at)
                        .isEqualTo(-1);
                target.position(target.position() + expected.remaining());
                at += expected.remaining();
            }
        }
        return at;
    }

    /** Writes as OP_WRITE says, and closes when the last byte has been taken. */
    private static void writeAndClose(
            SocketChannel channel, Selector selector, ByteBuffer content, long from, long upTo) throws IOException {
        SelectionKey key = channel.register(selector, WRITE);
        long at = from;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS);
        while (at < upTo) {
            assertThat(System.nanoTime()).as("time, at byte %d", at).isLessThan(deadline);
            if (selector.select(LONG_MILLIS) == 1) {
                assertThat(key.isWritable()).isTrue();
                at += channel.write(content(content, at, Math.min(upTo - at, PIECE_BYTES)));
                selector.selectedKeys().clear();
            }
        }
        channel.close();
    }

    @Test
    void rule58_close_atOnceAfterTheLastByteWasTaken_deliversAll() throws Exception {
        long bytes = transport().affordsManyRounds() ? 64 << 20 : 8 << 20;
        for (ByteBuffer content : new ByteBuffer[] {DIRECT_CONTENT, CONTENT}) {
            for (long delayMillis : new long[] {0, SHORT_MILLIS}) {
                try (Pair pair = connect();
                        Selector selector = provider().openSelector()) {
                    pair.client().configureBlocking(false);
                    Doing<Void> writer = doing(() -> {
                        writeAndClose(pair.client(), selector, content, 0, bytes);
                        return null;
                    });
                    TimeUnit.MILLISECONDS.sleep(delayMillis);
                    assertThat(readToTheEnd(pair.server())).isEqualTo(bytes);
                    writer.get();
                }
            }
        }
    }

    /** A connection with buffers so short that it comes to a stop soon. */
    private Pair connectShort() throws IOException {
        try (ServerSocketChannel listener = provider().openServerSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES).bind(anyPort());
            SocketChannel client = provider().openSocketChannel();
            client.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
            client.connect(listener.getLocalAddress());
            return new Pair(client, listener.accept());
        }
    }

    private static int fillWithContent(SocketChannel channel) throws Exception {
        int at = 0;
        long idleSince = System.nanoTime();
        while (System.nanoTime() - idleSince < TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS)) {
            int count = channel.write(content(DIRECT_CONTENT, at, PIECE_BYTES));
            if (count > 0) {
                at += count;
                idleSince = System.nanoTime();
            } else {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        return at;
    }

    @Test
    void rule32_peerThatReadsNothingForLong_holdsTheWriterUpAndLosesNothing() throws Exception {
        try (Pair selecting = connectShort();
                Pair blocking = connectShort();
                Selector selector = provider().openSelector()) {
            Doing<Void> blocked = doing(() -> {
                for (long at = 0; at < STALLED_STREAM_BYTES; ) {
                    at += blocking.client().write(content(CONTENT, at, STALLED_STREAM_BYTES - at));
                }
                blocking.client().close();
                return null;
            });
            selecting.client().configureBlocking(false);
            int taken = fillWithContent(selecting.client());
            assertThat(taken).isBetween(1, MOST_HELD_BYTES);
            blocked.blocked();

            long held = transport().heldBytes();
            SelectionKey key = selecting.client().register(selector, WRITE);
            long end = System.nanoTime() + STALL_NANOS;
            while (System.nanoTime() < end) {
                assertThat(selector.select(100)).as("writable").isZero();
                assertThat(selecting.client().write(content(DIRECT_CONTENT, taken, PIECE_BYTES)))
                        .isZero();
            }
            assertThat(blocked.isDone()).isFalse();
            assertThat(transport().heldBytes())
                    .as("what the stalled streams hold")
                    .isLessThan(held + SLACK_BYTES);
            key.cancel();
            selector.selectNow();

            Doing<Void> writer = doing(() -> {
                writeAndClose(selecting.client(), selector, DIRECT_CONTENT, taken, STALLED_STREAM_BYTES);
                return null;
            });
            assertThat(readToTheEnd(selecting.server())).isEqualTo(STALLED_STREAM_BYTES);
            writer.get();
            assertThat(readToTheEnd(blocking.server())).isEqualTo(STALLED_STREAM_BYTES);
            blocked.get();
        }
    }
}
