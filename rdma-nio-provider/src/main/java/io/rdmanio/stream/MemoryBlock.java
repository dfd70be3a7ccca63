package io.rdmanio.stream;

import io.rdmanio.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A piece of registered memory that is lent to one connection. What it holds is whatever the connection before left. Whoever
 * has it uses it by the rules of whoever lent it; it is itself immutable.
 */
final class MemoryBlock {
    final MemorySlab slab;
    final int offset;
    final int lengthBytes;

    MemoryBlock(MemorySlab slab, int offset, int lengthBytes) {
        this.slab = slab;
        this.offset = offset;
        this.lengthBytes = lengthBytes;
    }

    long address() {
        return region().address() + offset;
    }

    int localKey() {
        return region().localKey();
    }

    int remoteKey() {
        return region().remoteKey();
    }

    private MemoryRegion region() {
        return slab.region;
    }

    MemorySegment memory() {
        return region().memory().asSlice(offset, lengthBytes);
    }

    /** All of the slab; the block begins at {@link #offset}. For absolute access only, since all blocks share it. */
    ByteBuffer slabBuffer() {
        return slab.buffer;
    }

    @Override
    public String toString() {
        return "MemoryBlock[" + lengthBytes + " at " + offset + "]";
    }
}
