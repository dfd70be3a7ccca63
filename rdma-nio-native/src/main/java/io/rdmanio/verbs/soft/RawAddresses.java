package io.rdmanio.verbs.soft;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Socket addresses as in C ({@code struct sockaddr_in}, {@code struct sockaddr_in6}). Stateless; thread-safe. */
final class RawAddresses {
    private static final int IPV4_BYTES = 16;
    private static final int IPV6_BYTES = 28;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final byte[] NOTHING = {};

    private RawAddresses() {}

    /**
     * The bytes of an address.
     *
     * @param address the address, an IPv4-mapped one is taken as IPv4; or null
     * @return the bytes; none for null
     */
    static byte[] of(InetSocketAddress address) {
        if (address == null) {
            return NOTHING;
        }
        InetAddress host = LocalAddresses.normalized(address.getAddress());
        boolean ipv4 = LocalAddresses.isIpv4(host);
        ByteBuffer raw = ByteBuffer.allocate(ipv4 ? IPV4_BYTES : IPV6_BYTES).order(ByteOrder.nativeOrder());
        raw.putShort(ipv4 ? AF_INET : AF_INET6);
        raw.order(ByteOrder.BIG_ENDIAN).putShort((short) address.getPort());
        if (!ipv4) {
            // The flow.
            raw.putInt(0);
        }
        raw.put(host.getAddress());
        if (!ipv4) {
            raw.order(ByteOrder.nativeOrder()).putInt(LocalAddresses.scopeId(host));
        }
        return raw.array();
    }
}
