package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** An engine's memory region. */
public interface MemoryRegionHandle {
    /**
     * The key of local work requests, as it is now.
     *
     * @return lkey
     */
    int localKey();

    /**
     * The key of the peers, as it is now.
     *
     * @return rkey
     */
    int remoteKey();

    /**
     * What a work request that binds a memory window names it by.
     *
     * @return an address or number of the engine's; 0 in an engine without memory windows
     */
    default long reference() {
        return 0;
    }

    /**
     * Changes the registration in place, by one thread at a time.
     *
     * @param changes bits of {@link io.rdmanio.verbs.ReregisterFlags}
     * @param domain the new domain; null unless it shall change
     * @param address the new memory; 0 unless it shall change
     * @param lengthBytes its length
     * @param accessFlags the new flags; 0 unless they shall change
     * @return how it ended
     * @throws VerbsException when the engine can't: nothing has changed then
     */
    default ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, long address, long lengthBytes, int accessFlags)
            throws VerbsException {
        throw Unsupported.operation("ibv_rereg_mr");
    }

    /**
     * Changes the registration in place, by one thread at a time, for an engine that wants to know more of memory than
     * the address.
     *
     * @param changes bits of {@link io.rdmanio.verbs.ReregisterFlags}
     * @param domain the new domain; null unless it shall change
     * @param memory the new memory, native and not freed yet; null unless it shall change
     * @param accessFlags the new flags; 0 unless they shall change
     * @return how it ended
     * @throws VerbsException when the engine can't: nothing has changed then
     */
    default ReregisterResult reregister(
            int changes, ProtectionDomainHandle domain, MemorySegment memory, int accessFlags) throws VerbsException {
        return reregister(
                changes,
                domain,
                memory == null ? 0 : memory.address(),
                memory == null ? 0 : memory.byteSize(),
                accessFlags);
    }

    /**
     * Deregisters it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
