package io.rdmanio.verbs.soft;

/**
 * The peer wrote into shared memory what it can't have meant. It is thrown from the data path to where the pair is
 * killed. Immutable.
 */
final class ViolationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ViolationException(String violation) {
        super(violation);
    }
}
