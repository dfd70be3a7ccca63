package io.rdmanio.lab.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Writes a seeded pattern to the one connection it makes or takes ({@code connect} or {@code listen}), without end
 * unless told how much, and reports how that ended: {@code DONE}, or {@code EXCEPTION} and exit status 3.
 */
public final class Source {
    private static final String USAGE = "Source connect|listen HOST PORT [--bytes=N] [--seed=N] [--selector]";

    private Source() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 3, USAGE, "bytes", "seed", "selector");
        long bytes = options.number("bytes", Long.MAX_VALUE);
        Pattern pattern = new Pattern(options.number("seed", 1));
        SocketChannel channel = SingleConnection.open(options);
        long sent = 0;
        try (Transfers transfers =
                options.has("selector") ? Transfers.selecting(channel) : Transfers.blocking(channel)) {
            ByteBuffer buffer = ByteBuffer.allocate(32 * 1024);
            while (sent < bytes) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), bytes - sent));
                pattern.fill(buffer, sent);
                transfers.writeAll(buffer.flip());
                if (sent < 1 << 20 && sent + buffer.limit() >= 1 << 20) {
                    System.out.println("STREAMING");
                }
                sent += buffer.limit();
            }
            System.out.println("DONE bytes=" + sent);
        } catch (IOException e) {
            System.out.println("EXCEPTION bytes=" + sent + " " + e);
            System.exit(3);
        }
    }
}
