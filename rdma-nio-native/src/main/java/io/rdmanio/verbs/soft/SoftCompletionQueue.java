package io.rdmanio.verbs.soft;

/** A completion queue. Thread-safe. */
final class SoftCompletionQueue {
    private SoftCompletionQueue() {}
}
