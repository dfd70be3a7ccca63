package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ReregisterResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A memory region: a slot of the key table, and the key in it. Its keys stay the same when it is reregistered.
 *
 * <p>Thread safety: all methods may be called by any thread. The key, the number of windows and whether the region is closed are
 * guarded by this; nobody waits for a peer under it, and whoever changes the registration is alone by the contract of the
 * seam.
 */
final class SoftMemoryRegion implements MemoryRegionHandle {
    private static final String DEREG_MR = "ibv_dereg_mr";

    private final KeyTable keys;
    private final int value;
    private final long reference;
    // What the program allocated with the region, or null.
    private final Allocation allocation;
    private volatile Key key;
    private Registration registration;
    private int windows;
    private boolean changing;

    /** Memory that the region owns, and the arena of the program's segment of it. */
    private record Allocation(SharedMemory shared, Arena arena) {}

    private SoftMemoryRegion(KeyTable keys, int value, Allocation allocation) {
        this.keys = keys;
        this.value = value;
        this.allocation = allocation;
        this.reference = keys.enlist(this);
    }

    /**
     * Registers memory.
     *
     * @param domain for its queue pairs
     * @param registration what
     * @return the region
     * @throws VerbsException when it is refused
     */
    static SoftMemoryRegion register(SoftProtectionDomain domain, Registration registration) throws VerbsException {
        registration.requireValid();
        KeyMemory memory = memory(domain.keys(), registration);
        try {
            int value = domain.keys().take("ibv_reg_mr");
            SoftMemoryRegion region = new SoftMemoryRegion(domain.keys(), value, null);
            region.open(domain, registration, memory);
            return region;
        } catch (VerbsException e) {
            memory.release();
            throw e;
        }
    }

    /**
     * Registers memory that was allocated to be registered.
     *
     * @param domain for its queue pairs
     * @param shared the memory, of which this takes over a use
     * @param lengthBytes how much the program wanted
     * @param accessFlags its rights
     * @return the region, which owns the memory, and the memory
     * @throws VerbsException when no key is left
     */
    @SuppressWarnings({"restricted", "MustBeClosedChecker"}) // The allocation has the arena.
    static AllocatedMemory allocated(
            SoftProtectionDomain domain, SharedMemory shared, long lengthBytes, int accessFlags) throws VerbsException {
        int value;
        try {
            value = domain.keys().take("allocateMemory");
        } catch (VerbsException e) {
            shared.release();
            throw e;
        }
        Arena arena = Arena.ofShared();
        // Another segment than the keys have: the program's ends with the region, those of keys with the last key.
        MemorySegment memory =
                MemorySegment.ofAddress(shared.memory().address()).reinterpret(lengthBytes, arena, null);
        SoftMemoryRegion region = new SoftMemoryRegion(domain.keys(), value, new Allocation(shared, arena));
        boolean retained = shared.tryRetain();
        assert retained;
        KeyMemory piece = piece(shared, memory);
        region.open(domain, new Registration(memory, memory.address(), accessFlags), piece);
        return new AllocatedMemory(region, memory);
    }

    private static KeyMemory piece(SharedMemory shared, MemorySegment memory) {
        MemorySegment whole = shared.memory();
        MemorySegment piece = whole.asSlice(memory.address() - whole.address(), memory.byteSize());
        return new KeyMemory(piece, piece.scope(), shared);
    }

    /** The memory of a key to be: a piece of what was allocated here, or any other. */
    private static KeyMemory memory(KeyTable keys, Registration registration) throws VerbsException {
        MemorySegment memory = registration.memory();
        SharedMemory shared = keys.allocations().find(memory.address(), memory.byteSize());
        if (shared == null) {
            registration.requireMapped();
            return KeyMemory.own(memory);
        }
        int excess = shared.excess(registration.accessFlags());
        if (excess != 0) {
            shared.release();
            throw registration.refused(
                    Errno.EACCES,
                    "The memory was allocated without the rights 0x" + Integer.toHexString(excess)
                            + ", which can't be added: allocate it with them.");
        }
        return piece(shared, memory);
    }

    private void open(SoftProtectionDomain domain, Registration wanted, KeyMemory memory) {
        Key opened = new Key(value, this, domain, wanted.address(), wanted.accessFlags(), 0, memory);
        registration = wanted;
        key = opened;
        keys.open(opened);
    }

    /** The key of an open region. */
    Key key() {
        return key;
    }

    @Override
    public int localKey() {
        return value;
    }

    @Override
    public int remoteKey() {
        return value;
    }

    @Override
    public long reference() {
        return reference;
    }

    /**
     * A window is about to be bound to the region.
     *
     * @return the key to bind it to, which stays as it is until {@link #unbound}; null when the region is closed or
     *     being changed
     */
    synchronized Key bind() {
        if (changing) {
            return null;
        }
        windows++;
        return key;
    }

    /** A window is not bound to the region any more, or was not after all. */
    synchronized void unbound() {
        windows--;
    }

    /** Lets no more windows be bound; false when one is. */
    private synchronized boolean beginChange() {
        changing = windows == 0;
        return changing;
    }

    private synchronized void endChange() {
        changing = false;
    }

    @Override
    public ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, long address, long lengthBytes, int accessFlags)
            throws VerbsException {
        MemorySegment memory = null;
        if ((changes & ReregisterFlags.TRANSLATION) != 0) {
            if (lengthBytes <= 0 || address <= 0 || address > Long.MAX_VALUE - lengthBytes) {
                return new ReregisterResult(ReregisterError.INPUT, Errno.EINVAL);
            }
            memory = KeyMemory.at(address, lengthBytes);
        }
        return reregister(changes, domain, memory, accessFlags);
    }

    @Override
    public ReregisterResult reregister(
            int changes, ProtectionDomainHandle newDomain, MemorySegment newMemory, int accessFlags)
            throws VerbsException {
        Key old = key;
        boolean moves = (changes & ReregisterFlags.TRANSLATION) != 0;
        Registration wanted = new Registration(
                moves ? newMemory : registration.memory(),
                moves ? newMemory.address() : registration.ioVirtualAddress(),
                (changes & ReregisterFlags.ACCESS) != 0 ? accessFlags : registration.accessFlags());
        KeyMemory memory;
        try {
            wanted.requireValid();
            memory = memory(keys, wanted);
        } catch (VerbsException e) {
            return new ReregisterResult(ReregisterError.INPUT, e.errno());
        }
        if (!beginChange()) {
            memory.release();
            return new ReregisterResult(ReregisterError.INPUT, Errno.EBUSY);
        }
        keys.close(old);
        open(newDomain == null ? old.domain : (SoftProtectionDomain) newDomain, wanted, memory);
        endChange();
        return ReregisterResult.DONE;
    }

    @Override
    public void destroy() throws VerbsException {
        if (!beginChange()) {
            throw new VerbsException(
                    DEREG_MR,
                    "",
                    Errno.EBUSY,
                    "A memory window is still bound to the region: unbind or close it, then close the region again.");
        }
        if (allocation != null) {
            endOfSegment();
        }
        keys.strike(reference);
        keys.close(key);
        keys.give(KeyTable.slot(value));
        if (allocation != null) {
            allocation.shared.release();
        }
    }

    /** First, since it is all that can fail: then nothing has changed, and the program may try again. */
    private void endOfSegment() throws VerbsException {
        try {
            allocation.arena.close();
        } catch (IllegalStateException e) {
            endChange();
            VerbsException failure = new VerbsException(
                    DEREG_MR, "", Errno.EBUSY, "A native call is using the memory: close the region after it.");
            failure.initCause(e);
            throw failure;
        }
    }
}
