package io.rdmanio.verbs.soft;

/**
 * Who is at the other end: the token that it says it has, and the process that the kernel says it is, so that nobody can
 * pass for another process by its token. Immutable.
 *
 * @param token the token of its host
 * @param processId its process
 */
record PeerId(long token, int processId) {
    @Override
    public String toString() {
        return "process " + processId + " (" + Long.toHexString(token) + ")";
    }
}
