package io.rdmanio.verbs;

/**
 * Sizes of a queue pair ({@code struct ibv_qp_cap}, ibv_create_qp(3)): wanted when it is created, and granted
 * afterwards, never less. Immutable.
 *
 * @param maxSendWorkRequests outstanding send work requests
 * @param maxReceiveWorkRequests outstanding receive work requests
 * @param maxSendSges scatter-gather entries of a send
 * @param maxReceiveSges scatter-gather entries of a receive
 * @param maxInlineBytes bytes that may be sent inline
 */
public record QueuePairCapabilities(
        int maxSendWorkRequests, int maxReceiveWorkRequests, int maxSendSges, int maxReceiveSges, int maxInlineBytes) {}
