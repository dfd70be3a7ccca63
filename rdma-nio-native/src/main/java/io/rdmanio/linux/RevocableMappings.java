package io.rdmanio.linux;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Mappings of memory that is shared with other processes, which can be taken back from under those who are using them:
 * after {@link #revoke} whoever still reads finds zeros and whoever still writes does so to nobody. No access fails, and
 * no thread is disturbed. Closing a shared arena is no substitute, since the JVM interrupts each thread that it finds in
 * the middle of an access, and whatever blocks next in that thread ends.
 *
 * <p>An address can't be given to others as long as anybody may have it: the address space of a mapping is unmapped when the
 * garbage collector finds its segment unreachable, whether it was revoked or not.
 *
 * <p>Thread safety: all methods may be called by any thread; everything is guarded by this.
 */
public final class RevocableMappings {
    /**
     * How many mappings are revoked before the garbage collector is asked to run, by all instances together: the kernel
     * lets a process have 65,530 (vm.max_map_count), and a JVM that finds none left ends.
     */
    static final int REVOKED_BEFORE_COLLECTION = 16_384;
    /** How many bytes of address space, of which a process has 128 TiB. */
    static final long REVOKED_BYTES_BEFORE_COLLECTION = 8L << 40;

    private static final Logger LOG = System.getLogger(RevocableMappings.class.getName());
    private static final Object COLLECTION_LOCK = new Object();
    // Guarded by COLLECTION_LOCK.
    private static int revokedSinceCollection;
    private static long revokedBytesSinceCollection;
    // End of what it guards.

    /** What could not be revoked, and what is at the address now is not known: never unmapped. */
    private static final Queue<MemorySegment> UNKNOWN = new ConcurrentLinkedQueue<>();

    private final List<MemorySegment> mappings = new ArrayList<>();
    private boolean revoked;

    /** Creates an instance without any mappings. */
    public RevocableMappings() {}

    /**
     * Maps a piece of a file, as {@link MemoryFile#map} does.
     *
     * @param file the file, which stays the caller's
     * @param offset where it begins, a multiple of {@link MemoryFile#PAGE_BYTES}
     * @param lengthBytes its length, at least 1
     * @param writable whether it may be written
     * @return the memory, aligned to a page; accessible to all threads for ever
     * @throws SystemCallException as {@link MemoryFile#map} does
     * @throws IllegalStateException after {@link #revoke}, or close of the file
     */
    public synchronized MemorySegment map(MemoryFile file, long offset, long lengthBytes, boolean writable)
            throws SystemCallException {
        if (revoked) {
            throw new IllegalStateException("these mappings are revoked");
        }
        MemorySegment memory = file.map(offset, lengthBytes, writable, Arena.ofAuto());
        mappings.add(memory);
        return memory;
    }

    /**
     * Puts private memory of zeros in the place of all mappings, for whoever has them, and maps nothing any more: when this
     * returns nothing here shares memory with anybody. Does not wait for accesses in progress, which go on there. What the
     * kernel has no room to replace stays mapped, which is logged. Idempotent.
     */
    public synchronized void revoke() {
        revoked = true;
        long bytes = 0;
        for (MemorySegment memory : mappings) {
            bytes += memory.byteSize();
            revoke(memory);
        }
        int count = mappings.size();
        mappings.clear();
        if (mustCollect(count, bytes)) {
            // With some collectors it waits for the collection, which the caller must not.
            Thread.ofPlatform().daemon().name("rdmanio-collect").start(System::gc);
        }
    }

    private static void revoke(MemorySegment memory) {
        try {
            int errno = MemoryFile.mapZerosOver(memory.address(), memory.byteSize());
            if (errno != 0) {
                // Kernels before Linux 6.12 may have unmapped what was there, and others may be there soon.
                UNKNOWN.add(memory);
                LOG.log(
                        Level.WARNING,
                        "{0} bytes of shared memory stay mapped: mmap: {1}",
                        memory.byteSize(),
                        Errno.name(errno));
            }
        } finally {
            // Until here it has not been unmapped, and nobody else has the address.
            Reference.reachabilityFence(memory);
        }
    }

    private static boolean mustCollect(int count, long bytes) {
        synchronized (COLLECTION_LOCK) {
            revokedSinceCollection += count;
            revokedBytesSinceCollection += bytes;
            boolean must = revokedSinceCollection >= REVOKED_BEFORE_COLLECTION
                    || revokedBytesSinceCollection >= REVOKED_BYTES_BEFORE_COLLECTION;
            if (must) {
                revokedSinceCollection = 0;
                revokedBytesSinceCollection = 0;
            }
            return must;
        }
    }
}
