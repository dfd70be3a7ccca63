package io.rdmanio.lab.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Sends a seeded pattern to an echo server, ends its output, and verifies that the same comes back and then the end.
 * With a writing and a reading thread and blocking calls, or, with {@code --selector}, with one thread that connects,
 * writes and reads without blocking. With {@code --hold} it waits for a line of input once its first connection stands.
 * Its exit status tells whether all was as it should be.
 */
public final class EchoClient {
    private static final String USAGE =
            "EchoClient HOST PORT [--bytes=N] [--chunk=N] [--seed=N] [--connections=N] [--selector] [--hold]";

    private EchoClient() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args, 2, USAGE, "bytes", "chunk", "seed", "connections", "selector", "hold");
        long bytes = options.number("bytes", 1 << 20);
        int chunk = options.count("chunk", 32 * 1024);
        long seed = options.number("seed", 1);
        long start = System.nanoTime();
        int connections = options.count("connections", 1);
        for (int i = 0; i < connections; i++) {
            Pattern pattern = new Pattern(seed + i);
            boolean hold = i == 0 && options.has("hold");
            if (options.has("selector")) {
                echoSelecting(options, pattern, bytes, chunk, hold);
            } else {
                echoBlocking(options, pattern, bytes, chunk, hold);
            }
        }
        System.out.printf(
                "OK bytes=%d connections=%d seconds=%.3f%n", bytes, connections, (System.nanoTime() - start) / 1e9);
    }

    private static void echoBlocking(Options options, Pattern pattern, long bytes, int chunk, boolean hold)
            throws Exception {
        try (SocketChannel channel = SocketChannel.open(options.address(0))) {
            if (hold) {
                Hold.awaitLine();
            }
            CompletableFuture<Void> written = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    write(channel, pattern, bytes, chunk);
                    written.complete(null);
                } catch (IOException e) {
                    written.completeExceptionally(e);
                }
            });
            ByteBuffer buffer = ByteBuffer.allocate(chunk);
            long received = 0;
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                received += verify(pattern, buffer, received);
            }
            expectAll(received, bytes);
            written.get();
        } catch (ExecutionException e) {
            throw new IOException("the writer failed", e.getCause());
        }
    }

    private static void write(SocketChannel channel, Pattern pattern, long bytes, int chunk) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(chunk);
        for (long sent = 0; sent < bytes; sent += buffer.limit()) {
            buffer.clear().limit((int) Math.min(chunk, bytes - sent));
            pattern.fill(buffer, sent);
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
        channel.shutdownOutput();
    }

    private static void echoSelecting(Options options, Pattern pattern, long bytes, int chunk, boolean hold)
            throws IOException {
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            if (!channel.connect(options.address(0))) {
                while (!channel.finishConnect()) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
            }
            if (hold) {
                Hold.awaitLine();
            }
            key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            ByteBuffer out = ByteBuffer.allocateDirect(chunk).limit(0);
            ByteBuffer in = ByteBuffer.allocateDirect(chunk);
            long sent = 0;
            long received = 0;
            while (true) {
                selector.select();
                selector.selectedKeys().clear();
                if (key.isWritable()) {
                    if (!out.hasRemaining() && sent < bytes) {
                        out.clear().limit((int) Math.min(chunk, bytes - sent));
                        pattern.fill(out, sent);
                        sent += out.flip().limit();
                    }
                    channel.write(out);
                    if (sent == bytes && !out.hasRemaining()) {
                        channel.shutdownOutput();
                        key.interestOps(SelectionKey.OP_READ);
                    }
                }
                if (key.isReadable()) {
                    if (channel.read(in) < 0) {
                        break;
                    }
                    in.flip();
                    received += verify(pattern, in, received);
                }
            }
            expectAll(received, bytes);
        }
    }

    private static int verify(Pattern pattern, ByteBuffer buffer, long position) throws WrongDataException {
        int length = buffer.remaining();
        pattern.verify(buffer, position);
        buffer.clear();
        return length;
    }

    private static void expectAll(long received, long bytes) throws WrongDataException {
        if (received != bytes) {
            throw new WrongDataException("the stream ended after " + received + " of " + bytes + " bytes");
        }
    }
}
