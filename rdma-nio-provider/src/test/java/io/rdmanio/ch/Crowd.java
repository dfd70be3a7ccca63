package io.rdmanio.ch;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A listener with a backlog of one before which so many wait that a further connect waits too. Not thread-safe. */
final class Crowd implements AutoCloseable {
    private static final int MANY = 16;

    private final ServerSocketChannel listener;
    private final List<SocketChannel> waiting = new ArrayList<>();

    Crowd(ChannelContract contract) throws IOException {
        listener = contract.provider().openServerSocketChannel().bind(contract.anyPort(), 1);
        for (int i = 0; i < MANY; i++) {
            SocketChannel client = contract.provider().openSocketChannel();
            waiting.add(client);
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
        }
        await().atMost(ChannelContract.LONG_MILLIS, TimeUnit.MILLISECONDS).until(this::isFull);
    }

    private boolean isFull() throws IOException {
        for (SocketChannel client : waiting) {
            if (client.finishConnect()) {
                return true;
            }
        }
        return false;
    }

    SocketAddress address() throws IOException {
        return listener.getLocalAddress();
    }

    /** Stops listening, so that all who wait are refused or forgotten, and closes them. */
    @Override
    public void close() throws IOException {
        for (SocketChannel client : waiting) {
            client.close();
        }
        listener.close();
    }
}
