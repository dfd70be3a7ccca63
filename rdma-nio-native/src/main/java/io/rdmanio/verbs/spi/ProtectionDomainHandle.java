package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.SharedReceiveQueueAttributes;
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
     * Creates a shared receive queue.
     *
     * @param wanted its sizes
     * @return the queue
     * @throws VerbsException when it fails
     */
    default SharedReceiveQueueHandle createSharedReceiveQueue(SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        throw Unsupported.operation("ibv_create_srq");
    }

    /**
     * Creates a shared receive queue of a domain of extended reliable connections.
     *
     * @param wanted its sizes
     * @param xrcDomain the domain, of the same context
     * @param queue where its completions go, of the same context
     * @return the queue
     * @throws VerbsException when it fails
     */
    default SharedReceiveQueueHandle createSharedReceiveQueue(
            SharedReceiveQueueAttributes wanted, XrcDomainHandle xrcDomain, CompletionQueueHandle queue)
            throws VerbsException {
        throw Unsupported.operation("ibv_create_srq_ex");
    }

    /**
     * Deallocates it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
