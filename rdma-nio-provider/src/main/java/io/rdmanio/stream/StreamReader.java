package io.rdmanio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The reading half of a connection: copies out of the receive buffer, outside the lock, what the peer has written into it.
 *
 * <p>For one thread at a time, which holds the channel's read lock; {@link #shutdown()} may be called by any.
 */
public final class StreamReader {
    private final StreamConnection connection;

    // guarded by the connection's lock
    private boolean shut;

    StreamReader(StreamConnection connection) {
        this.connection = connection;
    }

    /**
     * Reads what is there; never blocks. What had arrived before the connection broke is read first.
     *
     * @return bytes read, 0 if there are none now, -1 at the end of the stream
     * @throws IOException if the connection has broken
     */
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        int readable;
        int position;
        int contiguous;
        connection.lock.lock();
        try {
            StreamProtocol protocol = connection.protocol();
            if (protocol.readable() == 0) {
                connection.update();
            }
            readable = protocol.readable();
            if (readable == 0 || shut) {
                return endOrNothing(protocol);
            }
            position = protocol.readOffset();
            contiguous = protocol.contiguousReadable();
            protocol.beginCopy();
        } finally {
            connection.lock.unlock();
        }

        int read = 0;
        try {
            read = copy(targets, offset, length, position, contiguous, readable);
        } finally {
            connection.lock.lock();
            try {
                connection.protocol().consumed(read);
                connection.checkFailure();
            } finally {
                connection.lock.unlock();
            }
        }
        return read;
    }

    private int copy(ByteBuffer[] targets, int offset, int length, int position, int contiguous, int readable) {
        ByteBuffer buffer = connection.protocol().receiveBuffer();
        int read = 0;
        for (int i = offset; i < offset + length && read < readable; i++) {
            if (read < contiguous) {
                read += copy(buffer, position + read, contiguous - read, targets[i]);
            }
            if (read >= contiguous && read < readable) {
                read += copy(buffer, position + read - buffer.capacity(), readable - read, targets[i]);
            }
        }
        return read;
    }

    /** Bytes that have arrived and not been read. */
    public int available() {
        connection.lock.lock();
        try {
            connection.update();
            return connection.protocol().readable();
        } finally {
            connection.lock.unlock();
        }
    }

    private int endOrNothing(StreamProtocol protocol) throws IOException {
        if (shut || protocol.inputEnded()) {
            return -1;
        }
        IOException failure = protocol.failure();
        if (failure != null) {
            throw StreamConnection.broken(failure);
        }
        return protocol.peerGone() ? -1 : 0;
    }

    private static int copy(ByteBuffer buffer, int from, int atMost, ByteBuffer target) {
        int count = Math.min(atMost, target.remaining());
        target.put(target.position(), buffer, from, count);
        target.position(target.position() + count);
        return count;
    }

    /** From now on reads see the end, and what arrives is thrown away. */
    public void shutdown() {
        connection.lock.lock();
        try {
            shut = true;
            connection.protocol().discardInput();
            connection.checkFailure();
            connection.publish();
        } finally {
            connection.lock.unlock();
        }
    }

    /** Whether {@link #shutdown()} was called. Connection's lock held. */
    boolean isShut() {
        return shut;
    }
}
