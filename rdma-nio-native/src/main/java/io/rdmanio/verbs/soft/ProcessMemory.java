package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The memory of this process by its addresses: work requests that are posted as addresses of C structs, and what local
 * keys stand for. An address is used only when an object in front of the engine, or a live key, vouches for it.
 *
 * <p>Thread safety: stateless; the methods may be called by any thread.
 */
final class ProcessMemory {
    /** All of it, so that an address is an offset and a list of requests allocates nothing. */
    @SuppressWarnings("restricted")
    static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private ProcessMemory() {}

    static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    static void setLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }
}
