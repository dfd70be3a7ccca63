package io.rdmanio.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;

/** An entry of a port's GID table ({@code struct ibv_gid_entry}, ibv_query_gid_ex(3)). Immutable. */
public final class GidEntry {
    private static final int GID_BYTES = 16;
    private static final int MAPPED_PREFIX_BYTES = 10;

    private final byte[] gid;
    private final int index;
    private final int portNumber;
    private final GidType type;
    private final int interfaceIndex;

    /**
     * Describes an entry.
     *
     * @param gid its 16 bytes
     * @param index its place in the table of the port
     * @param portNumber the port, from 1
     * @param type what it means on the wire
     * @param interfaceIndex index of the network interface; 0 when there is none
     * @throws IllegalArgumentException when there are not 16 bytes
     */
    public GidEntry(byte[] gid, int index, int portNumber, GidType type, int interfaceIndex) {
        if (gid.length != GID_BYTES) {
            throw new IllegalArgumentException("a GID has " + GID_BYTES + " bytes, not " + gid.length);
        }
        this.gid = gid.clone();
        this.index = index;
        this.portNumber = portNumber;
        this.type = type;
        this.interfaceIndex = interfaceIndex;
    }

    /** The GID that an IP address has: an IPv6 one its own bytes, an IPv4 one those of its IPv4-mapped form. */
    static byte[] gidOf(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (!(address instanceof Inet4Address)) {
            return bytes;
        }
        byte[] mapped = new byte[GID_BYTES];
        Arrays.fill(mapped, MAPPED_PREFIX_BYTES, GID_BYTES - bytes.length, (byte) 0xFF);
        System.arraycopy(bytes, 0, mapped, GID_BYTES - bytes.length, bytes.length);
        return mapped;
    }

    /**
     * The GID.
     *
     * @return a copy of its 16 bytes
     */
    public byte[] gid() {
        return gid.clone();
    }

    /**
     * The GID as an IP address, which it is in RoCE.
     *
     * @return an IPv4 address for an IPv4-mapped one, else an IPv6 address without scope
     */
    public InetAddress address() {
        try {
            return InetAddress.getByAddress(gid);
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // The length is right.
        }
    }

    /**
     * Its place, which address handles and queue pairs name as the index of the source GID.
     *
     * @return the index in the table of the port
     */
    public int index() {
        return index;
    }

    /**
     * The port.
     *
     * @return its number, from 1
     */
    public int portNumber() {
        return portNumber;
    }

    /**
     * What it means on the wire.
     *
     * @return the type, UNKNOWN when this version does not know it
     */
    public GidType type() {
        return type;
    }

    /**
     * The network interface.
     *
     * @return its index (if_nametoindex(3)); 0 when there is none
     */
    public int interfaceIndex() {
        return interfaceIndex;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof GidEntry entry
                && Arrays.equals(gid, entry.gid)
                && index == entry.index
                && portNumber == entry.portNumber
                && type == entry.type
                && interfaceIndex == entry.interfaceIndex;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Arrays.hashCode(gid) + index) + portNumber;
    }

    /**
     * Everything about it.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        return "GidEntry[" + HexFormat.of().formatHex(gid) + ", port " + portNumber + ", index " + index + ", " + type
                + "]";
    }
}
