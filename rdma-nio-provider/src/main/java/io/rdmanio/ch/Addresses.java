package io.rdmanio.ch;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/** Checks of addresses as all channels do them. Stateless; thread-safe. */
final class Addresses {
    private Addresses() {}

    /**
     * @throws UnsupportedAddressTypeException if it is no internet address, or of a family the channel was not opened for
     * @throws UnresolvedAddressException if it is not resolved
     */
    static InetSocketAddress check(SocketAddress address, ProtocolFamily family) {
        Objects.requireNonNull(address, "address");
        if (!(address instanceof InetSocketAddress inet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (family == StandardProtocolFamily.INET && !(inet.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return inet;
    }

    /** Where to connect when this address is asked for: the loopback address in place of a wildcard. */
    static InetSocketAddress checkRemote(SocketAddress address, ProtocolFamily family) throws IOException {
        InetSocketAddress inet = check(address, family);
        if (!inet.getAddress().isAnyLocalAddress()) {
            return inet;
        }
        byte[] loopback = inet.getAddress() instanceof Inet6Address
                ? new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
                : new byte[] {127, 0, 0, 1};
        return new InetSocketAddress(InetAddress.getByAddress(loopback), inet.getPort());
    }

    /** Where to bind when this address is asked for: null is any address of the family and any port. */
    static InetSocketAddress checkLocal(SocketAddress address, ProtocolFamily family) throws IOException {
        InetSocketAddress inet = address == null ? new InetSocketAddress(0) : check(address, family);
        return inet.getAddress().isAnyLocalAddress() ? wildcard(family, inet.getPort()) : inet;
    }

    private static InetSocketAddress wildcard(ProtocolFamily family, int port) throws IOException {
        byte[] any = new byte[family == StandardProtocolFamily.INET ? 4 : 16];
        return new InetSocketAddress(InetAddress.getByAddress(any), port);
    }
}
