package io.rdmanio.lab.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Connects, writes a seeded pattern and calls System.exit(0) with the channel open, as a careless program does. The kernel
 * delivers what was written all the same, then the end of the stream.
 */
public final class WriteExit {
    private WriteExit() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 2, "WriteExit HOST PORT [--bytes=N] [--seed=N]", "bytes", "seed");
        int bytes = options.count("bytes", 1 << 20);
        ByteBuffer buffer = ByteBuffer.wrap(new Pattern(options.number("seed", 1)).bytes(bytes));
        SocketChannel channel = SocketChannel.open(options.address(0));
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        System.exit(0);
    }
}
