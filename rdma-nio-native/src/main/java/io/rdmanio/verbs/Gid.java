package io.rdmanio.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A global identifier ({@code union ibv_gid}): the address of a port, or of a multicast group. Immutable.
 *
 * @param subnetPrefix the first eight bytes, the first of them highest
 * @param interfaceId the last eight bytes
 */
public record Gid(long subnetPrefix, long interfaceId) {
    /** The size of an identifier. */
    public static final int BYTES = 16;

    /** All zero: an entry of a table that is not in use. */
    public static final Gid ZERO = new Gid(0, 0);

    private static final int MULTICAST_BYTE = 0xFF;
    private static final long MAPPED_MARK = 0xFFFF_0000_0000L;
    private static final int IPV4_BYTES = 4;

    /**
     * From its bytes.
     *
     * @param bytes the 16 bytes as they travel; copied
     * @return the identifier
     * @throws IllegalArgumentException when there are not 16 of them
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a GID has " + BYTES + " bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    /**
     * The identifier by which RoCE knows an address: that of IPv6 itself, or the IPv4-mapped one.
     *
     * @param address the address
     * @return the identifier
     */
    public static Gid of(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == IPV4_BYTES) {
            return new Gid(
                    0,
                    MAPPED_MARK | Integer.toUnsignedLong(ByteBuffer.wrap(bytes).getInt()));
        }
        return of(bytes);
    }

    /**
     * Its bytes.
     *
     * @return a new array of 16
     */
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES)
                .putLong(subnetPrefix)
                .putLong(interfaceId)
                .array();
    }

    /**
     * The address that it is made of, under RoCE.
     *
     * @return an IPv4 address when it is an IPv4-mapped one, the same 16 bytes as IPv6 address otherwise
     */
    public InetAddress toAddress() {
        try {
            return InetAddress.getByAddress(bytes());
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is right", e);
        }
    }

    /**
     * Tells whether it names a multicast group.
     *
     * @return true when it begins with the byte 0xFF
     */
    public boolean isMulticast() {
        return subnetPrefix >>> (Long.SIZE - Byte.SIZE) == MULTICAST_BYTE;
    }

    /**
     * Tells whether all of it is zero.
     *
     * @return true for {@link #ZERO}
     */
    public boolean isZero() {
        return subnetPrefix == 0 && interfaceId == 0;
    }

    /**
     * As sysfs and ibv_devinfo write it.
     *
     * @return eight groups of four hexadecimal digits
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (long half : new long[] {subnetPrefix, interfaceId}) {
            for (int shift = Long.SIZE - Short.SIZE; shift >= 0; shift -= Short.SIZE) {
                text.append(text.isEmpty() ? "" : ":").append(String.format("%04x", (half >>> shift) & 0xFFFF));
            }
        }
        return text.toString();
    }
}
