package io.rdmanio.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/**
 * The writing half of a connection: copies into the send buffer, outside the lock, and posts messages. A device that posts
 * buffers is given the program's own, one after the other, and small ones in a row as one message.
 *
 * <p>A write is cut into messages that double up to 64 KiB, so that the first bytes are under way while the rest is copied.
 * For one thread at a time, which holds the channel's write lock.
 */
public final class StreamWriter {
    private static final int FIRST_MESSAGE_BYTES = 2 << 10;

    /** Where a message is at the peer's when it is posted, each may wake the reader, which costs as much as copying this. */
    private static final int FIRST_BUFFER_BYTES = 16 << 10;

    static final int LONGEST_MESSAGE_BYTES = 64 << 10;

    /** As many bytes of small buffers are sent as one message. */
    private static final int JOINED_BYTES = 2 << 10;

    private final StreamConnection connection;

    /** Where small buffers are joined; null until there are some. */
    private ByteBuffer joined;

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
        boolean fromBuffers = connection.protocol().sendsFromBuffers();
        int message = fromBuffers ? FIRST_BUFFER_BYTES : FIRST_MESSAGE_BYTES;
        try {
            while (remaining > 0) {
                int count = fromBuffers
                        ? sendFromBuffer(sources, offset, message, total == 0)
                        : sendFromSendBuffer(sources, offset, message, total == 0);
                if (count == 0) {
                    break;
                }
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

    /** Sends one message straight from the program's buffer, which needs the lock only once. */
    private int sendFromBuffer(ByteBuffer[] sources, int offset, int message, boolean first) throws IOException {
        connection.lock.lock();
        try {
            int count = nextLength(message, first);
            if (count == 0) {
                return 0;
            }
            while (positions[current] == sources[offset + current].limit()) {
                current++;
            }
            ByteBuffer source = sources[offset + current];
            int here = source.limit() - positions[current];
            ByteBuffer data = source;
            int position = positions[current];
            if (here < JOINED_BYTES && here < remaining) {
                count = Math.min(count, JOINED_BYTES);
                data = join(sources, offset, count);
                position = 0;
            } else {
                count = Math.min(count, here);
            }
            try {
                connection.protocol().postData(data, position, count);
            } finally {
                connection.checkFailure();
            }
            advance(sources, offset, count);
            return count;
        } finally {
            connection.lock.unlock();
        }
    }

    private ByteBuffer join(ByteBuffer[] sources, int offset, int count) {
        if (joined == null) {
            joined = ByteBuffer.allocate(JOINED_BYTES);
        }
        gather(sources, offset, count, joined, 0);
        return joined;
    }

    /** Sends one message by way of the send buffer, or inline if it is short. */
    private int sendFromSendBuffer(ByteBuffer[] sources, int offset, int message, boolean first) throws IOException {
        int count = prepare(message, first);
        if (count == 0) {
            return 0;
        }
        StreamProtocol protocol = connection.protocol();
        boolean inline = protocol.fitsInline(count);
        gather(
                sources,
                offset,
                count,
                inline ? protocol.inlineBuffer() : protocol.sendBuffer(),
                inline ? 0 : protocol.sendOffset());
        if (!post(count, inline)) {
            return 0; // shut down meanwhile
        }
        advance(sources, offset, count);
        return count;
    }

    private int prepare(int message, boolean first) throws IOException {
        connection.lock.lock();
        try {
            return nextLength(message, first);
        } finally {
            connection.lock.unlock();
        }
    }

    /** How long the next message may be; 0 if nothing can be sent now. Lock held. */
    private int nextLength(int message, boolean first) throws IOException {
        StreamProtocol protocol = connection.protocol();
        int left = (int) Math.min(remaining, Integer.MAX_VALUE);
        int count = protocol.nextLength(left, message);
        if (count == 0) {
            connection.update();
            count = protocol.nextLength(left, message);
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

    /** Copies the next bytes of the sources to where they are sent from; at the end of that, its front follows. */
    private void gather(ByteBuffer[] sources, int offset, int count, ByteBuffer target, int targetOffset) {
        int at = targetOffset;
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
