package io.rdmanio.verbs.soft;

/** A queue pair. Thread-safe. */
final class SoftQueuePair {
    private ProcessPair inbound;

    /**
     * The peer's queue pair is ready, and this is where to send. On the progress thread.
     *
     * @param pair the pair that the message came over
     * @param message where to send
     * @throws ProtocolException when there is no such place
     */
    void attached(ProcessPair pair, ControlMessage.Attach message) throws ProtocolException {
        inbound = pair;
        if (message.slab() != 0) {
            throw new ProtocolException(message.toString());
        }
    }

    /**
     * The peer's queue pair receives no more: this must answer {@link ControlMessage.Detached} when it writes there no
     * more. On the progress thread.
     *
     * @param pair the pair that the message came over
     * @param message the area
     */
    void detached(ProcessPair pair, ControlMessage.Detach message) {
        pair.send(new ControlMessage.Detached(message.slab(), message.offset()));
    }

    /**
     * The domain in which a peer's keys mean something.
     *
     * @param pair the pair of the peer
     * @return the domain; null when it is not connected over this pair
     */
    SoftProtectionDomain domainFor(ProcessPair pair) {
        return null;
    }

    /** Does what the peer left to do; on the progress thread, for a bit of the work set. */
    void progress() {}

    /**
     * The pair is dead; on the progress thread.
     *
     * @param pair the pair
     */
    void peerDied(ProcessPair pair) {
        if (pair == inbound) {
            inbound = null;
        }
    }
}
