package io.rdmanio.stream;

import java.nio.ByteBuffer;

/**
 * The circular buffer that payload is sent from over a device that can't take it from the program's: short at first, longer as
 * soon as a writer has filled it. What is under way can't be moved, so it is exchanged when all of it has left.
 *
 * <p>Not thread-safe: guarded by the connection's lock, but that the one writer copies into it outside of that, from
 * {@link #writerWants} to {@link #copied}.
 */
final class SendBuffer {
    private static final int GROWTH = 4;

    private final SendWindow window;
    private final BorrowedMemory memory;
    private final int longestBytes;

    private MemoryBlock block;
    private ByteBuffer bytes;

    /** A longer one is to take its place, and nothing is copied into this one before. */
    private boolean tooShort;

    /** There was no memory for a longer one. */
    private boolean refused;

    private boolean copying;

    /**
     * Begins with a short one.
     *
     * @param window accounts for what is in it
     * @param first where it lies
     * @param longestBytes how long it may become
     */
    SendBuffer(SendWindow window, BorrowedMemory memory, MemoryBlock first, int longestBytes) {
        this.window = window;
        this.memory = memory;
        this.longestBytes = longestBytes;
        lieIn(first);
    }

    private void lieIn(MemoryBlock next) {
        block = next;
        bytes = next.memory()
                .asSlice(0, Math.min(next.lengthBytes, longestBytes))
                .asByteBuffer();
    }

    /** For absolute access by the writer. */
    ByteBuffer bytes() {
        return bytes;
    }

    long address() {
        return block.address();
    }

    int localKey() {
        return block.localKey();
    }

    /** Whether something may be copied into it. */
    boolean isOpen() {
        return !tooShort;
    }

    /**
     * The writer has something to send, and copies no more of what it wanted to send before.
     *
     * @param copies whether it is going to copy until it says {@link #copied}; else it waits
     */
    void writerWants(boolean copies) {
        copying = copies;
        tooShort |= !copies && window.bufferFull() && !refused && bytes.capacity() < longestBytes;
    }

    /** The writer copies no more. */
    void copied() {
        copying = false;
    }

    /** Has a longer one take its place if that is due and possible. Does not block. */
    void growIfDue() {
        if (!tooShort || copying || !window.bufferUnused()) {
            return;
        }
        tooShort = false;
        MemoryBlock longer =
                memory.exchangeLocal(block, (int) Math.min(longestBytes, (long) bytes.capacity() * GROWTH));
        refused = longer == block;
        if (!refused) {
            lieIn(longer);
            window.resize(bytes.capacity());
        }
    }

    /** There may be memory that there was not before. */
    void memoryGrown() {
        refused = false;
    }
}
