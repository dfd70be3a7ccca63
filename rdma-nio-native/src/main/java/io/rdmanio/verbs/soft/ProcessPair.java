package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;

/**
 * What this process shares with one other: a control socket, memory that nobody else maps, and the queue pairs that are
 * connected over both. Two processes have one pair. A process that is connected with itself has two objects, one for
 * each end: what is sent at one arrives at the other.
 *
 * <p>A pair dies when the peer's process does, when the peer breaks the protocol, or when {@link #kill} is called; it is
 * marked as dead first, then those who use it are told, on the progress thread, and then its memory is unmapped, so that
 * whoever still reaches for it meets an {@link IllegalStateException}.
 *
 * <p>Thread safety: all methods may be called by any thread, unless they say otherwise.
 */
@SuppressWarnings("DoNotCallSuggester")
final class ProcessPair {
    private ProcessPair() {}

    /**
     * The peer's token.
     *
     * @return the token of the host at the other end
     */
    long peerToken() {
        throw new UnsupportedOperationException();
    }

    /**
     * The host that this is a pair of.
     *
     * @return the host
     */
    SoftHost host() {
        throw new UnsupportedOperationException();
    }

    /**
     * Whether the pair is dead.
     *
     * @return true for ever once it is
     */
    boolean isDead() {
        throw new UnsupportedOperationException();
    }

    /**
     * Sends a message, after those sent before. Does not block: what the socket can't take now waits, and if too much
     * waits, the pair dies. A pair that is dead drops it.
     *
     * @param message the message; its descriptors stay the caller's, who may close them when this returns
     */
    void send(ControlMessage message) {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends the pair.
     *
     * @param reason why, for the log
     */
    void kill(String reason) {
        throw new UnsupportedOperationException(reason);
    }

    /**
     * Our header, which the peer writes to.
     *
     * @return the header
     */
    PairHeader inbound() {
        throw new UnsupportedOperationException();
    }

    /**
     * The peer's header, which we write to.
     *
     * @return the header
     */
    PairHeader outbound() {
        throw new UnsupportedOperationException();
    }

    /**
     * Allocates an area of our memory, zeroed; a new slab if need be, of which the peer hears before this returns.
     *
     * @param bytes how long
     * @return the area, to be freed or retired
     * @throws java.io.IOException when no memory or descriptor is left, or the pair is dead
     */
    Place allocateArea(long bytes) throws java.io.IOException {
        throw new java.io.IOException(String.valueOf(bytes));
    }

    /**
     * Frees an area of which the peer never heard.
     *
     * @param place the area
     */
    void freeArea(Place place) {
        throw new UnsupportedOperationException();
    }

    /**
     * Gives up an area of which the peer was told: it is free when the peer has said {@link ControlMessage.Detached} of
     * it. The caller sends {@link ControlMessage.Detach} afterwards.
     *
     * @param place the area
     */
    void retireArea(Place place) {
        throw new UnsupportedOperationException();
    }

    /**
     * An area of the peer's memory.
     *
     * @param slab the number of its slab
     * @param offset where it begins
     * @param bytes how long it is
     * @return the area, mapped as long as the pair lives
     * @throws ProtocolException when there is no such area, or it begins elsewhere than at a multiple of 64
     */
    MemorySegment peerArea(int slab, long offset, long bytes) throws ProtocolException {
        throw new ProtocolException(slab + "+" + offset + "+" + bytes);
    }

    /**
     * Gives a queue pair a slot, by which the peer marks it as ready or as work to do.
     *
     * @param queuePair the queue pair
     * @return its slot, less than 16384; or -1 when there is none
     */
    int addQueuePair(SoftQueuePair queuePair) {
        throw new UnsupportedOperationException();
    }

    /**
     * Frees a slot of a queue pair.
     *
     * @param slot the slot
     */
    void removeQueuePair(int slot) {
        throw new UnsupportedOperationException(String.valueOf(slot));
    }

    /**
     * Finds a queue pair.
     *
     * @param slot its slot, whatever the peer says it is
     * @return the queue pair, or null
     */
    SoftQueuePair queuePair(int slot) {
        throw new UnsupportedOperationException(String.valueOf(slot));
    }

    /**
     * Has the peer's progress thread call {@link SoftQueuePair#progress}.
     *
     * @param peerSlot the peer's slot of its queue pair
     */
    void kickPeerWork(int peerSlot) {
        throw new UnsupportedOperationException(String.valueOf(peerSlot));
    }

    /**
     * The number by which the peer knows a completion channel of ours; it is told when this is first called.
     *
     * @param channel the channel
     * @return the number
     */
    int doorbellIndexOf(SoftCompletionChannel channel) {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes back what the peer was told of a completion channel, before its descriptor is closed.
     *
     * @param channel the channel, whether or not the peer was told
     */
    void forgetDoorbell(SoftCompletionChannel channel) {
        throw new UnsupportedOperationException();
    }

    /**
     * Rings a completion channel of the peer.
     *
     * @param doorbellIndex its number, as the peer told it; one that leads nowhere is ignored
     */
    void ringPeer(int doorbellIndex) {
        throw new UnsupportedOperationException(String.valueOf(doorbellIndex));
    }

    /**
     * Gives a completion queue a slot among the arm words of this pair; the same one if it has one.
     *
     * @param queue the queue
     * @return its slot, less than 16384; or -1 when there is none
     */
    int addCompletionQueue(SoftCompletionQueue queue) {
        throw new UnsupportedOperationException();
    }

    /**
     * Frees a slot of a completion queue.
     *
     * @param queue the queue
     */
    void removeCompletionQueue(SoftCompletionQueue queue) {
        throw new UnsupportedOperationException();
    }

    /**
     * The peer's page of epochs, read-only.
     *
     * @return an int per slot of its key table
     */
    MemorySegment peerEpochs() {
        throw new UnsupportedOperationException();
    }

    /**
     * What we know of the peer's keys.
     *
     * @return the imports
     */
    Imports imports() {
        throw new UnsupportedOperationException();
    }

    /**
     * Has a task run when the pair dies, on the progress thread, before its memory is unmapped; at once there if it is
     * dead already.
     *
     * @param task the task; must not block
     */
    void onDeath(Runnable task) {
        throw new UnsupportedOperationException();
    }
}
