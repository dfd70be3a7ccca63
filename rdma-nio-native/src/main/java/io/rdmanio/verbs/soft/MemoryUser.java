package io.rdmanio.verbs.soft;

/** Somebody who reaches memory by local keys of a protection domain: a queue pair. Thread-safe. */
interface MemoryUser {
    /**
     * Waits until every access to memory that had begun before this call is over. Does not wait for those that begin
     * later, and is not called by a thread that is in the middle of one.
     */
    void quiesce();
}
