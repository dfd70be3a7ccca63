package io.rdmanio.ch;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A program that connects, sends one byte and says nothing more. */
final class SilentClient {
    private SilentClient() {}

    /**
     * Runs it.
     *
     * @param arguments address and port
     */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress target = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try (SocketChannel channel = SocketChannel.open(target)) {
            channel.write(ByteBuffer.wrap(new byte[] {5}));
            channel.read(ByteBuffer.allocate(1));
        }
    }
}
