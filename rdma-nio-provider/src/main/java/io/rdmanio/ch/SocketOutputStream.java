package io.rdmanio.ch;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** The output of a socket adaptor; writes all it is given, without holding up readers. Thread-safe. */
final class SocketOutputStream extends OutputStream {
    private final SocketChannelImpl channel;

    SocketOutputStream(SocketChannelImpl channel) {
        this.channel = channel;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, source.length);
        if (length > 0) {
            channel.writeFully(ByteBuffer.wrap(source, offset, length));
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
