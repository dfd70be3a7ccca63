package io.rdmanio.ch;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** A program that writes streams and ends, without a thought for whether they have arrived. */
final class EndingWriter {
    /** How it ends. */
    enum Ending {
        CLOSE_AND_RETURN,
        CLOSE_AND_EXIT,
        RETURN,
        EXIT
    }

    /** How long the streams are; each is written twice, in blocking mode and by a selector. */
    static final List<Integer> LENGTHS = List.of(1, 100_000, 4 << 20);

    /** One that nobody need read before the program has ended. */
    static final int UNREAD_LENGTH = 100_000;

    private EndingWriter() {}

    /** What a stream consists of. */
    static ByteBuffer content(int length) {
        return ChannelContract.pattern(length, length);
    }

    /**
     * Runs it.
     *
     * @param arguments address and port, and how to end
     */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress target = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        Ending ending = Ending.valueOf(arguments[2]);
        List<SocketChannel> open = new ArrayList<>();
        open.add(write(target, UNREAD_LENGTH, false));
        for (int length : LENGTHS) {
            open.add(write(target, length, false));
            open.add(write(target, length, true));
        }
        if (ending == Ending.CLOSE_AND_RETURN || ending == Ending.CLOSE_AND_EXIT) {
            for (SocketChannel channel : open) {
                channel.close();
            }
        }
        if (ending == Ending.CLOSE_AND_EXIT || ending == Ending.EXIT) {
            System.exit(0);
        }
    }

    private static SocketChannel write(InetSocketAddress target, int length, boolean selecting) throws IOException {
        SocketChannel channel = SocketChannel.open(target);
        ByteBuffer content = content(length);
        if (!selecting) {
            ChannelContract.writeAll(channel, content);
            return channel;
        }
        channel.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            channel.register(selector, SelectionKey.OP_WRITE);
            while (content.hasRemaining()) {
                selector.select(key -> writeSome(channel, content));
            }
        }
        return channel;
    }

    private static void writeSome(SocketChannel channel, ByteBuffer content) {
        try {
            channel.write(content);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
