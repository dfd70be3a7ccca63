package io.rdmanio.verbs.soft;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes the fields of one control message. Not thread-safe; it belongs to one encoding. */
final class MessageWriter {
    /** The length that an address is written with, whatever its family. */
    static final int ADDRESS_BYTES = 16;

    private final ByteBuffer datagram;
    private final int[] descriptors;
    private int descriptorCount;

    MessageWriter(ByteBuffer datagram, int[] descriptors) {
        this.datagram = datagram.order(ByteOrder.LITTLE_ENDIAN);
        this.descriptors = descriptors;
    }

    MessageWriter kind(int kind) {
        return int32(kind);
    }

    MessageWriter int32(int value) {
        datagram.putInt(value);
        return this;
    }

    MessageWriter int64(long value) {
        datagram.putLong(value);
        return this;
    }

    MessageWriter flag(boolean value) {
        datagram.put((byte) (value ? 1 : 0));
        return this;
    }

    /** A descriptor leaves nothing among the bytes: the kernel carries it. */
    MessageWriter descriptor(int descriptor) {
        descriptors[descriptorCount] = descriptor;
        descriptorCount++;
        return this;
    }

    /** The length of the address, the address filled up with zeros, its scope, the port. */
    MessageWriter address(InetSocketAddress socketAddress) {
        InetAddress address = socketAddress.getAddress();
        byte[] bytes = address.getAddress();
        datagram.put((byte) bytes.length);
        datagram.put(bytes).put(new byte[ADDRESS_BYTES - bytes.length]);
        datagram.putInt(address instanceof Inet6Address scoped ? scoped.getScopeId() : 0);
        datagram.putShort((short) socketAddress.getPort());
        return this;
    }

    MessageWriter parameters(ControlMessage.Parameters parameters) {
        datagram.put((byte) parameters.responderResources());
        datagram.put((byte) parameters.initiatorDepth());
        flag(parameters.flowControl());
        datagram.put((byte) parameters.retryCount());
        datagram.put((byte) parameters.rnrRetryCount());
        return flag(parameters.sharedReceiveQueue());
    }

    /** The length, then the bytes. */
    MessageWriter bytes(byte[] bytes) {
        datagram.putShort((short) bytes.length);
        datagram.put(bytes);
        return this;
    }

    int descriptorCount() {
        return descriptorCount;
    }
}
