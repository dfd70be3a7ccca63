package io.rdmanio.verbs.soft;

/** Names in the abstract name space of Unix sockets under which processes find each other. Stateless; thread-safe. */
final class Rendezvous {
    private Rendezvous() {}

    /**
     * The name of a host itself.
     *
     * @param userId the user who runs it
     * @param token its token
     * @return the name, without the zero byte that makes it abstract
     */
    static String processName(int userId, long token) {
        return prefix(userId) + "process/" + String.format("%016x", token);
    }

    /**
     * What the names of all hosts and listeners of a user begin with.
     *
     * @param userId the user
     * @return the beginning, with a slash at its end
     */
    static String prefix(int userId) {
        return "rdmanio/" + ControlMessage.VERSION + "/" + Integer.toUnsignedString(userId) + "/";
    }
}
