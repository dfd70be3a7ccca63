package io.rdmanio.lab.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Connects, writes a seeded pattern, closes the channel and returns from main, as a short program does. Nothing in it waits
 * for the peer: whether the bytes still arrive is the transport's business.
 */
public final class WriteCloseReturn {
    private WriteCloseReturn() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 2, "WriteCloseReturn HOST PORT [--bytes=N] [--seed=N]", "bytes", "seed");
        int bytes = options.count("bytes", 1 << 20);
        ByteBuffer buffer = ByteBuffer.wrap(new Pattern(options.number("seed", 1)).bytes(bytes));
        SocketChannel channel = SocketChannel.open(options.address(0));
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        channel.close();
    }
}
