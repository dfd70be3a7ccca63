package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;

/** The device as its ids and event channels see it. Thread-safe. */
interface ConnectionDevice {
    /** A queue pair, as the program and as the connection manager see it. */
    record NewQueuePair(QueuePairHandle handle, ConnectedQueuePair connected) {}

    /**
     * The connection manager.
     *
     * @return the manager of the host
     */
    ConnectionManager connections();

    /** Counts one more use of the host. */
    void retain();

    /** Ends one use of the host. */
    void release();

    /**
     * The context that all ids share.
     *
     * @return the context, which nobody destroys
     */
    ContextHandle context();

    /**
     * The protection domain that all ids share.
     *
     * @return the domain, whose destroy does nothing
     */
    ProtectionDomainHandle domain();

    /**
     * How many reads and atomics of a peer's a queue pair answers at a time, and how many it may have under way.
     *
     * @return less than 255
     */
    int maxReads();

    /**
     * Creates a queue pair and brings it to INITIALIZED.
     *
     * @param domain its domain
     * @param request what it shall be made of
     * @return the queue pair
     * @throws VerbsException when it fails
     */
    NewQueuePair createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request) throws VerbsException;

    /**
     * Creates a shared receive queue.
     *
     * @param domain its domain
     * @param wanted its sizes
     * @return the queue
     * @throws VerbsException when it fails
     */
    SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle domain, SharedReceiveQueueAttributes wanted) throws VerbsException;
}
