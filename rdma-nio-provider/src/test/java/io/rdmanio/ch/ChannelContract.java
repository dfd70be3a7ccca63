package io.rdmanio.ch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;

/** What the contract suites need of the transport they run over. */
abstract class ChannelContract {
    abstract SelectorProvider provider();

    abstract InetAddress address() throws IOException;

    final InetSocketAddress anyPort() throws IOException {
        return new InetSocketAddress(address(), 0);
    }

    final ServerSocketChannel listen() throws IOException {
        return provider().openServerSocketChannel().bind(anyPort());
    }

    /** Two ends of one connection, both blocking. */
    record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            try (client) {
                server.close();
            }
        }
    }

    final Pair connect() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            SocketChannel client = provider().openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new Pair(client, listener.accept());
        }
    }

    /** A port of the address at which nobody listens. */
    final InetSocketAddress nobody() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            return (InetSocketAddress) listener.getLocalAddress();
        }
    }

    static ByteBuffer pattern(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    static void writeAll(SocketChannel channel, ByteBuffer source) throws IOException {
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    /** Reads until the buffer is full or the stream ends; flips it. */
    static ByteBuffer readAll(SocketChannel channel, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int count = 0;
        while (target.hasRemaining() && count >= 0) {
            count = channel.read(target);
        }
        return target.flip();
    }

    static Thread start(String name, Action action) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        });
    }

    interface Action {
        void run() throws Exception;
    }
}
