package io.rdmanio.stream;

/**
 * Sizes of one stream, fixed when it connects.
 *
 * @param sendQueueEntries work requests of the send queue
 * @param receiveCredits messages granted to the peer; the receive queue is deeper by the control slots
 * @param inlineBytes payload up to this size is copied into the work request
 * @param sendBufferBytes what the circular send buffer may grow to
 * @param receiveBufferBytes what the receive buffer may grow to, two halves
 */
public record StreamConfiguration(
        int sendQueueEntries, int receiveCredits, int inlineBytes, int sendBufferBytes, int receiveBufferBytes) {
    /** The rsocket defaults, 384 entries, 64 bytes inline, and 128 KiB to send from; the receive buffer may grow further. */
    public static final StreamConfiguration DEFAULT = new StreamConfiguration(384, 384, 64, 128 << 10, 512 << 10);

    private static final String FIRST_HALF_PROPERTY = "io.rdmanio.firstHalfBytes";

    private static final int SHORTEST_HALF_BYTES = 4 << 10;
    private static final int LONGEST_FIRST_HALF_BYTES = 1 << 20;

    /** What a half is long at first, and again when there is little traffic, unless the buffer may not be so large. */
    private static final int FIRST_HALF_BYTES = Math.clamp(
            Integer.getInteger(FIRST_HALF_PROPERTY, SHORTEST_HALF_BYTES),
            SHORTEST_HALF_BYTES,
            LONGEST_FIRST_HALF_BYTES);

    private static final int FIRST_SEND_BYTES = 8 << 10;

    /** The smallest queue the protocol works with. */
    static final int MIN_QUEUE_ENTRIES = 16;

    private static final int MIN_BUFFER_BYTES = 2 * SHORTEST_HALF_BYTES;
    private static final int MAX_BUFFER_BYTES = 64 << 20;

    /** The same with other buffer sizes, brought into the range a stream supports. */
    public StreamConfiguration withBuffers(int sendBytes, int receiveBytes) {
        return new StreamConfiguration(
                sendQueueEntries, receiveCredits, inlineBytes, bufferBytes(sendBytes), bufferBytes(receiveBytes));
    }

    /** How long the send buffer is when the stream connects. */
    int firstSendBytes() {
        return Math.min(FIRST_SEND_BYTES, sendBufferBytes);
    }

    /** How long a half of the receive buffer is when the stream connects. */
    int firstHalfBytes() {
        return Math.min(FIRST_HALF_BYTES, longestHalfBytes());
    }

    /** How long it may become. */
    int longestHalfBytes() {
        return receiveBufferBytes / 2;
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
