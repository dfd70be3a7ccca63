package io.rdmanio.lab.streams;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** The side that accepts, answers, and receives streams. For one thread. */
final class ServerEnd extends StreamEnd {
    private static final int BACKLOG = 1_024;
    private static final int RECEIVE_BYTES = 64 * 1024;

    private final ServerSocketChannel listener;
    private int toAccept;
    private boolean acceptWaiting;

    ServerEnd(SocketAddress address) throws IOException {
        listener = ServerSocketChannel.open();
        listener.bind(address, BACKLOG);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT, (Task) this::accept);
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    @Override
    Work opening(int count, boolean waiting) {
        toAccept = count;
        acceptWaiting = waiting;
        return () -> select(count);
    }

    private void accept() throws IOException {
        for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
            if (--toAccept < 0) {
                channel.close();
                throw new IOException("one connection more than were asked for");
            }
            add(channel, acceptWaiting);
            finished();
        }
    }

    /** Waits for the clients to do so first. */
    @Override
    void closeConnections() throws IOException {
        int registered = 0;
        for (SocketChannel channel : channels) {
            SelectionKey key = keyOf(channel);
            if (key == null) {
                closeAtEnd(channel);
            } else {
                key.attach((Task) () -> {
                    closeAtEnd(channel);
                    finished();
                });
                registered++;
            }
        }
        select(registered);
        channels.clear();
        selector.selectNow();
    }

    private static void closeAtEnd(SocketChannel channel) throws IOException {
        try (channel) {
            int count = channel.read(ByteBuffer.allocate(1));
            if (count >= 0) {
                throw new IOException(count + " bytes came instead of the end of a connection");
            }
        }
    }

    @Override
    Work exchanging(int bytes, int roundTrips) {
        for (SocketChannel channel : channels) {
            SelectionKey key = keyOf(channel);
            Exchange exchange = new Exchange(this, channel, key, ByteBuffer.allocateDirect(bytes), roundTrips, null);
            if (key == null) {
                return exchange::answer;
            }
            key.attach(exchange);
        }
        return () -> select(channels.size());
    }

    @Override
    Work streaming(int bytes, int messages) {
        long total = Math.multiplyExact((long) bytes, messages);
        for (SocketChannel channel : channels) {
            SelectionKey key = keyOf(channel);
            Receiving receiving = new Receiving(this, channel, ByteBuffer.allocateDirect(RECEIVE_BYTES), total);
            if (key == null) {
                return receiving::receiveAll;
            }
            key.attach(receiving);
        }
        return () -> select(channels.size());
    }

    @Override
    public void close() throws IOException {
        try (listener) {
            super.close();
        }
    }
}
