package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.ResourceLimits;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.AccessFlags;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Memory that was allocated for peers to reach by themselves: a file of its own, so that a peer gets this and nothing
 * else, and one that can't change its size. Memory for peers that only read is sealed against all other mappings that
 * write. A descriptor can't be taken back from a peer that has it, so such memory is never used again for anything else:
 * it goes back to the system.
 *
 * <p>It lives as long as somebody uses it: the program that allocated it, and every key that stands for a piece of it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class SharedMemory {
    /** What lets a peer change memory. */
    static final int REMOTE_WRITES = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
    /** What lets a peer reach memory. */
    static final int REMOTE = AccessFlags.REMOTE_READ | REMOTE_WRITES;

    private static final int SIZE_SEALS = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW;

    private final MemoryFile file;
    private final Arena arena;
    private final MemorySegment memory;
    private final int accessFlags;
    private final Consumer<SharedMemory> whenFreed;
    private final AtomicInteger uses = new AtomicInteger(1);

    private SharedMemory(
            MemoryFile file, Arena arena, MemorySegment memory, int accessFlags, Consumer<SharedMemory> whenFreed) {
        this.file = file;
        this.arena = arena;
        this.memory = memory;
        this.accessFlags = accessFlags;
        this.whenFreed = whenFreed;
    }

    /**
     * Allocates memory of zeros, all of which is there: nothing can be short when it is touched.
     *
     * @param lengthBytes how much, at least 1; rounded up to whole pages
     * @param accessFlags the most that any key may ever allow
     * @param whenFreed called when the last use has ended, before the memory is unmapped
     * @return the memory, with one use, which is the caller's
     * @throws SystemCallException when memory, address space or descriptors are short
     */
    @SuppressWarnings("MustBeClosedChecker") // The last use closes the arena.
    static SharedMemory allocate(long lengthBytes, int accessFlags, Consumer<SharedMemory> whenFreed)
            throws SystemCallException {
        if (lengthBytes > ResourceLimits.availableMemoryBytes()) {
            throw Errno.exception("fallocate(" + lengthBytes + ") of more memory than there is", Errno.ENOMEM);
        }
        long sizeBytes = Math.ceilDiv(lengthBytes, MemoryFile.PAGE_BYTES) * MemoryFile.PAGE_BYTES;
        MemoryFile file = MemoryFile.create("rdmanio-memory", sizeBytes);
        Arena arena = Arena.ofShared();
        try {
            file.reserve(0, sizeBytes);
            MemorySegment memory = file.map(0, sizeBytes, true, arena);
            boolean written = (accessFlags & REMOTE_WRITES) != 0;
            file.addSeals(SIZE_SEALS | MemoryFile.SEAL_SEAL | (written ? 0 : MemoryFile.SEAL_FUTURE_WRITE));
            return new SharedMemory(file, arena, memory, accessFlags, whenFreed);
        } catch (SystemCallException e) {
            arena.close();
            file.close();
            throw e;
        }
    }

    /**
     * All of the memory.
     *
     * @return whole pages, mapped as long as somebody uses it
     */
    MemorySegment memory() {
        return memory;
    }

    /**
     * Which rights of peers it was not allocated with.
     *
     * @param wantedFlags bits of {@link AccessFlags}
     * @return those of them that no key may have
     */
    int excess(int wantedFlags) {
        return wantedFlags & REMOTE & ~accessFlags;
    }

    /**
     * The descriptor for peers.
     *
     * @return its number, good as long as somebody uses the memory
     */
    int fileDescriptor() {
        return file.fileDescriptor();
    }

    /**
     * Adds a use.
     *
     * @return false when the last had ended already
     */
    boolean tryRetain() {
        int seen = uses.get();
        while (seen > 0) {
            int found = uses.compareAndExchange(seen, seen + 1);
            if (found == seen) {
                return true;
            }
            seen = found;
        }
        return false;
    }

    /** Ends a use; the last one frees the memory. */
    void release() {
        if (uses.decrementAndGet() == 0) {
            whenFreed.accept(this);
            file.close();
            arena.close();
        }
    }
}
