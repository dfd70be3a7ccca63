package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.cm.ConnectionParameters;

/**
 * What the two sides of a connection want of each other, and what comes of it, as the InfiniBand connection manager of
 * Linux has it: each side gives the other the number of repetitions for a receiver that isn't ready, and the side that
 * asked gives both the number of repetitions.
 *
 * <p>Not thread-safe: the lock of the {@link ConnectionManager} is held in all methods.
 */
final class ConnectionTerms {
    /** What an event says that has nothing to say. */
    static final ConnectionParameters NONE = new ConnectionParameters(0, 0, 0, 0, 0, false, 0);

    // 4.096 microseconds times two to this power, as a packet's life time of RoCE makes it.
    private static final int DEFAULT_ACKNOWLEDGEMENT_TIMEOUT = 19;
    private static final int MAX_RETRIES = 7;

    private ConnectionParameters own = NONE;
    private ConnectionParameters peers = NONE;
    private int acknowledgementTimeout = DEFAULT_ACKNOWLEDGEMENT_TIMEOUT;

    /** As the program gave them, with the numbers of reads that are meant. */
    void own(ConnectionParameters parameters) {
        own = parameters;
    }

    /** The peer's, seen from this side: it answers as many reads as this side may have under way. */
    void peers(ControlMessage.Parameters wanted, int queuePair) {
        peers = new ConnectionParameters(
                /* responderResources= */ wanted.initiatorDepth(),
                /* initiatorDepth= */ wanted.responderResources(),
                wanted.flowControl() ? 1 : 0,
                wanted.retryCount(),
                wanted.rnrRetryCount(),
                wanted.sharedReceiveQueue(),
                queuePair);
    }

    ConnectionParameters peers() {
        return peers;
    }

    void acknowledgementTimeout(int exponent) {
        acknowledgementTimeout = exponent;
    }

    /** The number of the queue pair that the peer is told; the program's when the id has none. */
    int queuePairNumber(ConnectedQueuePair queuePair) {
        return queuePair == null ? own.queuePairNumber() : queuePair.number();
    }

    ControlMessage.Parameters message(ConnectedQueuePair queuePair) {
        return new ControlMessage.Parameters(
                own.responderResources(),
                own.initiatorDepth(),
                own.flowControl() != 0,
                Math.min(own.retryCount(), MAX_RETRIES),
                Math.min(own.rnrRetryCount(), MAX_RETRIES),
                queuePair == null ? own.srq() : queuePair.usesSharedReceiveQueue());
    }

    /** For the side that asked: what the answer says. */
    ConnectedQueuePair.Agreement asInitiator() {
        return new ConnectedQueuePair.Agreement(
                peers.queuePairNumber(),
                peers.responderResources(),
                peers.initiatorDepth(),
                Math.min(own.retryCount(), MAX_RETRIES),
                peers.rnrRetryCount(),
                acknowledgementTimeout);
    }

    /** For the side that was asked: what it says itself. */
    ConnectedQueuePair.Agreement asAcceptor() {
        return new ConnectedQueuePair.Agreement(
                peers.queuePairNumber(),
                own.responderResources(),
                own.initiatorDepth(),
                peers.retryCount(),
                peers.rnrRetryCount(),
                acknowledgementTimeout);
    }
}
