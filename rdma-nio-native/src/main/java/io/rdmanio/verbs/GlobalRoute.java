package io.rdmanio.verbs;

import java.util.Objects;

/**
 * The global part of a path ({@code struct ibv_global_route}, ibv_create_ah(3)): what stands in the global route header,
 * or in the IP header of RoCE. Immutable.
 *
 * @param destination the peer's GID, or the multicast group's ({@code dgid})
 * @param flowLabel flow label, 20 bits
 * @param sourceGidIndex index of the source in the port's GID table, 0 to 255 ({@code sgid_index})
 * @param hopLimit hops before it is dropped, 0 to 255; 0 and 1 stay within the subnet
 * @param trafficClass traffic class, 0 to 255
 */
public record GlobalRoute(Gid destination, int flowLabel, int sourceGidIndex, int hopLimit, int trafficClass) {
    /** The size of the global route header ({@code struct ibv_grh}), which precedes every datagram that is received. */
    public static final int HEADER_BYTES = 40;

    private static final int DEFAULT_HOP_LIMIT = 64;

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException when a number does not fit into its field
     * @throws NullPointerException when the destination is null
     */
    public GlobalRoute {
        Objects.requireNonNull(destination, "destination");
        UnsignedField.checkByte("sourceGidIndex", sourceGidIndex);
        UnsignedField.checkByte("hopLimit", hopLimit);
        UnsignedField.checkByte("trafficClass", trafficClass);
    }

    /**
     * A route of 64 hops, flow label and traffic class 0.
     *
     * @param destination the peer's GID, or the multicast group's
     * @param sourceGidIndex index of the source in the port's GID table, 0 to 255
     * @return the route
     * @throws IllegalArgumentException when the index does not fit
     * @throws NullPointerException when the destination is null
     */
    public static GlobalRoute to(Gid destination, int sourceGidIndex) {
        return new GlobalRoute(destination, 0, sourceGidIndex, DEFAULT_HOP_LIMIT, 0);
    }
}
