package io.rdmanio.stream;

import io.rdmanio.verbs.MemoryRegion;
import java.nio.ByteBuffer;

/** Memory that was registered as one and is lent in pieces. Guarded by its pool, except what never changes. */
final class MemorySlab {
    final MemoryRegion region;
    final ByteBuffer buffer;
    final BuddyAllocator pieces;

    /** Since when no piece is lent, in terms of {@link System#nanoTime}, if that is so. */
    long unusedSinceNanos = System.nanoTime();

    MemorySlab(MemoryRegion region) {
        this.region = region;
        this.buffer = region.memory().asByteBuffer();
        this.pieces = new BuddyAllocator(buffer.capacity());
    }

    int lengthBytes() {
        return buffer.capacity();
    }
}
