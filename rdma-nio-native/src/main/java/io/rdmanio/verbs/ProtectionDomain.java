package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import java.lang.foreign.MemorySegment;

/** A protection domain ({@code struct ibv_pd}): queue pairs reach only the memory regions of their own. Thread-safe. */
public final class ProtectionDomain implements AutoCloseable {
    final ProtectionDomainHandle handle;
    final Lifecycle life;
    private final DeviceContext context;

    ProtectionDomain(DeviceContext context, ProtectionDomainHandle handle) {
        this.context = context;
        this.handle = handle;
        this.life = new Lifecycle(HandleKind.PROTECTION_DOMAIN, handle::destroy, context.life);
    }

    /**
     * Registers memory (ibv_reg_mr(3)): its pages are pinned until the region is closed. Makes a system call and takes
     * time in proportion to the number of pages.
     *
     * @param memory native memory; the caller keeps it allocated until the region is closed, which holds a reference to
     *     it
     * @param accessFlags bits of {@link AccessFlags}
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit), the flags don't fit
     *     together ({@code EINVAL}), or the memory can't be written as they demand ({@code EFAULT}, {@code EACCES})
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after close
     */
    public MemoryRegion registerMemory(MemorySegment memory, int accessFlags) throws VerbsException {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap can't be registered");
        }
        life.enter();
        try {
            MemoryRegionHandle region = handle.registerMemory(memory.address(), memory.byteSize(), accessFlags);
            return new MemoryRegion(this, region, memory);
        } finally {
            life.exit();
        }
    }

    /**
     * The device context that this domain was allocated from.
     *
     * @return the context
     */
    public DeviceContext context() {
        return context;
    }

    /**
     * Deallocates the domain (ibv_dealloc_pd(3)) after its queue pairs and memory regions. Idempotent; waits for calls
     * in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
