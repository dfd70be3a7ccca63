package io.rdmanio.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/**
 * The writing half of a connection: copies into the send buffer, outside the lock, and posts messages.
 *
 * <p>A write is cut into messages of 2 KiB first, doubling up to 64 KiB, so that the first bytes are under way while the
 * rest is copied. For one thread at a time, which holds the channel's write lock.
 */
public final class StreamWriter {
    private static final int FIRST_MESSAGE_BYTES = 2 << 10;
    private static final int LONGEST_MESSAGE_BYTES = 64 << 10;

    private final StreamConnection connection;

    /** Positions of the sources of the write in progress, and the first source that has something left. */
    private int[] positions = new int[1];

    private int current;

    /** Bytes of it that are left. */
    private long remaining;

    StreamWriter(StreamConnection connection) {
        this.connection = connection;
    }

    /**
     * Writes what can be sent now; never blocks.
     *
     * @return bytes written, 0 if the peer has no room or too much is under way
     * @throws IOException if nothing was written and the connection has broken
     */
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        begin(sources, offset, length);
        return goOn(sources, offset, length);
    }

    /**
     * Goes on where the last write, with the same arguments, has left off; never blocks. A buffer that occurs twice among the
     * sources is written twice, which its position alone would not tell.
     *
     * @return as {@link #write}
     * @throws IOException as {@link #write}
     */
    public long goOn(ByteBuffer[] sources, int offset, int length) throws IOException {
        long total = 0;
        int message = FIRST_MESSAGE_BYTES;
        try {
            while (remaining > 0) {
                int count = prepare((int) Math.min(remaining, Integer.MAX_VALUE), message, total == 0);
                if (count == 0) {
                    break;
                }
                boolean inline = connection.protocol().fitsInline(count);
                gather(sources, offset, count, inline);
                if (!post(count, inline)) {
                    break; // shut down meanwhile
                }
                advance(sources, offset, count);
                total += count;
                remaining -= count;
                message = Math.min(message * 2, LONGEST_MESSAGE_BYTES);
            }
        } finally {
            for (int i = 0; i < length; i++) {
                sources[offset + i].position(positions[i]);
            }
        }
        return total;
    }

    /** Notes where the sources are. Each is read from there even if it is the same buffer as another. */
    private void begin(ByteBuffer[] sources, int offset, int length) {
        if (positions.length < length) {
            positions = new int[length];
        }
        current = 0;
        remaining = 0;
        for (int i = 0; i < length; i++) {
            positions[i] = sources[offset + i].position();
            remaining += sources[offset + i].remaining();
        }
    }

    /** Whether the last write has left anything. */
    public boolean hasRemaining() {
        return remaining > 0;
    }

    private int prepare(int remaining, int message, boolean first) throws IOException {
        connection.lock.lock();
        try {
            StreamProtocol protocol = connection.protocol();
            int count = protocol.nextLength(remaining, message);
            if (count == 0) {
                connection.update();
                count = protocol.nextLength(remaining, message);
            }
            if (protocol.failure() != null || protocol.peerGone() || protocol.outputShut()) {
                if (!first) {
                    return 0; // what was written before is told first; the next write fails
                }
                throw protocol.failure() != null
                        ? StreamConnection.broken(protocol.failure())
                        : new SocketException("Broken pipe");
            }
            return count;
        } finally {
            connection.lock.unlock();
        }
    }

    private boolean post(int count, boolean inline) throws IOException {
        connection.lock.lock();
        try {
            StreamProtocol protocol = connection.protocol();
            if (protocol.outputShut()) {
                return false;
            }
            try {
                protocol.postData(count, inline);
            } finally {
                connection.checkFailure();
            }
            return true;
        } finally {
            connection.lock.unlock();
        }
    }

    /** Copies the next bytes of the sources to where they are sent from. */
    private void gather(ByteBuffer[] sources, int offset, int count, boolean inline) {
        StreamProtocol protocol = connection.protocol();
        ByteBuffer target = inline ? protocol.inlineBuffer() : protocol.sendBuffer();
        int at = inline ? 0 : protocol.sendOffset();
        int left = count;
        for (int i = current; left > 0; i++) {
            ByteBuffer source = sources[offset + i];
            int position = positions[i];
            int end = position + Math.min(source.limit() - position, left);
            left -= end - position;
            while (position < end) {
                int part = Math.min(end - position, target.capacity() - at);
                target.put(at, source, position, part);
                position += part;
                at += part;
                if (at == target.capacity()) {
                    at = 0;
                }
            }
        }
    }

    /** Advances by what was sent. */
    private void advance(ByteBuffer[] sources, int offset, int count) {
        int left = count;
        while (left > 0) {
            int part = Math.min(sources[offset + current].limit() - positions[current], left);
            positions[current] += part;
            left -= part;
            if (left > 0) {
                current++;
            }
        }
    }
}
