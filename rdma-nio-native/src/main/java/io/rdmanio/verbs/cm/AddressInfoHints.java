package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.QueuePairType;
import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * What {@link AddressInfo#lookUp} shall look for ({@code struct rdma_addrinfo} as hints, rdma_getaddrinfo(3)): begin
 * with {@link #NONE} and narrow it. Immutable.
 *
 * @param flags bits of {@link AddressInfoFlags}
 * @param family the family of the addresses
 * @param queuePairType what will be connected; null for any
 * @param portSpace the port space; null for any
 * @param source the local address, resolved; null to choose by the route
 * @param destination the peer's address, resolved, in place of node and service; null when these are given
 */
public record AddressInfoHints(
        int flags,
        AddressFamily family,
        QueuePairType queuePairType,
        PortSpace portSpace,
        InetSocketAddress source,
        InetSocketAddress destination) {
    /** No hint. */
    public static final AddressInfoHints NONE =
            new AddressInfoHints(0, AddressFamily.UNSPECIFIED, null, null, null, null);

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException when family, type or port space is UNKNOWN
     * @throws java.nio.channels.UnresolvedAddressException when an address is not resolved
     */
    public AddressInfoHints {
        Objects.requireNonNull(family, "family");
        if (family == AddressFamily.UNKNOWN
                || queuePairType == QueuePairType.UNKNOWN
                || portSpace == PortSpace.UNKNOWN) {
            throw new IllegalArgumentException("hints need a known family, queue pair type and port space");
        }
        CommunicationId.checkResolvedOrNull(source);
        CommunicationId.checkResolvedOrNull(destination);
    }

    /**
     * Sets the flags.
     *
     * @param newFlags bits of {@link AddressInfoFlags}
     * @return hints with these flags
     */
    public AddressInfoHints withFlags(int newFlags) {
        return new AddressInfoHints(newFlags, family, queuePairType, portSpace, source, destination);
    }

    /**
     * Sets the family.
     *
     * @param newFamily the family
     * @return hints with this family
     */
    public AddressInfoHints withFamily(AddressFamily newFamily) {
        return new AddressInfoHints(flags, newFamily, queuePairType, portSpace, source, destination);
    }

    /**
     * Sets the type.
     *
     * @param newType the type; null for any
     * @return hints with this type
     */
    public AddressInfoHints withQueuePairType(QueuePairType newType) {
        return new AddressInfoHints(flags, family, newType, portSpace, source, destination);
    }

    /**
     * Sets the port space.
     *
     * @param newPortSpace the port space; null for any
     * @return hints with this port space
     */
    public AddressInfoHints withPortSpace(PortSpace newPortSpace) {
        return new AddressInfoHints(flags, family, queuePairType, newPortSpace, source, destination);
    }

    /**
     * Sets the local address.
     *
     * @param newSource the address; null for none
     * @return hints with this address
     */
    public AddressInfoHints withSource(InetSocketAddress newSource) {
        return new AddressInfoHints(flags, family, queuePairType, portSpace, newSource, destination);
    }

    /**
     * Sets the peer's address.
     *
     * @param newDestination the address; null for none
     * @return hints with this address
     */
    public AddressInfoHints withDestination(InetSocketAddress newDestination) {
        return new AddressInfoHints(flags, family, queuePairType, portSpace, source, newDestination);
    }
}
