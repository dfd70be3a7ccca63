package io.rdmanio.lab.programs;

import java.nio.ByteBuffer;

/** The bytes of rstream's verified transfers: each is its predecessor plus one, in each direction. One thread. */
final class RstreamCounter {
    private static final int STEP = 256;

    private final boolean enabled;
    private final byte[] cycles = new byte[2 * STEP];
    private int nextSent;
    private int nextReceived;
    private long received;

    RstreamCounter(boolean enabled) {
        this.enabled = enabled;
        for (int i = 0; i < cycles.length; i++) {
            cycles[i] = (byte) i;
        }
    }

    /** Fills what remains of the buffer; with whatever is there if data are not verified. */
    void fill(ByteBuffer buffer) {
        if (!enabled) {
            buffer.position(buffer.limit());
            return;
        }
        while (buffer.hasRemaining()) {
            int length = Math.min(buffer.remaining(), STEP);
            buffer.put(cycles, nextSent, length);
            nextSent = (nextSent + length) % STEP;
        }
    }

    /** Consumes and verifies what remains of the buffer. */
    void verify(ByteBuffer buffer) throws WrongDataException {
        while (enabled && buffer.hasRemaining()) {
            int length = Math.min(buffer.remaining(), STEP);
            ByteBuffer expected = ByteBuffer.wrap(cycles, nextReceived, length);
            int wrong = buffer.slice(buffer.position(), length).mismatch(expected);
            if (wrong >= 0) {
                byte actual = buffer.get(buffer.position() + wrong);
                throw new WrongDataException(received + wrong, cycles[nextReceived + wrong], actual);
            }
            buffer.position(buffer.position() + length);
            nextReceived = (nextReceived + length) % STEP;
            received += length;
        }
    }
}
