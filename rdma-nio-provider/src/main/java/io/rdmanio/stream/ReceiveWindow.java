package io.rdmanio.stream;

import java.net.ProtocolException;

/**
 * What has arrived and what the peer may still send: the ring of two buffer halves, the messages in it not yet read,
 * and the credits to give.
 *
 * <p>Pure accounting, no native call. A message carries no address: payload k starts where payload k-1 ended, halves are
 * filled completely and in order. A credit returns when a whole message has been read. What the peer says is checked: a
 * message that could not have been sent within what was granted is a {@link ProtocolException}. Not thread-safe:
 * guarded by the connection's lock.
 */
final class ReceiveWindow {
    private static final int CREDIT_MASK = 0xffff;

    private final int halfBytes;
    private final int credits;

    // begin messages arrived and not yet read whole: payload bytes, oldest first
    private final int[] messages;
    private int firstMessage;
    private int messageCount;
    private int firstMessageRead;
    // end messages

    private int available;
    private int readOffset;
    private int arriveOffset;

    /** Bytes read and not yet offered again; starts at one half because the second was never offered. */
    private int reclaimed;

    private int freeHalfOffset;
    private int taken;
    private int mark;

    /**
     * @param bufferBytes size of the receive buffer, two halves
     * @param credits messages granted at once
     */
    ReceiveWindow(int bufferBytes, int credits) {
        this.halfBytes = bufferBytes / 2;
        this.credits = credits;
        this.messages = new int[credits];
        this.reclaimed = halfBytes;
        this.freeHalfOffset = halfBytes;
        this.mark = credits / 2;
    }

    /**
     * Accounts for a DATA message.
     *
     * @throws ProtocolException if it exceeds the credits, the free buffer or the half it lies in
     */
    void arrived(int bytes) throws ProtocolException {
        if (bytes == 0) {
            tookOne();
            return;
        }
        if (messageCount == messages.length) {
            throw new ProtocolException("The peer sent more than the " + credits + " messages it was granted");
        }
        if (bytes > halfBytes - arriveOffset % halfBytes || bytes > 2 * halfBytes - available) {
            throw new ProtocolException("The peer wrote " + bytes + " bytes where it was granted fewer");
        }
        messages[(firstMessage + messageCount) % messages.length] = bytes;
        messageCount++;
        available += bytes;
        arriveOffset = advance(arriveOffset, bytes);
    }

    /** Accounts for a message without payload that cost the peer a credit. */
    void tookOne() {
        taken = taken + 1 & CREDIT_MASK;
    }

    /** Bytes that can be read. */
    int available() {
        return available;
    }

    /** Offset in the receive buffer of the next byte to read. */
    int readOffset() {
        return readOffset;
    }

    /** Bytes that can be read from {@link #readOffset()} without wrapping. */
    int contiguous() {
        return Math.min(available, 2 * halfBytes - readOffset);
    }

    /** Accounts for bytes read. */
    void consumed(int bytes) {
        assert bytes <= available;
        available -= bytes;
        reclaimed += bytes;
        readOffset = advance(readOffset, bytes);
        int left = bytes;
        while (left > 0) {
            int rest = messages[firstMessage] - firstMessageRead;
            if (left < rest) {
                firstMessageRead += left;
                return;
            }
            left -= rest;
            firstMessageRead = 0;
            firstMessage = (firstMessage + 1) % messages.length;
            messageCount--;
            tookOne();
        }
    }

    private int advance(int offset, int bytes) {
        int next = offset + bytes;
        return next >= 2 * halfBytes ? next - 2 * halfBytes : next;
    }

    /** Whether the peer should hear of a free half or of more credits. */
    boolean updateDue() {
        return halfFree() || (short) (taken - mark) >= 0;
    }

    boolean halfFree() {
        return reclaimed >= halfBytes;
    }

    int halfBytes() {
        return halfBytes;
    }

    /** Offset of the half to offer next. */
    int freeHalfOffset() {
        return freeHalfOffset;
    }

    /** The absolute limit of messages to tell the peer. */
    int limit() {
        return taken + credits & CREDIT_MASK;
    }

    /** Accounts for an update sent to the peer. */
    void updated(boolean withHalf) {
        mark = taken + credits / 2 & CREDIT_MASK;
        if (withHalf) {
            reclaimed -= halfBytes;
            freeHalfOffset = freeHalfOffset == 0 ? halfBytes : 0;
        }
    }

    @Override
    public String toString() {
        return "ReceiveWindow[available=" + available + ", messages=" + messageCount + ", taken=" + taken + ", mark="
                + mark + ", reclaimed=" + reclaimed + "]";
    }
}
