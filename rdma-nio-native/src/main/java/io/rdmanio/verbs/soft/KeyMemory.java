package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;

/**
 * Memory that a key is to stand for. Immutable.
 *
 * @param segment the memory, accessible to all threads
 * @param scope the scope of the memory as the program has it
 * @param shared what shares it with other processes, of which this holds a use; null when nothing does
 */
record KeyMemory(MemorySegment segment, MemorySegment.Scope scope, SharedMemory shared) {
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    /**
     * Memory that only this process has.
     *
     * @param memory the memory, of any scope; a scope of one thread is watched but not relied upon
     * @return the same, accessible to all threads
     */
    static KeyMemory own(MemorySegment memory) {
        MemorySegment open = memory.isAccessibleBy(ANY_THREAD) ? memory : at(memory.address(), memory.byteSize());
        return new KeyMemory(open, memory.scope(), null);
    }

    /**
     * Memory of which nothing but the address is known.
     *
     * @param address where it begins
     * @param lengthBytes how long it is
     * @return the memory, for ever alive
     */
    @SuppressWarnings("restricted")
    static MemorySegment at(long address, long lengthBytes) {
        return MemorySegment.ofAddress(address).reinterpret(lengthBytes);
    }

    /** A piece of it, which holds no use of what is shared. */
    KeyMemory piece(long offset, long lengthBytes) {
        return new KeyMemory(segment.asSlice(offset, lengthBytes), scope, null);
    }

    /** Ends the use of what is shared. */
    void release() {
        if (shared != null) {
            shared.release();
        }
    }
}
