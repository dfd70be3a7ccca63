package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;

/**
 * An address to listen at or to connect to, with what else is known of the way there ({@code struct rdma_addrinfo},
 * rdma_getaddrinfo(3)). Immutable; arrays are copied on their way in and out.
 *
 * @param flags bits of {@link AddressInfoFlags}
 * @param family the addresses' family
 * @param queuePairType what will be connected; UNKNOWN when it is left open
 * @param portSpace the port space; UNKNOWN when it is left open
 * @param source the local address; null when there is none, or none of IP
 * @param destination the peer's address; null when there is none, or none of IP
 * @param sourceCanonicalName the local node's name; null when it is not known
 * @param destinationCanonicalName the peer's name; null when it is not known
 * @param route the path, as {@link IdOptions#setPath} takes it; empty when it is not known
 * @param connectData what precedes the private data of a request to connect; may be empty
 * @param rawSource the local address as in C, with its family first; may be empty
 * @param rawDestination the peer's address as in C, with its family first; may be empty
 */
@SuppressWarnings("ArrayRecordComponent") // Copied both ways; nobody compares them.
public record AddressInfo(
        int flags,
        AddressFamily family,
        QueuePairType queuePairType,
        PortSpace portSpace,
        InetSocketAddress source,
        InetSocketAddress destination,
        String sourceCanonicalName,
        String destinationCanonicalName,
        byte[] route,
        byte[] connectData,
        byte[] rawSource,
        byte[] rawDestination) {
    /** The size of the place that C has for an address ({@code struct sockaddr_storage}). */
    private static final int MAX_RAW_BYTES = 128;

    /**
     * Copies the arrays.
     *
     * @throws NullPointerException when an array, the family, the type or the port space is null
     * @throws IllegalArgumentException when a raw address has more than 128 bytes, the most that C has room for
     * @throws java.nio.channels.UnresolvedAddressException when an address is not resolved
     */
    public AddressInfo {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(queuePairType, "queuePairType");
        Objects.requireNonNull(portSpace, "portSpace");
        CommunicationId.checkResolvedOrNull(source);
        CommunicationId.checkResolvedOrNull(destination);
        checkRaw("rawSource", rawSource);
        checkRaw("rawDestination", rawDestination);
        route = route.clone();
        connectData = connectData.clone();
        rawSource = rawSource.clone();
        rawDestination = rawDestination.clone();
    }

    /** The library copies as many bytes as it is told, whatever the room. */
    private static void checkRaw(String what, byte[] address) {
        if (address.length > MAX_RAW_BYTES) {
            throw new IllegalArgumentException(what + " of " + address.length + " bytes is more than " + MAX_RAW_BYTES);
        }
    }

    /**
     * Looks up addresses (rdma_getaddrinfo(3), rdma_freeaddrinfo(3)). Blocks as long as the system's name service does,
     * unless the node is a number (see {@link AddressInfoFlags#NUMERIC_HOST}).
     *
     * @param engine whose connection manager
     * @param node the host's name or number; null for a wildcard, or when the hints have the address
     * @param service the port's number or name; null for none
     * @param hints what to look for
     * @return what was found, at least one
     * @throws VerbsException when nothing is found or the hints don't fit together; the message holds the name of the
     *     code of getaddrinfo(3), such as {@code EAI_NONAME}, and {@link VerbsException#errno} is 0 then
     * @throws IllegalArgumentException when there is neither node nor service nor an address in the hints
     */
    public static List<AddressInfo> lookUp(RdmaEngine engine, String node, String service, AddressInfoHints hints)
            throws VerbsException {
        if (node == null && service == null && hints.source() == null && hints.destination() == null) {
            throw new IllegalArgumentException("a look-up needs a node, a service, or an address in the hints");
        }
        return VerbsAccess.get().engine(engine).lookUpAddresses(node, service, hints);
    }

    /**
     * Whether it is an address to listen at.
     *
     * @return whether {@link AddressInfoFlags#PASSIVE} is set
     */
    public boolean isPassive() {
        return (flags & AddressInfoFlags.PASSIVE) != 0;
    }

    /**
     * The path to the peer.
     *
     * @return a copy, may be empty
     */
    @Override
    public byte[] route() {
        return route.clone();
    }

    /**
     * What precedes the private data of a request to connect.
     *
     * @return a copy, may be empty
     */
    @Override
    public byte[] connectData() {
        return connectData.clone();
    }

    /**
     * The local address as in C.
     *
     * @return a copy, may be empty
     */
    @Override
    public byte[] rawSource() {
        return rawSource.clone();
    }

    /**
     * The peer's address as in C.
     *
     * @return a copy, may be empty
     */
    @Override
    public byte[] rawDestination() {
        return rawDestination.clone();
    }
}
