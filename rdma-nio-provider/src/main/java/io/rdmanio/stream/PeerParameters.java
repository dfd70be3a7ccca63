package io.rdmanio.stream;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What each side tells the other in the private data of the connection request and its reply: 40 bytes, big-endian.
 *
 * <p>The communication manager reports the transport's field size, not what the peer wrote, so only the first 40 bytes
 * are read and everything behind them is ignored.
 *
 * @param bigEndian whether the sender's host is big-endian, the order it wants entries of its table written in
 * @param credits messages the receiver of this may send before it hears of more
 * @param tableAddress address of the sender's table of buffer halves
 * @param tableKey remote key of that table
 * @param tableEntries entries in that table; consumers wrap at two whatever this says
 * @param half the first half of the sender's receive buffer
 */
record PeerParameters(
        boolean bigEndian, int credits, long tableAddress, int tableKey, int tableEntries, BufferHalf half) {
    /** Bytes of the private data that mean something. */
    static final int LENGTH_BYTES = 40;

    /** The only version there is. */
    static final int VERSION = 1;

    /** Entries that both sides wrap at. */
    static final int TABLE_ENTRIES = 2;

    private static final int FLAG_BIG_ENDIAN = 1;

    /** Where a half of a receive buffer lies: address, remote key and bytes left in it. */
    record BufferHalf(long address, int key, int lengthBytes) {}

    byte[] encode() {
        ByteBuffer data = ByteBuffer.allocate(LENGTH_BYTES);
        data.put((byte) VERSION);
        data.put((byte) (bigEndian ? FLAG_BIG_ENDIAN : 0));
        data.putShort((short) credits);
        data.putInt(0); // three reserved bytes, and no I/O mappings
        data.putLong(tableAddress).putInt(tableKey).putInt(tableEntries);
        data.putLong(half.address).putInt(half.key).putInt(half.lengthBytes);
        return data.array();
    }

    /**
     * Reads and checks a peer's private data.
     *
     * @throws ProtocolException if it is too short, of another version, or impossible
     */
    static PeerParameters decode(byte[] privateData) throws ProtocolException {
        if (privateData.length < LENGTH_BYTES) {
            throw new ProtocolException(
                    "The peer's private data has " + privateData.length + " bytes, an rsocket sends " + LENGTH_BYTES);
        }
        ByteBuffer data = ByteBuffer.wrap(privateData, 0, LENGTH_BYTES).order(ByteOrder.BIG_ENDIAN);
        int version = Byte.toUnsignedInt(data.get());
        if (version != VERSION) {
            throw new ProtocolException(
                    "The peer speaks version " + version + " of the rsocket protocol, not " + VERSION);
        }
        boolean bigEndian = (data.get() & FLAG_BIG_ENDIAN) != 0;
        int credits = Short.toUnsignedInt(data.getShort());
        data.getInt();
        PeerParameters peer = new PeerParameters(
                bigEndian,
                credits,
                data.getLong(),
                data.getInt(),
                data.getInt(),
                new BufferHalf(data.getLong(), data.getInt(), data.getInt()));
        if (peer.tableEntries < TABLE_ENTRIES) {
            throw new ProtocolException("The peer's table has " + peer.tableEntries + " entries, the protocol needs 2");
        }
        if (peer.half.lengthBytes <= 0 || peer.half.lengthBytes > StreamMessage.MAX_VALUE) {
            throw new ProtocolException("The peer offers a receive buffer half of " + peer.half.lengthBytes + " bytes");
        }
        return peer;
    }
}
