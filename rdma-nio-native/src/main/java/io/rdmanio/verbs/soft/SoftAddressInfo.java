package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressFamily;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoFlags;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.cm.PortSpace;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Looks up addresses as librdmacm does over getaddrinfo(3): one answer, the first, or one of its codes. Stateless;
 * thread-safe; blocks as long as the name service does.
 */
final class SoftAddressInfo {
    private static final String FUNCTION = "rdma_getaddrinfo";
    private static final byte[] NOTHING = {};

    /** The codes of getaddrinfo(3), with the C library's words. */
    private enum Code {
        EAI_NONAME(-2, "Name or service not known"),
        EAI_FAMILY(-6, "ai_family not supported"),
        EAI_SOCKTYPE(-7, "ai_socktype not supported"),
        EAI_SERVICE(-8, "Servname not supported for ai_socktype"),
        EAI_ADDRFAMILY(-9, "Address family for hostname not supported");

        final int value;
        final String words;

        Code(int value, String words) {
            this.value = value;
            this.words = words;
        }
    }

    private final String node;
    private final String service;
    private final AddressInfoHints hints;

    private SoftAddressInfo(String node, String service, AddressInfoHints hints) {
        this.node = node;
        this.service = service;
        this.hints = hints;
    }

    static List<AddressInfo> lookUp(String node, String service, AddressInfoHints hints) throws VerbsException {
        SoftAddressInfo search = new SoftAddressInfo(node, service, hints);
        return List.of(node == null && service == null ? search.hintsThemselves() : search.lookUp());
    }

    private VerbsException failure(Code code) {
        return new VerbsException(
                FUNCTION,
                "node=" + node + ", service=" + service + ", " + hints,
                0,
                code.words + " (" + code + ", " + code.value + ")");
    }

    private AddressInfo hintsThemselves() {
        return info(
                hints.flags(),
                hints.family(),
                Objects.requireNonNullElse(hints.queuePairType(), QueuePairType.UNKNOWN),
                Objects.requireNonNullElse(hints.portSpace(), PortSpace.UNKNOWN),
                hints.source(),
                hints.destination());
    }

    private AddressInfo lookUp() throws VerbsException {
        boolean datagrams = wantsDatagrams();
        int port = service == null ? 0 : port(datagrams ? "udp" : "tcp");
        InetSocketAddress address = new InetSocketAddress(address(), port);
        boolean passive = isSet(AddressInfoFlags.PASSIVE);
        return info(
                passive ? AddressInfoFlags.PASSIVE : 0,
                address.getAddress() instanceof Inet4Address ? AddressFamily.INET : AddressFamily.INET6,
                Objects.requireNonNullElse(
                        hints.queuePairType(),
                        datagrams ? QueuePairType.UNRELIABLE_DATAGRAM : QueuePairType.RELIABLE_CONNECTED),
                Objects.requireNonNullElse(hints.portSpace(), datagrams ? PortSpace.UDP : PortSpace.TCP),
                passive ? address : hints.source(),
                passive ? null : address);
    }

    private static AddressInfo info(
            int flags,
            AddressFamily family,
            QueuePairType type,
            PortSpace space,
            InetSocketAddress source,
            InetSocketAddress destination) {
        return new AddressInfo(
                flags,
                family,
                type,
                space,
                source,
                destination,
                null,
                null,
                NOTHING,
                NOTHING,
                RawAddresses.of(source),
                RawAddresses.of(destination));
    }

    private boolean isSet(int flag) {
        return (hints.flags() & flag) != 0;
    }

    /** Whether the hints mean datagrams; connections unless they say so. */
    private boolean wantsDatagrams() throws VerbsException {
        boolean datagramType = hints.queuePairType() == QueuePairType.UNRELIABLE_DATAGRAM;
        boolean datagramSpace = hints.portSpace() == PortSpace.UDP || hints.portSpace() == PortSpace.IPOIB;
        boolean connectedType = hints.queuePairType() != null && !datagramType;
        if ((datagramType && hints.portSpace() == PortSpace.TCP) || (connectedType && datagramSpace)) {
            throw failure(Code.EAI_SOCKTYPE);
        }
        return datagramType || datagramSpace;
    }

    private int port(String protocol) throws VerbsException {
        int port = Services.port(service, protocol);
        if (port < 0) {
            throw failure(Code.EAI_SERVICE);
        }
        return port;
    }

    private InetAddress address() throws VerbsException {
        if (hints.family() == AddressFamily.INFINIBAND && isSet(AddressInfoFlags.FAMILY)) {
            throw failure(Code.EAI_FAMILY);
        }
        return node == null ? ownAddress() : ofFamily(addressesOf(node));
    }

    private InetAddress ownAddress() {
        InetAddress ipv4 = LocalAddresses.wildcard4();
        InetAddress ipv6 = LocalAddresses.wildcard6();
        if (isSet(AddressInfoFlags.PASSIVE)) {
            return hints.family() == AddressFamily.INET6 ? ipv6 : ipv4;
        }
        InetAddress loopback6 = LocalAddresses.loopbackOf(ipv6);
        boolean wantsIpv6 = hints.family() != AddressFamily.INET
                && (hints.family() == AddressFamily.INET6
                        || LocalAddresses.all().contains(loopback6));
        return wantsIpv6 ? loopback6 : LocalAddresses.loopbackOf(ipv4);
    }

    private List<InetAddress> addressesOf(String host) throws VerbsException {
        try {
            return List.of(InetAddress.ofLiteral(host));
        } catch (IllegalArgumentException e) {
            // A name, then.
            if (isSet(AddressInfoFlags.NUMERIC_HOST)) {
                throw failure(Code.EAI_NONAME);
            }
        }
        try {
            return List.of(InetAddress.getAllByName(host));
        } catch (UnknownHostException e) {
            throw failure(Code.EAI_NONAME);
        }
    }

    private InetAddress ofFamily(List<InetAddress> found) throws VerbsException {
        List<InetAddress> suitable = new ArrayList<>(found);
        suitable.removeIf(address -> switch (hints.family()) {
            case INET -> !(address instanceof Inet4Address);
            case INET6 -> address instanceof Inet4Address;
            default -> false;
        });
        if (suitable.isEmpty()) {
            throw failure(Code.EAI_ADDRFAMILY);
        }
        return suitable.getFirst();
    }
}
