package io.rdmanio.verbs.ffm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * Socket addresses between Java and C. The connection manager does not take IPv4-mapped addresses, so they are
 * unmapped.
 */
final class SocketAddresses {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;

    private static final int MAPPED_PREFIX_BYTES = 12;

    private SocketAddresses() {}

    /** Writes an address that is resolved into the memory of a sockaddr_in or sockaddr_in6. */
    static void write(InetSocketAddress from, MemorySegment to) {
        byte[] bytes = from.getAddress().getAddress();
        if (isMapped(bytes)) {
            bytes = Arrays.copyOfRange(bytes, MAPPED_PREFIX_BYTES, bytes.length);
        }
        to.asSlice(0, SockaddrIn6.SIZE).fill((byte) 0);
        if (bytes.length == SockaddrIn.SIN_ADDR.size()) {
            SockaddrIn.SIN_FAMILY.set(to, AF_INET);
            SockaddrIn.SIN_PORT.set(to, from.getPort());
            copy(bytes, SockaddrIn.SIN_ADDR.of(to));
        } else {
            SockaddrIn6.SIN6_FAMILY.set(to, AF_INET6);
            SockaddrIn6.SIN6_PORT.set(to, from.getPort());
            copy(bytes, SockaddrIn6.SIN6_ADDR.of(to));
            SockaddrIn6.SIN6_SCOPE_ID.set(to, ((Inet6Address) from.getAddress()).getScopeId());
        }
    }

    /** How large the address is that {@link #write} wrote. */
    static long sizeBytes(MemorySegment address) {
        return SockaddrIn.SIN_FAMILY.get(address) == AF_INET ? SockaddrIn.SIZE : SockaddrIn6.SIZE;
    }

    /** Reads a sockaddr; returns null when it is not set or of another family. */
    static InetSocketAddress read(MemorySegment from) {
        try {
            return switch (SockaddrIn.SIN_FAMILY.get(from)) {
                case AF_INET ->
                    new InetSocketAddress(
                            Inet4Address.getByAddress(
                                    SockaddrIn.SIN_ADDR.of(from).toArray(ValueLayout.JAVA_BYTE)),
                            SockaddrIn.SIN_PORT.get(from));
                case AF_INET6 ->
                    new InetSocketAddress(
                            readInet6(
                                    SockaddrIn6.SIN6_ADDR.of(from).toArray(ValueLayout.JAVA_BYTE),
                                    SockaddrIn6.SIN6_SCOPE_ID.get(from)),
                            SockaddrIn6.SIN6_PORT.get(from));
                default -> null;
            };
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is right", e);
        }
    }

    private static InetAddress readInet6(byte[] bytes, int scope) throws UnknownHostException {
        // Without a scope this makes an IPv4-mapped address an Inet4Address, as Java does everywhere.
        return scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
    }

    private static boolean isMapped(byte[] bytes) {
        if (bytes.length != SockaddrIn6.SIN6_ADDR.size()) {
            return false;
        }
        for (int i = 0; i < MAPPED_PREFIX_BYTES; i++) {
            if (bytes[i] != (i < MAPPED_PREFIX_BYTES - 2 ? 0 : (byte) 0xFF)) {
                return false;
            }
        }
        return true;
    }

    private static void copy(byte[] bytes, MemorySegment to) {
        MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }
}
