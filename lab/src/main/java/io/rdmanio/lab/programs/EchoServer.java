package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;

/**
 * Sends back what arrives on each connection, and ends its half of a connection when the client has ended its own. With
 * a thread for each connection and blocking calls, or, with {@code --selector}, with one thread and one selector.
 */
public final class EchoServer {
    private static final String USAGE = "EchoServer HOST PORT [--selector]";
    private static final int BUFFER_BYTES = 64 * 1024;

    private EchoServer() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 2, USAGE, "selector");
        ServerSocketChannel server = ServerSocketChannel.open();
        server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        server.bind(options.address(0));
        if (options.has("selector")) {
            serveSelecting(server);
        } else {
            serveBlocking(server);
        }
    }

    private static void ready(ServerSocketChannel server, AutoCloseable stop) {
        StopOnInputEnd.run(stop);
        System.out.println("READY " + server.socket().getLocalPort());
    }

    private static void serveBlocking(ServerSocketChannel server) throws IOException {
        ready(server, server);
        while (true) {
            SocketChannel channel;
            try {
                channel = server.accept();
            } catch (ClosedChannelException _) {
                return;
            }
            Thread.ofPlatform().daemon().start(() -> echo(channel));
        }
    }

    private static void echo(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        try (channel) {
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
                buffer.clear();
            }
            channel.shutdownOutput();
        } catch (IOException e) {
            System.out.println("LOST " + e);
        }
    }

    private static void serveSelecting(ServerSocketChannel server) throws IOException {
        try (Selector selector = Selector.open()) {
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            ready(server, () -> {
                server.close();
                selector.wakeup();
            });
            while (true) {
                selector.select();
                if (!server.isOpen()) {
                    return;
                }
                Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
                while (keys.hasNext()) {
                    SelectionKey key = keys.next();
                    keys.remove();
                    if (key.isAcceptable()) {
                        accept(server, selector);
                    } else {
                        ((Echo) key.attachment()).proceed(key);
                    }
                }
            }
        }
    }

    private static void accept(ServerSocketChannel server, Selector selector) throws IOException {
        SocketChannel channel = server.accept();
        if (channel != null) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, new Echo());
        }
    }

    /** One connection's buffer; filled by reads, emptied by writes. Belongs to the selector's thread. */
    private static final class Echo {
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private boolean ended;

        void proceed(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            try {
                if (key.isReadable() && channel.read(buffer) < 0) {
                    ended = true;
                }
                buffer.flip();
                channel.write(buffer);
                buffer.compact();
                if (ended && buffer.position() == 0) {
                    channel.shutdownOutput();
                    channel.close();
                    return;
                }
                int reading = ended || !buffer.hasRemaining() ? 0 : SelectionKey.OP_READ;
                key.interestOps(reading | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
            } catch (IOException e) {
                System.out.println("LOST " + e);
                channel.close();
            }
        }
    }
}
