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
        long total = 0;
        long remaining = 0;
        for (int i = offset; i < offset + length; i++) {
            remaining += sources[i].remaining();
        }
        int message = FIRST_MESSAGE_BYTES;
        int next = offset;
        while (remaining > 0) {
            int count = prepare((int) Math.min(remaining, Integer.MAX_VALUE), message, total == 0);
            if (count == 0) {
                break;
            }
            boolean inline = connection.protocol().fitsInline(count);
            gather(sources, next, count, inline);
            if (!post(count, inline)) {
                break; // shut down meanwhile
            }
            next = advance(sources, next, count);
            total += count;
            remaining -= count;
            message = Math.min(message * 2, LONGEST_MESSAGE_BYTES);
        }
        return total;
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
            protocol.postData(count, inline);
            return true;
        } finally {
            connection.lock.unlock();
        }
    }

    /** Copies the next bytes of the sources to where they are sent from. */
    private void gather(ByteBuffer[] sources, int first, int count, boolean inline) {
        StreamProtocol protocol = connection.protocol();
        ByteBuffer target = inline ? protocol.inlineBuffer() : protocol.sendBuffer();
        int at = inline ? 0 : protocol.sendOffset();
        int left = count;
        for (int i = first; left > 0; i++) {
            ByteBuffer source = sources[i];
            int position = source.position();
            int end = position + Math.min(source.remaining(), left);
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

    /** Advances the sources by what was sent; returns the index of the first that has some left. */
    private static int advance(ByteBuffer[] sources, int first, int count) {
        int left = count;
        int i = first;
        while (left > 0) {
            ByteBuffer source = sources[i];
            int part = Math.min(source.remaining(), left);
            source.position(source.position() + part);
            left -= part;
            if (!source.hasRemaining()) {
                i++;
            }
        }
        return i;
    }
}
