package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** Messages of one size through one connection, as fast as it takes them. For one thread. */
final class Sending implements StreamEnd.Task {
    private final StreamEnd end;
    private final SocketChannel channel;
    private final SelectionKey keyOrNull;
    private final ByteBuffer message;
    private int left;

    Sending(StreamEnd end, SocketChannel channel, SelectionKey keyOrNull, ByteBuffer message, int messages) {
        this.end = end;
        this.channel = channel;
        this.keyOrNull = keyOrNull;
        this.message = message;
        left = messages;
    }

    /** All of them through a blocking channel. */
    void sendAll() throws IOException {
        for (; left > 0; left--) {
            message.clear();
            StreamEnd.writeFully(channel, message);
        }
    }

    /** Has itself called when the channel, which has a selector, takes bytes. */
    void begin() {
        message.clear();
        keyOrNull.interestOps(SelectionKey.OP_WRITE);
    }

    @Override
    public void ready() throws IOException {
        while (true) {
            channel.write(message);
            if (message.hasRemaining()) {
                return;
            }
            message.clear();
            if (--left == 0) {
                keyOrNull.interestOps(SelectionKey.OP_READ);
                end.finished();
                return;
            }
        }
    }
}
