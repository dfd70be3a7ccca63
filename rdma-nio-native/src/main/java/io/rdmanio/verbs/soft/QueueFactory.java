package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;

/** Makes the queues of a device for its protection domains. Thread-safe. */
interface QueueFactory {
    /**
     * Creates a queue pair, which joins the domain as a {@link MemoryUser}.
     *
     * @param domain its domain
     * @param request what it shall be made of
     * @return the queue pair
     * @throws VerbsException when the device has no such queue pair, or not of that size
     */
    QueuePairHandle createQueuePair(SoftProtectionDomain domain, QueuePairRequest request) throws VerbsException;

    /**
     * Creates a shared receive queue.
     *
     * @param domain its domain
     * @param wanted its sizes
     * @return the queue
     * @throws VerbsException when a size is zero or too large
     */
    SharedReceiveQueueHandle createSharedReceiveQueue(SoftProtectionDomain domain, SharedReceiveQueueAttributes wanted)
            throws VerbsException;
}
