package io.rdmanio.verbs.soft;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads the fields of one control message of a peer that is not trusted: whatever the bytes are, the result is a value
 * of the field's type or a {@link ProtocolException}. Not thread-safe; it belongs to one decoding.
 */
final class MessageReader {
    private static final int MAX_QUEUE_PAIR = 0xFF_FFFF;
    private static final int IPV4_BYTES = 4;

    private final ByteBuffer datagram;
    private final int[] descriptors;
    private final int descriptorCount;
    private int descriptorsTaken;

    MessageReader(ByteBuffer datagram, int[] descriptors, int descriptorCount) {
        this.datagram = datagram.order(ByteOrder.LITTLE_ENDIAN);
        this.descriptors = descriptors;
        this.descriptorCount = descriptorCount;
    }

    private void require(int bytes) throws ProtocolException {
        if (datagram.remaining() < bytes) {
            throw new ProtocolException(
                    "a message that ends " + (bytes - datagram.remaining()) + " bytes before its fields do");
        }
    }

    int int32() throws ProtocolException {
        require(Integer.BYTES);
        return datagram.getInt();
    }

    long int64() throws ProtocolException {
        require(Long.BYTES);
        return datagram.getLong();
    }

    private int unsignedByte() throws ProtocolException {
        require(1);
        return Byte.toUnsignedInt(datagram.get());
    }

    private int unsignedShort() throws ProtocolException {
        require(Short.BYTES);
        return Short.toUnsignedInt(datagram.getShort());
    }

    boolean flag() throws ProtocolException {
        int value = unsignedByte();
        if (value > 1) {
            throw new ProtocolException("a flag of " + value);
        }
        return value == 1;
    }

    /** A number that is not negative. */
    int index() throws ProtocolException {
        int value = int32();
        if (value < 0) {
            throw new ProtocolException("an index of " + value);
        }
        return value;
    }

    /** A size or a place in a file, not negative. */
    long size() throws ProtocolException {
        long value = int64();
        if (value < 0) {
            throw new ProtocolException("a size of " + value);
        }
        return value;
    }

    /** A number of a queue pair, 24 bits; 0 is that of none. */
    int queuePair() throws ProtocolException {
        int value = int32();
        if (value < 0 || value > MAX_QUEUE_PAIR) {
            throw new ProtocolException("a queue pair of number " + value);
        }
        return value;
    }

    int descriptor() throws ProtocolException {
        if (descriptorsTaken == descriptorCount) {
            throw new ProtocolException("a message that lacks a descriptor");
        }
        return descriptors[descriptorsTaken++];
    }

    InetSocketAddress address() throws ProtocolException {
        int length = unsignedByte();
        if (length != IPV4_BYTES && length != MessageWriter.ADDRESS_BYTES) {
            throw new ProtocolException("an address of " + length + " bytes");
        }
        byte[] bytes = new byte[MessageWriter.ADDRESS_BYTES];
        require(bytes.length);
        datagram.get(bytes);
        int scope = int32();
        int port = unsignedShort();
        try {
            InetAddress address = InetAddress.getByAddress(Arrays.copyOf(bytes, length));
            if (scope != 0 && address instanceof Inet6Address) {
                address = Inet6Address.getByAddress(null, bytes, scope);
            }
            return new InetSocketAddress(address, port);
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address was checked", e);
        }
    }

    ControlMessage.Parameters parameters() throws ProtocolException {
        return new ControlMessage.Parameters(
                unsignedByte(), unsignedByte(), flag(), unsignedByte(), unsignedByte(), flag());
    }

    byte[] bytes(int most) throws ProtocolException {
        int length = unsignedShort();
        if (length > most) {
            throw new ProtocolException("private data of " + length + " bytes, of " + most + " at most");
        }
        require(length);
        byte[] bytes = new byte[length];
        datagram.get(bytes);
        return bytes;
    }

    /** Checks that nothing is left over. */
    void end() throws ProtocolException {
        if (datagram.hasRemaining()) {
            throw new ProtocolException("a message with " + datagram.remaining() + " bytes after its fields");
        }
        if (descriptorsTaken < descriptorCount) {
            throw new ProtocolException(
                    "a message with " + (descriptorCount - descriptorsTaken) + " descriptors too many");
        }
    }
}
