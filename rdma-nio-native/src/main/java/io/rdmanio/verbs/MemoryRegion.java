package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ReregisterError.Remains;
import io.rdmanio.verbs.spi.ReregisterResult;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Registered memory ({@code struct ibv_mr}): what work requests and peers may touch.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code changing} is held by the one that reregisters;
 * {@code state} is written under it, and read by all.
 */
public final class MemoryRegion implements AutoCloseable {
    private static final int ALL_CHANGES =
            ReregisterFlags.TRANSLATION | ReregisterFlags.PROTECTION_DOMAIN | ReregisterFlags.ACCESS;

    final MemoryRegionHandle handle;
    final Lifecycle life;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile State state;

    /** What a reregistration may change. */
    private record State(
            ProtectionDomain domain,
            MemorySegment memory,
            long address,
            long lengthBytes,
            int localKey,
            int remoteKey,
            boolean valid) {}

    MemoryRegion(ProtectionDomain domain, MemoryRegionHandle handle, MemorySegment memory) {
        this(domain, handle, memory, memory.address(), memory.byteSize());
    }

    /** A region whose addresses are not those of memory, or that has none in this process. */
    MemoryRegion(
            ProtectionDomain domain,
            MemoryRegionHandle handle,
            MemorySegment memoryOrNull,
            long address,
            long lengthBytes) {
        this.handle = handle;
        this.state = new State(domain, memoryOrNull, address, lengthBytes, handle.localKey(), handle.remoteKey(), true);
        this.life = new Lifecycle(HandleKind.MEMORY_REGION, handle::destroy, domain.life);
    }

    /**
     * Where the memory begins, for work requests and for peers.
     *
     * @return its address; or the one it was registered under
     */
    public long address() {
        return state.address;
    }

    /**
     * How long it is.
     *
     * @return bytes
     */
    public long lengthBytes() {
        return state.lengthBytes;
    }

    /**
     * The key of local work requests.
     *
     * @return lkey
     */
    public int localKey() {
        return state.localKey;
    }

    /**
     * The key that peers need.
     *
     * @return rkey
     */
    public int remoteKey() {
        return state.remoteKey;
    }

    /**
     * The memory itself.
     *
     * @return as given when it was registered; null for that of a device (a dma-buf)
     */
    public MemorySegment memory() {
        return state.memory;
    }

    /**
     * The domain that it belongs to.
     *
     * @return the domain, which a reregistration may change
     */
    public ProtectionDomain domain() {
        return state.domain;
    }

    /**
     * Tells whether the registration is good. It isn't after a {@link #reregister} that failed half way: work requests
     * must not use the region any longer, and all that is left is to close it.
     *
     * @return true in general
     */
    public boolean isValid() {
        return state.valid;
    }

    /**
     * Changes the registration in place (ibv_rereg_mr(3)): the memory, the protection domain, the access flags, or
     * several of them. Nobody may use the region meanwhile; its keys may be others afterwards. Makes a system call and
     * takes time in proportion to the number of pages.
     *
     * @param changes bits of {@link ReregisterFlags}
     * @param newDomain the new domain, of the same device; null unless it shall change. It then closes this region, and
     *     the former domain no longer does
     * @param newMemory the new native memory, which the caller keeps allocated until the region is closed; null unless
     *     it shall change. Addresses are those of memory then
     * @param accessFlags bits of {@link AccessFlags}; 0 unless they shall change
     * @throws VerbsException when it fails: the driver can't ({@code EOPNOTSUPP}), memory can't be locked
     *     ({@code ENOMEM}), or the flags don't fit ({@code EINVAL}). The message says whether the region is as before,
     *     as wanted, or no longer usable, and so does {@link #isValid}
     * @throws IllegalArgumentException when there are unknown changes, something is given that shall not change or not
     *     given that shall, memory is empty or on the heap, or the domain belongs to another device
     * @throws IllegalStateException after close, of either domain too; when the new memory was freed; after a failure
     *     that left nothing usable
     */
    public void reregister(int changes, ProtectionDomain newDomain, MemorySegment newMemory, int accessFlags)
            throws VerbsException {
        checkChanges(changes, newDomain, newMemory, accessFlags);
        changing.lock();
        try {
            life.enter();
            try {
                State old = state;
                if (!old.valid) {
                    throw new IllegalStateException(
                            "this MemoryRegion is not usable since a reregistration failed; it can only be closed");
                }
                reregisterBetween(old, changes, newDomain, newMemory, accessFlags);
            } finally {
                life.exit();
            }
        } finally {
            changing.unlock();
        }
    }

