package io.rdmanio.lab.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Reads the one connection it makes or takes ({@code connect} or {@code listen}) to its end, verifies the seeded pattern
 * and, if told it, the length, and reports how the stream ended: {@code EOF}, or {@code EXCEPTION} and exit status 3.
 */
public final class Sink {
    private static final String USAGE = "Sink connect|listen HOST PORT [--bytes=N] [--seed=N] [--selector]";

    private Sink() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 3, USAGE, "bytes", "seed", "selector");
        Pattern pattern = new Pattern(options.number("seed", 1));
        SocketChannel channel = SingleConnection.open(options);
        long received = 0;
        try (Transfers transfers =
                options.has("selector") ? Transfers.selecting(channel) : Transfers.blocking(channel)) {
            ByteBuffer buffer = ByteBuffer.allocate(64 * 1024);
            for (int count = transfers.readSome(buffer); count >= 0; count = transfers.readSome(buffer)) {
                pattern.verify(buffer.flip(), received);
                buffer.clear();
                if (received < 1 << 20 && received + count >= 1 << 20) {
                    System.out.println("STREAMING");
                }
                received += count;
            }
            System.out.println("EOF bytes=" + received);
        } catch (WrongDataException e) {
            throw e;
        } catch (IOException e) {
            System.out.println("EXCEPTION bytes=" + received + " " + e);
            System.exit(3);
        }
        long bytes = options.number("bytes", received);
        if (received != bytes) {
            throw new WrongDataException("the stream ended after " + received + " of " + bytes + " bytes");
        }
    }
}
