package io.rdmanio.stream;

import io.rdmanio.stream.PeerParameters.BufferHalf;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ProtocolException;

/**
 * Where our payload goes: the two halves of the peer's receive buffer that it has offered.
 *
 * <p>The peer writes its offers into a table in our memory by RDMA and tells of it with an SGL message. An entry is read
 * only after its message has been polled, checked, copied, and its length in the table set to zero, so that a message
 * that carries credits alone is told from one that carries a half. The peer rewrites an entry only after the half it
 * described has been filled and read, which is long after it was copied. Not thread-safe: guarded by the connection's
 * lock.
 */
final class TargetTable {
    static final int ENTRY_BYTES = 16;
    static final int LENGTH_BYTES = PeerParameters.TABLE_ENTRIES * ENTRY_BYTES;

    private static final int KEY_OFFSET = 8;
    private static final int LENGTH_OFFSET = 12;

    private final MemorySegment table;
    private final long[] addresses = new long[PeerParameters.TABLE_ENTRIES];
    private final int[] keys = new int[PeerParameters.TABLE_ENTRIES];
    private final int[] lengths = new int[PeerParameters.TABLE_ENTRIES];
    private int current;
    private int nextOffered = 1;

    /**
     * @param table the memory the peer writes its offers into
     * @param first the half offered at connection
     */
    TargetTable(MemorySegment table, BufferHalf first) {
        this.table = table;
        addresses[0] = first.address();
        keys[0] = first.key();
        lengths[0] = first.lengthBytes();
    }

    /** Bytes that may be written at {@link #address()}; 0 if the peer has offered no buffer. */
    int length() {
        return lengths[current];
    }

    long address() {
        return addresses[current];
    }

    int key() {
        return keys[current];
    }

    /** Accounts for bytes about to be written. */
    void advance(int bytes) {
        addresses[current] += bytes;
        lengths[current] -= bytes;
        if (lengths[current] == 0) {
            current ^= 1;
        }
    }

    /**
     * Takes the entry that the peer wrote, if it wrote one.
     *
     * @throws ProtocolException if its length is impossible, or the half it replaces is still in use
     */
    void offered() throws ProtocolException {
        long entry = (long) nextOffered * ENTRY_BYTES;
        int length = table.get(ValueLayout.JAVA_INT, entry + LENGTH_OFFSET);
        if (length == 0) {
            return;
        }
        if (length < 0 || length > StreamMessage.MAX_VALUE) {
            throw new ProtocolException(
                    "The peer offers a buffer half of " + Integer.toUnsignedString(length) + " bytes");
        }
        if (lengths[nextOffered] != 0) {
            throw new ProtocolException("The peer offers a buffer half in place of one that is not yet full");
        }
        addresses[nextOffered] = table.get(ValueLayout.JAVA_LONG, entry);
        keys[nextOffered] = table.get(ValueLayout.JAVA_INT, entry + KEY_OFFSET);
        lengths[nextOffered] = length;
        table.set(ValueLayout.JAVA_INT, entry + LENGTH_OFFSET, 0);
        nextOffered ^= 1;
    }

    /** Writes an offer, at an offset, in the byte order of the host that will read it. */
    static void encodeEntry(MemorySegment entries, long offset, long address, int key, int lengthBytes, boolean swap) {
        entries.set(ValueLayout.JAVA_LONG, offset, swap ? Long.reverseBytes(address) : address);
        entries.set(ValueLayout.JAVA_INT, offset + KEY_OFFSET, swap ? Integer.reverseBytes(key) : key);
        entries.set(
                ValueLayout.JAVA_INT, offset + LENGTH_OFFSET, swap ? Integer.reverseBytes(lengthBytes) : lengthBytes);
    }
}
