package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's memory window. */
public interface MemoryWindowHandle {
    /**
     * The key of the peers, as it is now.
     *
     * @return rkey
     */
    int remoteKey();

    /**
     * Notes the key that a work request has bound it under, or takes back one that was not bound.
     *
     * @param remoteKey the key
     */
    void setRemoteKey(int remoteKey);

    /**
     * What a work request names it by.
     *
     * @return an address or number of the engine's, not 0
     */
    long reference();

    /**
     * Posts a bind of a window of type 1.
     *
     * @param pair where it is posted
     * @param workRequestId what its completion carries
     * @param flags how it is posted
     * @param region what it is bound to
     * @param address where it begins
     * @param lengthBytes its length, 0 to unbind it
     * @param accessFlags what peers may do
     * @throws VerbsException when it can't be posted
     */
    void bind(
            QueuePairHandle pair,
            long workRequestId,
            int flags,
            MemoryRegionHandle region,
            long address,
            long lengthBytes,
            int accessFlags)
            throws VerbsException;

    /**
     * Deallocates it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