    private void checkChanges(int changes, ProtectionDomain newDomain, MemorySegment newMemory, int accessFlags) {
        if (changes == 0 || (changes & ~ALL_CHANGES) != 0) {
            throw new IllegalArgumentException("changes 0x" + Integer.toHexString(changes) + " are none, or unknown");
        }
        if ((changes & ReregisterFlags.PROTECTION_DOMAIN) != 0 != (newDomain != null)) {
            throw new IllegalArgumentException(
                    "a domain belongs to the change of the protection domain, and to no other");
        }
        if ((changes & ReregisterFlags.TRANSLATION) != 0 != (newMemory != null)) {
            throw new IllegalArgumentException("memory belongs to the change of the translation, and to no other");
        }
        if ((changes & ReregisterFlags.ACCESS) == 0 && accessFlags != 0) {
            throw new IllegalArgumentException("access flags belong to the change of access, and to no other");
        }
        if (newMemory != null) {
            ProtectionDomain.requireRegistrable(newMemory);
            if (newMemory.byteSize() == 0) {
                throw new IllegalArgumentException("memory that is empty can't be registered");
            }
        }
        if (newDomain != null && newDomain.context() != domain().context()) {
            throw new IllegalArgumentException("the new domain belongs to another device");
        }
    }

    /** Inside this region's life, keeps both domains open too. */
    private void reregisterBetween(
            State old, int changes, ProtectionDomain newDomain, MemorySegment newMemory, int accessFlags)
            throws VerbsException {
        ProtectionDomain target = newDomain == null ? old.domain : newDomain;
        old.domain.life.enter();
        try {
            target.life.enter();
            try {
                ReregisterResult result =
                        handle.reregister(changes, newDomain == null ? null : newDomain.handle, newMemory, accessFlags);
                Remains remains =
                        result.error() == null ? Remains.NEW : result.error().remains();
                if (remains == Remains.NEW) {
                    life.move(old.domain.life, target.life);
                }
                state = after(remains, old, target, newMemory);
                if (result.error() != null) {
                    throw failure(result, changes);
                }
            } finally {
                target.life.exit();
            }
        } finally {
            old.domain.life.exit();
        }
    }

    private State after(Remains remains, State old, ProtectionDomain target, MemorySegment newMemory) {
        return switch (remains) {
            case OLD -> old;
            case NOTHING ->
                new State(old.domain, old.memory, old.address, old.lengthBytes, old.localKey, old.remoteKey, false);
            case NEW ->
                new State(
                        target,
                        newMemory == null ? old.memory : newMemory,
                        newMemory == null ? old.address : newMemory.address(),
                        newMemory == null ? old.lengthBytes : newMemory.byteSize(),
                        handle.localKey(),
                        handle.remoteKey(),
                        true);
        };
    }

    private static VerbsException failure(ReregisterResult result, int changes) {
        String outcome = switch (result.error().remains()) {
            case OLD -> "The region is as it was.";
            case NEW -> "The region is as wanted, but its former memory could not be given back to child processes.";
            case NOTHING -> "The region is not usable any longer, and can only be closed.";
        };
        return new VerbsException(
                "ibv_rereg_mr",
                "changes=0x" + Integer.toHexString(changes) + ", "
                        + result.error().nativeName(),
                result.errno(),
                outcome);
    }

    /**
     * Deregisters the memory (ibv_dereg_mr(3), which rdma_dereg_mr(3) is another name for); its keys are dead afterwards. Idempotent; makes a system call.
     *
     * @throws VerbsException when it fails, as with memory windows bound ({@code EBUSY}, or {@code EINVAL} from some
     *     drivers): close these first, then this again
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
