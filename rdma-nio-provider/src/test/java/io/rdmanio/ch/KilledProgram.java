package io.rdmanio.ch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A program that connects to another and is connected to, answers on some connections, neither reads nor writes on the others, and
 * goes on so until it is killed.
 */
final class KilledProgram {
    /** What the survivor does on a connection; the first byte that the connecting side sends says it. */
    enum Use {
        READ('r'),
        READ_VIRTUALLY('v'),
        WRITE('w'),
        SELECT('s'),
        EXCHANGE('e');

        private final char letter;

        Use(char letter) {
            this.letter = letter;
        }

        private static Use of(byte letter) {
            return Arrays.stream(values())
                    .filter(use -> use.letter == letter)
                    .findAny()
                    .orElseThrow(() -> new IllegalArgumentException("no use has the letter " + letter));
        }
    }

    /** Bytes of a message of an exchange, and of its answer. */
    static final int MESSAGE_BYTES = 1000;

    private KilledProgram() {}

    /**
     * Runs it.
     *
     * @param arguments address and port to connect to
     */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress survivor = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try (SocketChannel control = SocketChannel.open(survivor);
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(survivor.getAddress(), 0));
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            ChannelContract.writeAll(
                    control, ByteBuffer.allocate(Integer.BYTES).putInt(port).flip());
            List<SocketChannel> channels = new ArrayList<>(); // lest they be collected
            for (Use use : Use.values()) {
                channels.add(SocketChannel.open(survivor));
                tellUse(channels.getLast(), use);
                serve(channels.getLast(), use);
            }
            Thread.ofPlatform().daemon().start(() -> acceptAll(listener, channels));
            int end = control.read(ByteBuffer.allocate(1));
            throw new IllegalStateException("not killed, but left alone: " + end);
        }
    }

    private static void acceptAll(ServerSocketChannel listener, List<SocketChannel> channels) {
        try {
            while (true) {
                channels.add(listener.accept());
                serve(channels.getLast(), useOf(channels.getLast()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Says what a connection is for. */
    static void tellUse(SocketChannel channel, Use use) throws IOException {
        ChannelContract.writeAll(channel, ByteBuffer.wrap(new byte[] {(byte) use.letter}));
    }

    /** What a connection is for that the other side has made. */
    static Use useOf(SocketChannel channel) throws IOException {
        return Use.of(ChannelContract.readAll(channel, 1).get());
    }

    private static void serve(SocketChannel channel, Use use) {
        if (use == Use.EXCHANGE) {
            Thread.ofPlatform().daemon().start(() -> answer(channel));
        }
    }

    private static void answer(SocketChannel channel) {
        try {
            ByteBuffer message = ChannelContract.readAll(channel, MESSAGE_BYTES);
            while (message.hasRemaining()) {
                ChannelContract.writeAll(channel, message);
                message = ChannelContract.readAll(channel, MESSAGE_BYTES);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
