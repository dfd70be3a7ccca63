package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairType;

/**
 * What a queue pair shall be made of: {@link io.rdmanio.verbs.QueuePairInitAttributes} with handles in the place of
 * objects.
 *
 * @param type the transport service
 * @param capabilities the sizes that are wanted
 * @param sendQueue queue of its send completions, or null
 * @param receiveQueue queue of its receive completions, or null
 * @param signalAll whether every send generates a completion
 * @param sharedReceiveQueue where its receives come from, or null
 * @param xrcDomain its domain of extended reliable connections, or null
 */
public record QueuePairRequest(
        QueuePairType type,
        QueuePairCapabilities capabilities,
        CompletionQueueHandle sendQueue,
        CompletionQueueHandle receiveQueue,
        boolean signalAll,
        SharedReceiveQueueHandle sharedReceiveQueue,
        XrcDomainHandle xrcDomain) {}
