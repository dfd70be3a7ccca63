package io.rdmanio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The reading half of a connection: copies out of the receive buffer, outside the lock, what the peer has written into it.
 *
 * <p>For one thread at a time, which holds the channel's read lock; {@link #shutdown()} may be called by any.
 */
public final class StreamReader {
    /** Of how many halves one read copies; whoever wants more reads again. */
    private static final int HALVES = 2;

    private final StreamConnection connection;

    // begin: what the read in progress copies from
    private final ByteBuffer[] buffers = new ByteBuffer[HALVES];
    private final int[] offsets = new int[HALVES];
    private final int[] bytes = new int[HALVES];
    // end

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
        connection.lock.lock();
        try {
            StreamProtocol protocol = connection.protocol();
            connection.attend();
            if (protocol.readable() == 0) {
                connection.update();
            }
            if (protocol.readable() == 0 || shut) {
                return endOrNothing(protocol);
            }
            for (int half = 0; half < HALVES; half++) {
                bytes[half] = protocol.readableBytes(half);
                if (bytes[half] != 0) {
                    buffers[half] = protocol.readBuffer(half);
                    offsets[half] = protocol.readOffset(half);
                }
            }
            protocol.beginCopy();
        } finally {
            connection.lock.unlock();
        }

        int read = 0;
        try {
            read = copy(targets, offset, length);
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

    private int copy(ByteBuffer[] targets, int offset, int length) {
        int read = 0;
        int i = offset;
        for (int half = 0; half < HALVES; half++) {
            while (bytes[half] != 0 && i < offset + length) {
                ByteBuffer target = targets[i];
                int count = Math.min(bytes[half], target.remaining());
                target.put(target.position(), buffers[half], offsets[half], count);
                target.position(target.position() + count);
                offsets[half] += count;
                bytes[half] -= count;
                read += count;
                if (bytes[half] != 0) {
                    i++;
                }
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
