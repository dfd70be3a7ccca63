package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.Gid;
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
    // fd52:646d:6150::/64, which the tokens of hosts follow.
    private static final long GID_PREFIX = 0xFD52_646D_6150_0000L;

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
            return new QueuePairAttributes()
                    .state(state)
                    .partitionKeyIndex(0)
                    .portNumber(1)
                    .accessFlags(accessFlags(agreement));
        }
        if (agreement == null) {
            throw IdAddresses.invalid(
                    "rdma_init_qp_attr",
                    "state=" + state,
                    "The id is not so far that a queue pair of it could be in this state.");
        }
        return switch (state) {
            case READY_TO_RECEIVE ->
                new QueuePairAttributes()
                        .state(state)
                        .addressVector(AddressHandleAttributes.global(
                                1, GlobalRoute.to(new Gid(GID_PREFIX, peer.peerToken()), 0)))
                        .pathMtuBytes(PATH_MTU_BYTES)
                        .destinationNumber(agreement.peerQueuePair())
                        .receivePacketNumber(0)
                        .maxDestinationReadAtomic(agreement.responderResources())
                        .minRnrTimer(0);
            case READY_TO_SEND ->
                new QueuePairAttributes()
                        .state(state)
                        .sendPacketNumber(0)
                        .timeout(agreement.timeout())
                        .retryCount(agreement.retryCount())
                        .rnrRetryCount(agreement.rnrRetryCount())
                        .maxReadAtomic(agreement.initiatorDepth());
            default ->
                throw IdAddresses.invalid(
                        "rdma_init_qp_attr",
                        "state=" + state,
                        "There are attributes for INITIALIZED, READY_TO_RECEIVE and READY_TO_SEND.");
        };
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
