package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's memory region. */
public interface MemoryRegionHandle {
    /**
     * The key of local work requests.
     *
     * @return lkey
     */
    int localKey();

    /**
     * The key of the peers.
     *
     * @return rkey
     */
    int remoteKey();

    /**
     * Deregisters it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
