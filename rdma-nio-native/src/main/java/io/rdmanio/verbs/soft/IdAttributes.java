package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.GlobalRoute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.VerbsException;

/**
 * What a queue pair that the program makes itself needs to take part in the connection of an id (rdma_init_qp_attr(3)):
 * what Linux marks on RoCE. Stateless; thread-safe.
 */
final class IdAttributes {
    private static final int PATH_MTU_BYTES = 4096;

    private IdAttributes() {}

    /**
     * The attributes for a state.
     *
     * @param agreement what is agreed on; null before there is anything
     * @param peer the peer; null with that
     * @param state the state
     * @return the attributes
     * @throws VerbsException when it is too early for the state
     */
    static QueuePairAttributes of(ConnectedQueuePair.Agreement agreement, ConnectionPeer peer, QueuePairState state)
            throws VerbsException {
        if (state == QueuePairState.INITIALIZED) {
            return initialized(agreement);
        }
        if (agreement == null) {
            throw IdAddresses.invalid(
                    "rdma_init_qp_attr",
                    "state=" + state,
                    "The id is not so far that a queue pair of it could be in this state.");
        }
        return switch (state) {
            case READY_TO_RECEIVE -> readyToReceive(new QueuePairAttributes().state(state), agreement, peer);
            case READY_TO_SEND ->
                readyToSend(new QueuePairAttributes().state(state), agreement).sendPacketNumber(0);
            default ->
                throw IdAddresses.invalid(
                        "rdma_init_qp_attr",
                        "state=" + state,
                        "There are attributes for INITIALIZED, READY_TO_RECEIVE and READY_TO_SEND.");
        };
    }

    /** Those of a queue pair that is not connected; {@code agreement} may be null. */
    static QueuePairAttributes initialized(ConnectedQueuePair.Agreement agreement) {
        return new QueuePairAttributes()
                .state(QueuePairState.INITIALIZED)
                .partitionKeyIndex(0)
                .portNumber(1)
                .accessFlags(accessFlags(agreement));
    }

    /** All that a queue pair of the id's own gets when it is connected, but the state. */
    static QueuePairAttributes connected(ConnectedQueuePair.Agreement agreement, ConnectionPeer peer) {
        QueuePairAttributes attributes = new QueuePairAttributes().accessFlags(accessFlags(agreement));
        return readyToSend(readyToReceive(attributes, agreement, peer), agreement);
    }

    private static QueuePairAttributes readyToReceive(
            QueuePairAttributes attributes, ConnectedQueuePair.Agreement agreement, ConnectionPeer peer) {
        return attributes
                .addressVector(AddressHandleAttributes.global(1, GlobalRoute.to(SoftContext.gid(peer.peerToken()), 0)))
                .pathMtuBytes(PATH_MTU_BYTES)
                .destinationNumber(agreement.peerQueuePair())
                .receivePacketNumber(0)
                .maxDestinationReadAtomic(agreement.responderResources())
                .minRnrTimer(0);
    }

    private static QueuePairAttributes readyToSend(
            QueuePairAttributes attributes, ConnectedQueuePair.Agreement agreement) {
        return attributes
                .timeout(agreement.timeout())
                .retryCount(agreement.retryCount())
                .rnrRetryCount(agreement.rnrRetryCount())
                .maxReadAtomic(agreement.initiatorDepth());
    }

    private static int accessFlags(ConnectedQueuePair.Agreement agreement) {
        if (agreement == null) {
            return 0;
        }
        return agreement.responderResources() == 0
                ? AccessFlags.REMOTE_WRITE
                : AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
    }
}
