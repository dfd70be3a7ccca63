package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The native memory of a flyweight: in an arena of its own, or in a given one. Not thread-safe, but for the memory's
 * own check against use after close.
 */
final class OwnMemory {
    private static final long ALIGNMENT = 16;

    private final HandleKind kind;
    private final Arena ownArena;
    private final MemorySegment segment;
    private boolean closed;

    @SuppressWarnings("MustBeClosedChecker") // close() closes it.
    OwnMemory(Arena givenArena, long bytes, HandleKind kind) {
        this.kind = kind;
        ownArena = givenArena == null ? Arena.ofShared() : null;
        segment = (givenArena == null ? ownArena : givenArena).allocate(bytes, ALIGNMENT);
        kind.opened();
    }

    /** The memory; the caller gets an IllegalStateException after close. */
    MemorySegment segment() {
        if (closed) {
            throw new IllegalStateException("this " + kind.label() + " is closed");
        }
        return segment;
    }

    void close() {
        if (!closed) {
            closed = true;
            kind.closed();
            if (ownArena != null) {
                ownArena.close();
            }
        }
    }
}
