package io.rdmanio.stream;

/**
 * Sizes of one stream, fixed when it connects.
 *
 * @param sendQueueEntries work requests of the send queue
 * @param receiveCredits messages granted to the peer; the receive queue is deeper by the control slots
 * @param inlineBytes payload up to this size is copied into the work request
 * @param sendBufferBytes size of the circular send buffer
 * @param receiveBufferBytes size of the receive buffer, two halves
 */
public record StreamConfiguration(
        int sendQueueEntries, int receiveCredits, int inlineBytes, int sendBufferBytes, int receiveBufferBytes) {
    /** The rsocket defaults: 384 entries, 64 bytes inline, 128 KiB each way. */
    public static final StreamConfiguration DEFAULT = new StreamConfiguration(384, 384, 64, 128 << 10, 128 << 10);

    /** The smallest queue the protocol works with. */
    static final int MIN_QUEUE_ENTRIES = 16;

    private static final int MIN_BUFFER_BYTES = 8 << 10;
    private static final int MAX_BUFFER_BYTES = 64 << 20;

    /** The same with other buffer sizes, brought into the range a stream supports. */
    public StreamConfiguration withBuffers(int sendBytes, int receiveBytes) {
        return new StreamConfiguration(
                sendQueueEntries, receiveCredits, inlineBytes, bufferBytes(sendBytes), bufferBytes(receiveBytes));
    }

    /** The same, its queues no deeper than a device's limit. */
    StreamConfiguration boundedBy(int maxQueueEntries) {
        int deepest = Math.max(MIN_QUEUE_ENTRIES, maxQueueEntries - SendWindow.CONTROL_SLOTS);
        return new StreamConfiguration(
                Math.min(sendQueueEntries, deepest),
                Math.min(receiveCredits, deepest),
                inlineBytes,
                sendBufferBytes,
                receiveBufferBytes);
    }

    /** The size a buffer gets when this many bytes are asked for: a whole number of page pairs within the range. */
    public static int bufferBytes(int wanted) {
        int clamped = Math.clamp(wanted, MIN_BUFFER_BYTES, MAX_BUFFER_BYTES);
        return clamped + MIN_BUFFER_BYTES - 1 & -MIN_BUFFER_BYTES;
    }
}
