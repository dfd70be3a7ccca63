package io.rdmanio.verbs.soft;

/** A completion channel. Thread-safe. */
final class SoftCompletionChannel {
    private SoftCompletionChannel() {}
}
