package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.VerbsException;

/** A queue pair of an id, as the connection manager sees it. Thread-safe; nothing blocks. */
interface ConnectedQueuePair {
    /**
     * What the two sides have agreed on, seen from this one.
     *
     * @param peerQueuePair the peer's number
     * @param responderResources how many reads of the peer's this side answers at a time
     * @param initiatorDepth how many reads this side has under way at a time
     * @param retryCount how often it tries again
     * @param rnrRetryCount how often it tries again when the peer has no receive; 7 for ever
     * @param timeout how long it waits for an acknowledgement, an exponent; 0 for ever
     */
    record Agreement(
            int peerQueuePair,
            int responderResources,
            int initiatorDepth,
            int retryCount,
            int rnrRetryCount,
            int timeout) {}

    /**
     * Its number.
     *
     * @return the number
     */
    int number();

    /**
     * Whether it receives through a shared receive queue.
     *
     * @return whether
     */
    boolean usesSharedReceiveQueue();

    /**
     * Whether it was destroyed, so that its id has none.
     *
     * @return whether
     */
    boolean isDestroyed();

    /**
     * Brings it to READY_TO_SEND and tells the peer's where to send.
     *
     * @param peer the process of the peer's queue pair
     * @param agreement how
     * @throws VerbsException when its state does not allow it, or memory is missing
     */
    void connect(ConnectionPeer peer, Agreement agreement) throws VerbsException;

    /** Brings it to ERROR, whatever it is in. */
    void enterError();
}
