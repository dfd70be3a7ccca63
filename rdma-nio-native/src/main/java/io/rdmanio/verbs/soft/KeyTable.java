package io.rdmanio.verbs.soft;

/** The keys of a host. Thread-safe. */
final class KeyTable {
    private KeyTable() {}
}
