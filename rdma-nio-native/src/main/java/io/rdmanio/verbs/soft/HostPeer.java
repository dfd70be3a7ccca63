package io.rdmanio.verbs.soft;

/**
 * The process at the other end of a pair. Two of the same pair are equal. Thread-safe.
 *
 * @param pair the pair
 */
record HostPeer(ProcessPair pair) implements ConnectionPeer {
    @Override
    public long peerToken() {
        return pair.peerToken();
    }

    @Override
    public boolean isDead() {
        return pair.isDead();
    }

    @Override
    public void send(ControlMessage message) {
        pair.send(message);
    }

    @Override
    public void onDeath(Runnable task) {
        pair.onDeath(task);
    }
}
