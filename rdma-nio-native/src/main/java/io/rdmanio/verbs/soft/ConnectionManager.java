package io.rdmanio.verbs.soft;

/** The connection manager of a host. Thread-safe. */
final class ConnectionManager {
    /**
     * Handles a message of a pair; on the progress thread.
     *
     * @param pair the pair
     * @param message the message
     * @throws ProtocolException when it breaks the protocol
     */
    void received(ProcessPair pair, ControlMessage.Connection message) throws ProtocolException {
        if (pair.isDead()) {
            throw new ProtocolException(message.toString());
        }
    }
}
