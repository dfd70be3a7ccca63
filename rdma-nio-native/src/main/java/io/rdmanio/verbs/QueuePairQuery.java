package io.rdmanio.verbs;

/**
 * What {@link QueuePair#query} found. Immutable but for the attributes, which belong to the caller.
 *
 * @param attributes the attributes: those that were asked for are marked; which of them mean anything depends on the
 *     queue pair's type and state
 * @param initAttributes what the queue pair was made of, with the sizes it has now
 */
public record QueuePairQuery(QueuePairAttributes attributes, QueuePairInitAttributes initAttributes) {}
