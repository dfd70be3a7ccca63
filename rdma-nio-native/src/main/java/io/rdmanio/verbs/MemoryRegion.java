package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.lang.foreign.MemorySegment;

/** Registered memory ({@code struct ibv_mr}): what work requests and peers may touch. Thread-safe. */
public final class MemoryRegion implements AutoCloseable {
    private final Lifecycle life;
    private final MemorySegment memory;
    private final int localKey;
    private final int remoteKey;

    MemoryRegion(ProtectionDomain domain, MemoryRegionHandle handle, MemorySegment memory) {
        this.memory = memory;
        this.localKey = handle.localKey();
        this.remoteKey = handle.remoteKey();
        this.life = new Lifecycle(HandleKind.MEMORY_REGION, handle::destroy, domain.life);
    }

    /**
     * Where the memory begins.
     *
     * @return its address
     */
    public long address() {
        return memory.address();
    }

    /**
     * How long it is.
     *
     * @return bytes
     */
    public long lengthBytes() {
        return memory.byteSize();
    }

    /**
     * The key of local work requests.
     *
     * @return lkey
     */
    public int localKey() {
        return localKey;
    }

    /**
     * The key that peers need.
     *
     * @return rkey
     */
    public int remoteKey() {
        return remoteKey;
    }

    /**
     * The memory itself.
     *
     * @return as given when it was registered
     */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Deregisters the memory (ibv_dereg_mr(3)); its keys are dead afterwards. Idempotent; makes a system call.
     *
     * @throws VerbsException when it fails, as with memory windows bound ({@code EBUSY})
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
