package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The {@link SharedMemory} of a host by its addresses, so that a piece of it which is registered again is known for what it
 * is.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class Allocations {
    private final ConcurrentSkipListMap<Long, SharedMemory> byAddress = new ConcurrentSkipListMap<>();

    /**
     * Allocates.
     *
     * @param lengthBytes how much, at least 1
     * @param accessFlags the most that any key may allow
     * @return the memory, with one use, which is the caller's
     * @throws SystemCallException when memory, address space or descriptors are short
     */
    SharedMemory allocate(long lengthBytes, int accessFlags) throws SystemCallException {
        SharedMemory shared = SharedMemory.allocate(
                lengthBytes,
                accessFlags,
                freed -> byAddress.remove(freed.memory().address()));
        byAddress.put(shared.memory().address(), shared);
        return shared;
    }

    /**
     * Finds what a piece of memory belongs to.
     *
     * @param address where it begins
     * @param lengthBytes how long it is
     * @return the memory with one more use, which is the caller's; null when the piece doesn't lie in any
     */
    SharedMemory find(long address, long lengthBytes) {
        Map.Entry<Long, SharedMemory> entry = byAddress.floorEntry(address);
        if (entry == null) {
            return null;
        }
        SharedMemory shared = entry.getValue();
        MemorySegment memory = shared.memory();
        long offset = address - memory.address();
        boolean inside = lengthBytes <= memory.byteSize() && offset <= memory.byteSize() - lengthBytes;
        return inside && shared.tryRetain() ? shared : null;
    }

    /**
     * How many there are.
     *
     * @return those that somebody uses
     */
    int count() {
        return byAddress.size();
    }
}
