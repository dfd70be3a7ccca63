package io.rdmanio.stream;

import java.net.ProtocolException;
import java.util.function.LongSupplier;

/**
 * What has arrived and what the peer may still send: the halves of the receive buffer that it was granted, and the
 * credits to give.
 *
 * <p>A half, which is called so because the peer's table holds two, may lie anywhere and have any length. Two at most are granted
 * and not filled. A third is granted when the peer has filled one, read or not, as long as all together are no longer than the
 * buffer may be. Pure accounting, no native call. A message carries no address: payload k starts where payload k-1 ended; the
 * peer fills a half completely before the next, and no message lies in two. A credit returns as soon
 * as its message has arrived, for its receive is posted again: so it is bytes that hold a peer up whose messages nobody reads,
 * however short they are. What the peer says is checked: a message that could not have been sent within what was granted is a
 * {@link ProtocolException}. Not thread-safe: guarded by the connection's lock.
 */
final class ReceiveWindow {
    /** Halves that may be granted and not read whole. There are fewer unless memory is short and all are short. */
    static final int MAX_HALVES = 32;

    private static final int MAX_UNFILLED = PeerParameters.TABLE_ENTRIES;
    private static final int CREDIT_MASK = 0xffff;

    private final int credits;
    private final HalfLength nextLength;
    private final LongSupplier nanoTime;

    // begin halves granted and not yet read whole, oldest first; the last ones are not filled
    private final MemoryBlock[] blocks = new MemoryBlock[MAX_HALVES];
    private final int[] lengths = new int[MAX_HALVES];
    private int firstHalf;
    private int halfCount;
    private int filledCount;
    /** Bytes read of the first half, and arrived in the first that is not filled. */
    private int firstRead;

    private int unfilledArrived;
    private int grantedBytes;
    private long lastFilledNanos;
    // end halves

    // begin blocks of halves that were read whole, or that none was in yet
    private final MemoryBlock[] spares = new MemoryBlock[MAX_HALVES];
    private int spareCount;
    // end blocks

    private int available;

    /** Messages that have arrived, and how many the peer was told that it may send, both in 16 bits. */
    private int taken;

    private int told;
    private int mark;

    /**
     * Begins with one half granted.
     *
     * @param credits messages granted at once
     * @param first where the half lies that the peer was told of when it connected
     * @param second where the next one can lie
     * @param nextLength decides how long later ones are; the first is as short as any
     * @param nanoTime tells the time
     */
    ReceiveWindow(int credits, MemoryBlock first, MemoryBlock second, HalfLength nextLength, LongSupplier nanoTime) {
        this.credits = credits;
        this.nextLength = nextLength;
        this.nanoTime = nanoTime;
        this.told = credits;
        this.mark = credits / 2;
        this.lastFilledNanos = nanoTime.getAsLong();
        grant(first, nextLength.shortestBytes());
        spares[spareCount++] = second;
    }

    private int half(int index) {
        return (firstHalf + index) % MAX_HALVES;
    }

    /**
     * Accounts for a DATA message.
     *
     * @throws ProtocolException if it exceeds the credits, or the half it lies in
     */
    void arrived(int bytes) throws ProtocolException {
        if (taken == told) {
            throw new ProtocolException("The peer sent more than the " + credits + " messages it was granted");
        }
        tookOne();
        if (bytes == 0) {
            return;
        }
        int left = filledCount == halfCount ? 0 : lengths[half(filledCount)] - unfilledArrived;
        if (bytes > left) {
            throw new ProtocolException("The peer wrote " + bytes + " bytes where it was granted " + left);
        }
        available += bytes;
        unfilledArrived += bytes;
        if (bytes == left) {
            long now = nanoTime.getAsLong();
            nextLength.filled(unfilledArrived, now - lastFilledNanos);
            lastFilledNanos = now;
            unfilledArrived = 0;
            filledCount++;
        }
    }

