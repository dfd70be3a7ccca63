package io.rdmanio.lab.programs;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Whole reads and writes on one connected channel, in the two ways that NIO programs do them: blocking, or non-blocking
 * with a selector that waits when nothing moves. One thread at a time; closing it closes the channel.
 */
abstract class Transfers implements AutoCloseable {
    final SocketChannel channel;

    private Transfers(SocketChannel channel) {
        this.channel = channel;
    }

    /** Transfers that block in read and write. */
    static Transfers blocking(SocketChannel channel) throws IOException {
        channel.configureBlocking(true);
        return new Blocking(channel);
    }

    /** Transfers that never block but in select. */
    static Transfers selecting(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        return new Selecting(channel);
    }

    /** Writes all that remains of the buffer. */
    abstract void writeAll(ByteBuffer buffer) throws IOException;

    /** Reads at least one byte, or returns -1 at the end of the stream. */
    abstract int readSome(ByteBuffer buffer) throws IOException;

    /** Reads until the buffer is full. */
    void readAll(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (readSome(buffer) < 0) {
                throw new EOFException("end of stream with " + buffer.remaining() + " bytes outstanding");
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private static final class Blocking extends Transfers {
        Blocking(SocketChannel channel) {
            super(channel);
        }

        @Override
        void writeAll(ByteBuffer buffer) throws IOException {
            while (buffer.hasRemaining()) {
                if (channel.write(buffer) == 0) {
                    throw new IOException("a blocking write wrote nothing");
                }
            }
        }

        @Override
        int readSome(ByteBuffer buffer) throws IOException {
            int count = channel.read(buffer);
            if (count == 0) {
                throw new IOException("a blocking read returned nothing");
            }
            return count;
        }
    }

    private static final class Selecting extends Transfers {
        private final Selector selector;
        private final SelectionKey key;

        Selecting(SocketChannel channel) throws IOException {
            super(channel);
            selector = Selector.open();
            key = channel.register(selector, 0);
        }

        @Override
        void writeAll(ByteBuffer buffer) throws IOException {
            while (buffer.hasRemaining()) {
                if (channel.write(buffer) == 0) {
                    await(SelectionKey.OP_WRITE);
                }
            }
        }

        @Override
        int readSome(ByteBuffer buffer) throws IOException {
            int count = channel.read(buffer);
            while (count == 0) {
                await(SelectionKey.OP_READ);
                count = channel.read(buffer);
            }
            return count;
        }

        private void await(int operation) throws IOException {
            key.interestOps(operation);
            do {
                selector.select();
            } while (!selector.selectedKeys().remove(key));
            if ((key.readyOps() & operation) == 0) {
                throw new IOException("selected for " + key.readyOps() + " when only " + operation + " was asked for");
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
            selector.close();
        }
    }
}
