package io.rdmanio.verbs;

/**
 * Sizes and limit of a shared receive queue ({@code struct ibv_srq_attr}, ibv_create_srq(3)): wanted when it is
 * created, and what it has when it is queried. Immutable.
 *
 * @param maxWorkRequests receive work requests that can be outstanding; a device may grant more than was wanted
 * @param maxSges scatter-gather entries of a work request; a device may grant more than was wanted
 * @param limit the low watermark: an event tells once when fewer work requests than this are outstanding; 0 when it is
 *     not armed. Most devices ignore it when the queue is created: see {@link SharedReceiveQueue#setLimit}
 */
public record SharedReceiveQueueAttributes(int maxWorkRequests, int maxSges, int limit) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is negative
     */
    public SharedReceiveQueueAttributes {
        if (maxWorkRequests < 0 || maxSges < 0 || limit < 0) {
            throw new IllegalArgumentException(
                    "negative among maxWorkRequests=" + maxWorkRequests + ", maxSges=" + maxSges + ", limit=" + limit);
        }
    }
}
