package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * What an rping client sends: {@code rdma-ping-N: }, then printable characters that begin one further with each
 * exchange, and a zero at the end.
 */
final class PingData {
    /** The sizes that rping takes. */
    static final int MIN_BYTES = 23;

    static final int MAX_BYTES = 65_535;

    private static final char FIRST = 'A';
    private static final char LAST = 'z';

    private PingData() {}

    static byte[] of(int exchange, int sizeBytes) {
        byte[] text = ("rdma-ping-" + exchange + ": ").getBytes(StandardCharsets.US_ASCII);
        byte[] data = new byte[sizeBytes];
        int period = LAST - FIRST + 1;
        for (int i = 0; i < sizeBytes - 1; i++) {
            data[i] = i < text.length ? text[i] : (byte) (FIRST + (exchange + i - text.length) % period);
        }
        return data;
    }

    /** Fails when the memory does not hold the data of this exchange. */
    static void verify(int exchange, MemorySegment memory) throws IOException {
        long wrong = memory.mismatch(MemorySegment.ofArray(of(exchange, (int) memory.byteSize())));
        if (wrong >= 0) {
            throw new IOException("wrong data in exchange " + exchange + ": byte " + wrong + " of " + memory.byteSize()
                    + " is " + memory.get(ValueLayout.JAVA_BYTE, wrong));
        }
    }

    /** The data as rping prints it. */
    static String text(MemorySegment memory) {
        byte[] bytes = memory.asSlice(0, memory.byteSize() - 1).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
