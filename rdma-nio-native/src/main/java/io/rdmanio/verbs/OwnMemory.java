package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The native memory of a flyweight: of its own, or in a given arena. Small memory of its own is a block of
 * {@link FlyweightBlocks}, larger memory has an arena, which takes a handshake with every thread of the JVM to close. Not
 * thread-safe, but for the memory's own check against use after close, and for closing.
 */
final class OwnMemory {
    static final long ALIGNMENT = 16;

    private final HandleKind kind;
    private final Arena ownArena;
    private final MemorySegment ownBlock;
    private final MemorySegment segment;
    private final AtomicBoolean closed = new AtomicBoolean();

    @SuppressWarnings("MustBeClosedChecker") // close() closes it.
    OwnMemory(Arena givenArena, long bytes, HandleKind kind) {
        this.kind = kind;
        ownBlock = givenArena == null && FlyweightBlocks.suits(bytes) ? FlyweightBlocks.take(bytes) : null;
        ownArena = givenArena == null && ownBlock == null ? Arena.ofShared() : null;
        if (ownBlock != null) {
            segment = ownBlock.asSlice(0, bytes);
        } else {
            segment = (givenArena == null ? ownArena : givenArena).allocate(bytes, ALIGNMENT);
        }
        kind.opened();
    }

    /** The memory; the caller gets an IllegalStateException after close. */
    MemorySegment segment() {
        if (closed.get()) {
            throw new IllegalStateException("this " + kind.label() + " is closed");
        }
        return segment;
    }

    void close() {
        if (closed.compareAndSet(false, true)) {
            kind.closed();
            if (ownBlock != null) {
                FlyweightBlocks.giveBack(ownBlock);
            }
            if (ownArena != null) {
                ownArena.close();
            }
        }
    }
}
