package io.rdmanio.verbs.ffm;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/** Memory that C handed out, by address. */
final class Pointers {
    private Pointers() {}

    /** An array of pointers. */
    static MemorySegment array(long address, int count) {
        return bytes(address, (long) count * Long.BYTES);
    }

    /** A run of bytes, valid as long as C says. */
    @SuppressWarnings("restricted")
    static MemorySegment bytes(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    /** A text that C owns; null for a null pointer. */
    @SuppressWarnings("restricted")
    static String string(long address) {
        return address == 0
                ? null
                : MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE).getString(0);
    }

    /** A __be16 that was returned as a number. */
    static int fromNetworkOrder(short value) {
        return (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Short.reverseBytes(value) : value) & 0xFFFF;
    }

    /** A __be64 that was returned as a number. */
    static long fromNetworkOrder(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Long.reverseBytes(value) : value;
    }
}
