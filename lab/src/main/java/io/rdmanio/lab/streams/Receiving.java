package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** So many bytes out of one connection, in whatever portions they come. For one thread. */
final class Receiving implements StreamEnd.Task {
    private final StreamEnd end;
    private final SocketChannel channel;
    private final ByteBuffer buffer;
    private long left;

    Receiving(StreamEnd end, SocketChannel channel, ByteBuffer buffer, long bytes) {
        this.end = end;
        this.channel = channel;
        this.buffer = buffer;
        left = bytes;
    }

    /** All of them out of a blocking channel. */
    void receiveAll() throws IOException {
        while (left > 0) {
            receive();
        }
    }

    @Override
    public void ready() throws IOException {
        receive();
        if (left == 0) {
            end.finished();
        }
    }

    private void receive() throws IOException {
        buffer.clear();
        left -= StreamEnd.read(channel, buffer);
        if (left < 0) {
            throw new IOException(-left + " bytes more than were sent");
        }
    }
}
