package io.rdmanio.lab.programs;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The head that every message of rcopy begins with: 16 bytes in the sender's own byte order.
 *
 * @param command what is asked for, or with {@link #RESPONSE} added, answered
 * @param bodyBytes what follows the head and is counted in its length; the contents of a file are not
 * @param data the file's mode when it is opened, the status in an answer (0 or an errno)
 * @param id the asker's, which the answer repeats
 */
record RcopyMessage(int command, int bodyBytes, int data, long id) {
    static final int OPEN = 1;
    static final int CLOSE = 2;
    static final int WRITE = 3;
    static final int RESPONSE = 0x80;

    /** What a WRITE has for a body: the number of bytes of the file. */
    static final int WRITE_BODY_BYTES = Long.BYTES;

    private static final int HEAD_BYTES = 16;
    private static final int VERSION = 0;

    /** The next message's head; null at the end of the stream. */
    static RcopyMessage read(Transfers transfers) throws IOException {
        ByteBuffer head = buffer(HEAD_BYTES);
        if (transfers.readSome(head) < 0) {
            return null;
        }
        transfers.readAll(head);
        head.flip();
        int version = Byte.toUnsignedInt(head.get());
        int command = Byte.toUnsignedInt(head.get());
        int length = Short.toUnsignedInt(head.getShort());
        if (version != VERSION || length < HEAD_BYTES) {
            throw new ProtocolException("a message of version " + version + " and " + length + " bytes");
        }
        return new RcopyMessage(command, length - HEAD_BYTES, head.getInt(), head.getLong());
    }

    /** Reads the answer to a command, and throws if it is not that all went well. */
    static void expectSuccess(Transfers transfers, int command) throws IOException {
        RcopyMessage answer = read(transfers);
        if (answer == null) {
            throw new EOFException("end of stream in place of an answer to command " + command);
        }
        if (answer.command != (command | RESPONSE) || answer.bodyBytes != 0) {
            throw new ProtocolException(answer + " in place of an answer to command " + command);
        }
        if (answer.data != 0) {
            throw new IOException("command " + command + " was answered with status " + answer.data);
        }
    }

    /** The answer to this message. */
    RcopyMessage answer(int status) {
        return new RcopyMessage(command | RESPONSE, 0, status, id);
    }

    /** Writes the head, with the body behind it. */
    void write(Transfers transfers, ByteBuffer body) throws IOException {
        ByteBuffer message = buffer(HEAD_BYTES + bodyBytes);
        message.put((byte) VERSION)
                .put((byte) command)
                .putShort((short) message.capacity())
                .putInt(data)
                .putLong(id)
                .put(body);
        if (message.hasRemaining()) {
            throw new IllegalArgumentException("a body that is shorter than " + bodyBytes + " bytes");
        }
        transfers.writeAll(message.flip());
    }

    /** A buffer as the numbers of a message lie in it. */
    static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }
}
