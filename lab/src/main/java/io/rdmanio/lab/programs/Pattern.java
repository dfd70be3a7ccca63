package io.rdmanio.lab.programs;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * An endless sequence of bytes that a seed determines, so that a receiver can verify every byte at its position. Its
 * period is a prime, so that a stream with a power-of-two block lost, doubled or moved does not match. Immutable.
 */
final class Pattern {
    private static final int PERIOD_BYTES = 65_521;

    private final byte[] period = new byte[PERIOD_BYTES];

    Pattern(long seed) {
        new SplittableRandom(seed).nextBytes(period);
    }

    /** Fills what remains of the buffer with the bytes from the position on. */
    void fill(ByteBuffer buffer, long position) {
        int offset = (int) (position % PERIOD_BYTES);
        while (buffer.hasRemaining()) {
            int length = Math.min(buffer.remaining(), PERIOD_BYTES - offset);
            buffer.put(period, offset, length);
            offset = 0;
        }
    }

    /** The bytes from the start of the sequence. */
    byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        fill(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    /**
     * Consumes what remains of the buffer and compares it with the bytes from the position on.
     *
     * @throws WrongDataException at the first byte that differs
     */
    void verify(ByteBuffer buffer, long position) throws WrongDataException {
        long at = position;
        while (buffer.hasRemaining()) {
            int offset = (int) (at % PERIOD_BYTES);
            int length = Math.min(buffer.remaining(), PERIOD_BYTES - offset);
            ByteBuffer expected = ByteBuffer.wrap(period, offset, length);
            int wrong = buffer.slice(buffer.position(), length).mismatch(expected);
            if (wrong >= 0) {
                throw new WrongDataException(at + wrong, period[offset + wrong], buffer.get(buffer.position() + wrong));
            }
            buffer.position(buffer.position() + length);
            at += length;
        }
    }
}