    /** Accounts for a message that cost the peer a credit. */
    void tookOne() {
        taken = taken + 1 & CREDIT_MASK;
    }

    // -- reading --

    /** Bytes that can be read. */
    int available() {
        return available;
    }

    /**
     * Bytes that can be read of a half.
     *
     * @param index 0 for the one that is read first, 1 for the one behind it, and so on
     */
    int readableBytes(int index) {
        if (index >= halfCount || index > filledCount) {
            return 0;
        }
        int arrived = index < filledCount ? lengths[half(index)] : unfilledArrived;
        return index == 0 ? arrived - firstRead : arrived;
    }

    /** The block that a half lies in of which bytes can be read. */
    MemoryBlock block(int index) {
        return blocks[half(index)];
    }

    /** Where in the slab of its block the bytes of a half begin that can be read. */
    int readOffset(int index) {
        return blocks[half(index)].offset + (index == 0 ? firstRead : 0);
    }

    /** Accounts for bytes read. */
    void consumed(int bytes) {
        assert bytes <= available;
        available -= bytes;
        int left = bytes;
        while (left > 0) {
            int count = Math.min(left, readableBytes(0));
            firstRead += count;
            left -= count;
            if (firstRead == lengths[firstHalf]) {
                spares[spareCount++] = blocks[firstHalf];
                blocks[firstHalf] = null;
                grantedBytes -= firstRead;
                firstRead = 0;
                firstHalf = half(1);
                halfCount--;
                filledCount--;
            }
        }
    }

    // -- granting --

    /** Whether the peer should hear of another half or of more credits. */
    boolean updateDue() {
        return halfDue() || creditsDue();
    }

    /** Whether the peer should hear of more credits. */
    boolean creditsDue() {
        return (short) (taken - mark) >= 0;
    }

    /** Whether the peer may be granted another half. */
    boolean halfDue() {
        return halfCount - filledCount < MAX_UNFILLED && halfCount < MAX_HALVES && room() >= nextLength.shortestBytes();
    }

    /** What may be granted without the buffer becoming longer than it may be. */
    private int room() {
        return 2 * nextLength.longestBytes() - grantedBytes;
    }

    /** How long the next half should be, when one is due. */
    int nextHalfBytes() {
        int room = room();
        return nextLength.nextBytes() <= room ? nextLength.nextBytes() : Integer.highestOneBit(room);
    }

    /** Takes a block for the next half; null if there is none left. It need not be used, nor be as long as it should be. */
    MemoryBlock takeSpare() {
        return spareCount == 0 ? null : spares[--spareCount];
    }

    /** Takes a block that will not be needed; null if there is none. */
    MemoryBlock takeSurplus() {
        return spareCount <= 1 ? null : spares[--spareCount];
    }

    /** The absolute limit of messages to tell the peer. */
    int limit() {
        return taken + credits & CREDIT_MASK;
    }

    /**
     * Grants another half, of which the peer is told.
     *
     * @return its length
     */
    int grant(MemoryBlock block) {
        int lengthBytes = Math.min(block.lengthBytes, nextHalfBytes());
        grant(block, lengthBytes);
        return lengthBytes;
    }

    private void grant(MemoryBlock block, int lengthBytes) {
        int half = half(halfCount);
        blocks[half] = block;
        lengths[half] = lengthBytes;
        halfCount++;
        grantedBytes += lengthBytes;
    }

    /** The peer was told of the limit. */
    void toldLimit() {
        told = limit();
        mark = taken + credits / 2 & CREDIT_MASK;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("ReceiveWindow[available=" + available + ", taken=" + taken
                + ", told=" + told + ", mark=" + mark + ", filled=" + filledCount + ", arrived=" + unfilledArrived
                + ", read=" + firstRead + ", halves=");
        for (int i = 0; i < halfCount; i++) {
            text.append(i == 0 ? "" : "+").append(lengths[half(i)]);
        }
        return text.append(']').toString();
    }
}
