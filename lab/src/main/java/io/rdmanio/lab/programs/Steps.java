package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Accepts connections one after the other and takes the steps that it is told on each, in blocking mode; the steps of one
 * connection and of the next have a {@code next} between them. Sends what is in a file, from its beginning on for every
 * connection, and verifies that what comes is the same.
 *
 * <p>Steps are {@code send=BYTES}, {@code receive=BYTES}, {@code shutdown}, {@code end} (of what comes), {@code reset}
 * (in place of an end), {@code pause=MILLISECONDS}, in which nothing looks at the channel, and {@code close}, which tells
 * how long it took. Prints each when it is taken.
 */
public final class Steps {
    private static final String USAGE = "Steps HOST PORT DATA-FILE STEP...";

    private final SocketChannel channel;
    private final ByteBuffer toSend;
    private final ByteBuffer toReceive;

    private Steps(SocketChannel channel, byte[] data) {
        this.channel = channel;
        this.toSend = ByteBuffer.wrap(data);
        this.toReceive = ByteBuffer.wrap(data);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length < 4) {
            throw new IllegalArgumentException("usage: " + USAGE);
        }
        byte[] data = Files.readAllBytes(Path.of(args[2]));
        String[] steps = Arrays.copyOfRange(args, 3, args.length);
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(new InetSocketAddress(args[0], Integer.parseInt(args[1])));
            System.out.println("READY " + listener.socket().getLocalPort());
            int next = 0;
            while (next < steps.length) {
                try (SocketChannel channel = listener.accept()) {
                    Steps taken = new Steps(channel, data);
                    for (; next < steps.length && !steps[next].equals("next"); next++) {
                        taken.take(steps[next]);
                    }
                }
                next++;
            }
        }
        System.out.println("DONE");
    }

    private void take(String step) throws IOException, InterruptedException {
        String[] parts = step.split("=", 2);
        int value = parts.length == 2 ? Integer.parseInt(parts[1]) : 0;
        long start = System.nanoTime();
        switch (parts[0]) {
            case "send" -> send(value);
            case "receive" -> receive(value);
            case "shutdown" -> channel.shutdownOutput();
            case "end" -> requireEnd();
            case "reset" -> requireReset();
            case "pause" -> Thread.sleep(value);
            case "close" -> channel.close();
            default -> throw new IllegalArgumentException(step + "; usage: " + USAGE);
        }
        System.out.println("STEP " + step + " millis=" + (System.nanoTime() - start) / 1_000_000);
    }

    private void send(int count) throws IOException {
        toSend.limit(toSend.position() + count);
        while (toSend.hasRemaining()) {
            channel.write(toSend);
        }
        toSend.limit(toSend.capacity());
    }

    private void receive(int count) throws IOException {
        ByteBuffer received = ByteBuffer.allocate(Math.min(count, 1 << 16));
        for (int left = count; left > 0; left -= received.limit()) {
            received.clear().limit(Math.min(left, received.capacity()));
            if (channel.read(received) < 0) {
                throw new WrongDataException("the stream ended with " + left + " of " + count + " bytes outstanding");
            }
            received.flip();
            ByteBuffer expected = toReceive.slice(toReceive.position(), received.limit());
            int wrong = received.mismatch(expected);
            if (wrong >= 0) {
                throw new WrongDataException(toReceive.position() + wrong, expected.get(wrong), received.get(wrong));
            }
            toReceive.position(toReceive.position() + received.limit());
        }
    }

    private void requireEnd() throws IOException {
        if (channel.read(ByteBuffer.allocate(1)) >= 0) {
            throw new WrongDataException("more came than was agreed");
        }
    }

    /** Reads what comes, and requires that it has no end but a failure. */
    private void requireReset() throws IOException {
        ByteBuffer rest = ByteBuffer.allocate(1 << 16);
        int count;
        do {
            try {
                count = channel.read(rest.clear());
            } catch (IOException e) {
                System.out.println("EXCEPTION " + e);
                return;
            }
        } while (count >= 0);
        throw new WrongDataException("the stream ended as if the peer had said so");
    }
}
