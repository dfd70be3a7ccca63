package io.rdmanio.verbs.soft;

/** What a process knows of its peer's keys. Thread-safe. */
final class Imports {
    private final ProcessPair pair;

    Imports(ProcessPair pair) {
        this.pair = pair;
    }

    /**
     * Handles a message of the pair; on the progress thread.
     *
     * @param message the message
     * @throws ProtocolException when it breaks the protocol
     */
    void received(ControlMessage.Memory message) throws ProtocolException {
        if (pair.isDead()) {
            throw new ProtocolException(message.toString());
        }
    }
}
