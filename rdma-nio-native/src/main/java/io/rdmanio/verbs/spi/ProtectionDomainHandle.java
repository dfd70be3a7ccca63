package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's protection domain. */
public interface ProtectionDomainHandle {
    /**
     * Registers memory.
     *
     * @param address where it begins
     * @param lengthBytes its length
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) throws VerbsException;

    /**
     * Deallocates it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
