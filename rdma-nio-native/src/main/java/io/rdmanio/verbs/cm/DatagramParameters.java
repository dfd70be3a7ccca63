package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.AddressHandleAttributes;
import java.util.Objects;

/**
 * Where datagrams go to, as an event of a datagram port space tells ({@code struct rdma_ud_param},
 * rdma_get_cm_event(3)): the peer's queue pair with ESTABLISHED, the group's with MULTICAST_JOIN. Immutable.
 *
 * @param addressHandleAttributes what an address handle for it is made from
 * @param queuePairNumber the peer's queue pair; 0xFFFFFF is a multicast group
 * @param queueKey the Q_Key that its datagrams carry
 */
public record DatagramParameters(AddressHandleAttributes addressHandleAttributes, int queuePairNumber, int queueKey) {
    /** The Q_Key of all queue pairs and groups of the UDP port space ({@code RDMA_UDP_QKEY}). */
    public static final int UDP_QUEUE_KEY = 0x01234567;

    /**
     * Checks the parts.
     *
     * @throws NullPointerException when there are no attributes
     */
    public DatagramParameters {
        Objects.requireNonNull(addressHandleAttributes, "addressHandleAttributes");
    }
}
