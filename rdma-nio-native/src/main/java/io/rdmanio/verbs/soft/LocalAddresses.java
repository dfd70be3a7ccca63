package io.rdmanio.verbs.soft;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * The IP addresses of this host, the only ones that the device reaches, in the form that the connection manager compares
 * and writes into names: IPv4 where an address is IPv4-mapped, and a scope only where it tells addresses apart.
 * Stateless; thread-safe. Methods that ask the system make system calls.
 */
final class LocalAddresses {
    private static final int MAPPED_PREFIX_BYTES = 12;
    private static final byte MAPPED_MARK = (byte) 0xFF;
    private static final byte[] LOOPBACK_4 = {127, 0, 0, 1};
    private static final byte[] LOOPBACK_6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    private LocalAddresses() {}

    /** The address in the form that this class and its callers compare. */
    static InetAddress normalized(InetAddress address) {
        if (address instanceof Inet4Address) {
            return of(address.getAddress());
        }
        byte[] bytes = address.getAddress();
        if (isMapped(bytes)) {
            return of(Arrays.copyOfRange(bytes, MAPPED_PREFIX_BYTES, bytes.length));
        }
        return address.isLinkLocalAddress() ? scoped(bytes, scopeId(address)) : of(bytes);
    }

    private static boolean isMapped(byte[] bytes) {
        for (int i = 0; i < MAPPED_PREFIX_BYTES; i++) {
            if (bytes[i] != (i < MAPPED_PREFIX_BYTES - 2 ? 0 : MAPPED_MARK)) {
                return false;
            }
        }
        return true;
    }

    private static InetAddress of(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is right", e);
        }
    }

    private static InetAddress scoped(byte[] bytes, int scopeId) {
        try {
            return scopeId == 0 ? of(bytes) : Inet6Address.getByAddress(null, bytes, scopeId);
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is right", e);
        }
    }

    /** The scope of a normalized address; 0 when it has none. */
    static int scopeId(InetAddress address) {
        return address instanceof Inet6Address inet6 ? inet6.getScopeId() : 0;
    }

    /** Whether two normalized addresses are the same; {@link InetAddress#equals} leaves the scope out. */
    static boolean areSame(InetAddress first, InetAddress second) {
        return first.equals(second) && scopeId(first) == scopeId(second);
    }

    /** Whether it is a link-local address that doesn't tell which link. */
    static boolean lacksScope(InetAddress address) {
        return address instanceof Inet6Address && address.isLinkLocalAddress() && scopeId(address) == 0;
    }

    /** Whether a normalized address, no wildcard, is one of this host. */
    static boolean isLocal(InetAddress address) {
        // All of 127/8 is local, though an interface has only the first address of it.
        return address.isLoopbackAddress() || all().stream().anyMatch(local -> areSame(local, address));
    }

    /**
     * The addresses of the interfaces, normalized.
     *
     * @return the addresses; none when the system can't be asked
     */
    static List<InetAddress> all() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .map(LocalAddresses::normalized)
                    .toList();
        } catch (SocketException e) {
            return List.of();
        }
    }

    /** The wildcard of the family of an address. */
    static InetAddress wildcardOf(InetAddress address) {
        return of(new byte[address.getAddress().length]);
    }

    /** The wildcard of IPv4. */
    static InetAddress wildcard4() {
        return of(new byte[LOOPBACK_4.length]);
    }

    /** The wildcard of IPv6. */
    static InetAddress wildcard6() {
        return of(new byte[LOOPBACK_6.length]);
    }

    /** Where a wildcard as a destination leads: to this host. */
    static InetAddress loopbackOf(InetAddress wildcard) {
        return of(wildcard instanceof Inet4Address ? LOOPBACK_4 : LOOPBACK_6);
    }

    /** The source that Linux's routes give a connection to a local address. */
    static InetAddress sourceFor(InetAddress destination) {
        return destination.isLoopbackAddress() ? loopbackOf(destination) : destination;
    }

    /** The address as it stands in a name: the same text for the same address, without a slash. */
    static String text(InetAddress address) {
        String text = address.getHostAddress();
        int percent = text.indexOf('%');
        // The scope as a number, since an interface may be renamed.
        return percent < 0 ? text : text.substring(0, percent + 1) + scopeId(address);
    }

    static boolean isIpv4(InetAddress address) {
        return address instanceof Inet4Address;
    }
}
