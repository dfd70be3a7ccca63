package io.rdmanio.verbs.soft;

/** A process at the other end, as the connection manager sees it. Thread-safe. */
interface ConnectionPeer {
    /**
     * The peer's token.
     *
     * @return the token of its host
     */
    long peerToken();

    /**
     * Whether it is gone.
     *
     * @return true for ever once it is
     */
    boolean isDead();

    /**
     * How often it has stopped listening somewhere, as it says.
     *
     * @return a number that is another one as soon as it has
     */
    int listenerEpoch();

    /**
     * Sends a message, after those sent before. Does not block; one to a dead peer is dropped.
     *
     * @param message the message
     */
    void send(ControlMessage message);

    /**
     * Has a task run when the peer is gone, on the progress thread; soon if it is gone already.
     *
     * @param task the task; must not block
     */
    void onDeath(Runnable task);
}
