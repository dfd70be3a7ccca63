package io.rdmanio.verbs.spi;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A memory region of any engine together with ordinary memory of its own, which is freed after it is deregistered.
 *
 * <p>Thread safety: that of the region; {@link #destroy} is called by one thread at a time, as in {@link Lifecycle}.
 */
final class OwningMemoryRegion implements MemoryRegionHandle {
    private final MemoryRegionHandle region;
    private final Arena arena;
    private boolean deregistered;

    private OwningMemoryRegion(MemoryRegionHandle region, Arena arena) {
        this.region = region;
        this.arena = arena;
    }

    /**
     * Allocates memory and registers it.
     *
     * @param domain where
     * @param lengthBytes how much
     * @param accessFlags the rights
     * @return the region and the memory
     * @throws VerbsException when there is no memory ({@code ENOMEM}), or the engine refuses
     */
    @SuppressWarnings("MustBeClosedChecker") // destroy() closes the arena.
    static AllocatedMemory allocate(ProtectionDomainHandle domain, long lengthBytes, int accessFlags)
            throws VerbsException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = arena.allocate(lengthBytes, MemoryFile.PAGE_BYTES);
            MemoryRegionHandle region = domain.registerMemory(memory, accessFlags);
            return new AllocatedMemory(new OwningMemoryRegion(region, arena), memory);
        } catch (OutOfMemoryError e) {
            arena.close();
            VerbsException failure = new VerbsException("malloc", "length=" + lengthBytes, Errno.ENOMEM, "");
            failure.initCause(e);
            throw failure;
        } catch (VerbsException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public int localKey() {
        return region.localKey();
    }

    @Override
    public int remoteKey() {
        return region.remoteKey();
    }

    @Override
    public long reference() {
        return region.reference();
    }

    @Override
    public ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, long address, long lengthBytes, int accessFlags)
            throws VerbsException {
        return region.reregister(changes, domain, address, lengthBytes, accessFlags);
    }

    @Override
    public ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, MemorySegment memory, int accessFlags) throws VerbsException {
        return region.reregister(changes, domain, memory, accessFlags);
    }

    @Override
    public void destroy() throws VerbsException {
        if (!deregistered) {
            region.destroy();
            deregistered = true;
        }
        try {
            arena.close();
        } catch (IllegalStateException e) {
            VerbsException failure = new VerbsException(
                    "free", "", Errno.EBUSY, "A native call is using the memory: close the region after it.");
            failure.initCause(e);
            throw failure;
        }
    }
}
