package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Speaks what rdma-core's rstream speaks over its sockets, as client or server, and takes rstream's options: for each
 * test a message of 16 bytes each way to line up, then rounds in which the client sends a number of transfers of one
 * size and the server sends as many back. Without a size, count or round number it runs a list of latency tests over one
 * connection and a list of bandwidth tests over a second one. The bytes count upwards through all tests of a process.
 */
public final class RstreamPeer {
    private static final String USAGE = "RstreamPeer [-s SERVER] [-b BIND] [-p PORT] [-S SIZE|all] [-C TRANSFERS]"
            + " [-I ROUNDS] [-T v|verify] [-T a|async] [-T h|hold]";
    private static final int SYNC_BYTES = 16;

    private final RstreamOptions options;
    private final RstreamCounter counter;

    private RstreamPeer(RstreamOptions options) {
        this.options = options;
        this.counter = new RstreamCounter(options.verify());
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
            listener.bind(new InetSocketAddress(options.bind(), options.port()), 1);
            System.out.println("READY " + listener.socket().getLocalPort());
            runAll(listener::accept);
        }
    }

    /** Where the connection of a list of tests comes from. */
    private interface Connector {
        SocketChannel get() throws IOException;
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open();
        if (options.bind() != null) {
            channel.bind(new InetSocketAddress(options.bind(), 0));
        }
        channel.connect(new InetSocketAddress(options.server(), options.port()));
        return channel;
    }

    private void runAll(Connector connector) throws IOException {
        System.out.printf(
                "%-10s%-10s%-8s%-8s%9s%12s%13s%n", "name", "bytes", "xfers", "iters", "time", "MiB/s", "usec");
        for (var connection : options.connections()) {
            SocketChannel channel = connector.get();
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (options.hold()) {
                Hold.awaitLine();
            }
            try (Transfers transfers = options.select() ? Transfers.selecting(channel) : Transfers.blocking(channel)) {
                for (RstreamOptions.Test test : connection) {
                    run(transfers, test);
                }
            }
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
