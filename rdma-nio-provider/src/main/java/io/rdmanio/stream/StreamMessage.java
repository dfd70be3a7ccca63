package io.rdmanio.stream;

/**
 * The 32-bit messages of the stream: three bits of operation above 29 bits of value.
 *
 * <p>Over InfiniBand and RoCE a message is the immediate data of an RDMA WRITE; over iWARP it is a four-byte SEND.
 * Stateless; thread-safe.
 */
final class StreamMessage {
    /** Value: bytes of payload written into the receiver's current half. */
    static final int DATA = 0;
    /** Local bookkeeping of the C peer; ignored when received. */
    static final int WRITE = 2;
    /** Value: the absolute credit limit, of which 16 bits count; may carry a table entry. */
    static final int SGL = 4;
    /** Value: index of an I/O mapping; ignored, we advertise none. */
    static final int IOMAP_SGL = 6;
    /** Value: one of the CTRL constants. */
    static final int CTRL = 7;

    static final int CTRL_DISCONNECT = 0;
    static final int CTRL_KEEPALIVE = 1;
    static final int CTRL_SHUTDOWN = 2;

    /** The largest value a message can carry. */
    static final int MAX_VALUE = (1 << 29) - 1;

    /** Bytes of a message that travels as a SEND. */
    static final int LENGTH_BYTES = Integer.BYTES;

    private StreamMessage() {}

    static int of(int operation, int value) {
        assert operation >= 0 && operation <= 7 && value >= 0 && value <= MAX_VALUE;
        return operation << 29 | value;
    }

    static int operation(int message) {
        return message >>> 29;
    }

    static int value(int message) {
        return message & MAX_VALUE;
    }
}
