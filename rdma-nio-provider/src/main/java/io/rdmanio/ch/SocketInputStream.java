package io.rdmanio.ch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.IntSupplier;

/** The input of a socket adaptor; reads within the adaptor's time, without holding up writers. Thread-safe. */
final class SocketInputStream extends InputStream {
    private final SocketChannelImpl channel;
    private final IntSupplier timeoutMillis;

    SocketInputStream(SocketChannelImpl channel, IntSupplier timeoutMillis) {
        this.channel = channel;
        this.timeoutMillis = timeoutMillis;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        return length == 0 ? 0 : channel.readWithin(ByteBuffer.wrap(target, offset, length), timeoutMillis.getAsInt());
    }

    @Override
    public int available() throws IOException {
        return channel.available();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
