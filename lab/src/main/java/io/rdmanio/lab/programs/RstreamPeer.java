package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Speaks what rdma-core's rstream speaks over its sockets, as client or server, and takes rstream's options: for each
 * test a message of 16 bytes each way to line up, then rounds in which the client sends a number of transfers of one
 * size and the server sends as many back. Without a size, count or round number it runs a list of latency tests over one
 * connection and a list of bandwidth tests over a second one. The bytes count upwards through all tests of a process. Lists
 * of sizes, counts and ports, with commas, are a custom test each, with a peer each.
 */
public final class RstreamPeer {
    private static final String USAGE =
            "RstreamPeer [-s SERVER] [-b BIND] [-p PORT,...] [-S SIZE,...|all] [-C TRANSFERS,...]"
                    + " [-I ROUNDS,...] [-B BUFFER-SIZE] [-T v|verify] [-T a|async] [-T h|hold] [-T t|turns]";
    private static final int SYNC_BYTES = 16;

    private final RstreamOptions options;
    private RstreamCounter counter;

    private RstreamPeer(RstreamOptions options) {
        this.options = options;
    }

    public static void main(String[] args) throws IOException {
        new RstreamPeer(RstreamOptions.parse(args, USAGE)).run();
        System.out.println("DONE");
    }

    private void run() throws IOException {
        if (options.server() != null) {
            runAll(this::connect);
            return;
        }
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            if (options.bufferBytes() != 0) {
                listener.setOption(StandardSocketOptions.SO_RCVBUF, options.bufferBytes());
            }
            listener.bind(
                    new InetSocketAddress(
                            options.bind(), options.connections().getFirst().port()),
                    1);
            System.out.println("READY " + listener.socket().getLocalPort());
            runAll(_ -> listener.accept());
        }
    }

    /** Where the connection of a list of tests comes from. */
    private interface Connector {
        SocketChannel get(int port) throws IOException;
    }

    private SocketChannel connect(int port) throws IOException {
        SocketChannel channel = SocketChannel.open();
        if (options.bufferBytes() != 0) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, options.bufferBytes());
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.bufferBytes());
        }
        if (options.bind() != null) {
            channel.bind(new InetSocketAddress(options.bind(), 0));
        }
        channel.connect(new InetSocketAddress(options.server(), port));
        return channel;
    }

    private void runAll(Connector connector) throws IOException {
        System.out.printf(
                "%-10s%-10s%-8s%-8s%9s%12s%13s%n", "name", "bytes", "xfers", "iters", "time", "MiB/s", "usec");
        boolean hold = options.hold();
        for (var connection : options.connections()) {
            if (connection.anotherPeer()) {
                counter = new RstreamCounter(options.verify());
            }
            if (options.turns()) {
                Hold.awaitLine();
            }
            SocketChannel channel = connector.get(connection.port());
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (hold) {
                Hold.awaitLine();
                hold = false;
            }
            try (Transfers transfers = options.select() ? Transfers.selecting(channel) : Transfers.blocking(channel)) {
                for (RstreamOptions.Test test : connection.tests()) {
                    run(transfers, test);
                }
                if (options.server() == null) {
                    awaitEnd(transfers);
                }
            }
        }
    }

    /** An rstream that polls takes the end of a connection for a failure even if it has not read all yet. */
    private static void awaitEnd(Transfers transfers) throws IOException {
        if (transfers.readSome(ByteBuffer.allocate(1)) >= 0) {
            throw new ProtocolException("the client says more than was agreed");
        }
    }

    private void run(Transfers transfers, RstreamOptions.Test test) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Math.max(SYNC_BYTES, test.sizeBytes()));
        boolean client = options.server() != null;
        round(transfers, buffer, client, SYNC_BYTES, 1);
        long start = System.nanoTime();
        for (int i = 0; i < test.rounds(); i++) {
            round(transfers, buffer, client, test.sizeBytes(), test.transfers());
        }
        long nanos = System.nanoTime() - start;
        long messages = 2L * test.rounds() * test.transfers();
        System.out.printf(
                "%-10s%-10d%-8d%-8d%8.2fs%12.2f%13.2f%n",
                test.name(),
                test.sizeBytes(),
                test.transfers(),
                test.rounds(),
                nanos / 1e9,
                Percentiles.mebibytesPerSecond(messages * test.sizeBytes(), nanos),
                nanos / 1e3 / messages);
    }

    private void round(Transfers transfers, ByteBuffer buffer, boolean client, int size, int count) throws IOException {
        for (boolean sending : new boolean[] {client, !client}) {
            for (int i = 0; i < count; i++) {
                buffer.clear().limit(size);
                if (sending) {
                    counter.fill(buffer);
                    transfers.writeAll(buffer.flip());
                } else {
                    transfers.readAll(buffer);
                    counter.verify(buffer.flip());
                }
            }
        }
    }
}
