package io.rdmanio.verbs.soft;

/**
 * The peer process did what the protocol between the two ends of a pair forbids: a malformed message, a descriptor that
 * is not what it should be, a place outside its memory. It costs the pair. Immutable.
 */
final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param violation what the peer did, for the log
     */
    ProtocolException(String violation) {
        super(violation);
    }
}
