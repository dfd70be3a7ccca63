package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;

/**
 * What an engine answers to a query of a queue pair.
 *
 * @param attributes the attributes, those that were asked for marked
 * @param capabilities the sizes
 * @param signalAll whether every send generates a completion
 */
public record QueriedQueuePair(QueuePairAttributes attributes, QueuePairCapabilities capabilities, boolean signalAll) {}
