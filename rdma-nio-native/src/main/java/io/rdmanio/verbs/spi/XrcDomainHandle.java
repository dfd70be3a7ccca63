package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's domain of extended reliable connections. */
public interface XrcDomainHandle {
    /**
     * Opens a receiving queue pair of the domain that exists already.
     *
     * @param number its number
     * @return the queue pair
     * @throws VerbsException when it fails
     */
    default QueuePairHandle openQueuePair(int number) throws VerbsException {
        throw Unsupported.operation("ibv_open_qp");
    }

    /**
     * Closes it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
