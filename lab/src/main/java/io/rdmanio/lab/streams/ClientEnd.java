package io.rdmanio.lab.streams;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** The side that connects, asks, and sends streams. For one thread. */
final class ClientEnd extends StreamEnd {
    private final SocketAddress server;

    ClientEnd(SocketAddress server) throws IOException {
        this.server = server;
    }

    /** Those with a selector all at once, the others one after the other. */
    @Override
    Work opening(int count, boolean waiting) {
        return () -> {
            if (waiting) {
                for (int i = 0; i < count; i++) {
                    add(SocketChannel.open(server), true);
                }
                return;
            }
            int pending = 0;
            for (int i = 0; i < count; i++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                if (channel.connect(server)) {
                    add(channel, false);
                } else {
                    channel.register(selector, SelectionKey.OP_CONNECT, (Task) () -> finishConnect(channel));
                    pending++;
                }
            }
            select(pending);
        };
    }

    private void finishConnect(SocketChannel channel) throws IOException {
        if (channel.finishConnect()) {
            add(channel, false);
            finished();
        }
    }

    @Override
    void closeConnections() throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
        channels.clear();
        selector.selectNow();
    }

    @Override
    Work exchanging(int bytes, int roundTrips) {
        RoundTripTimes times = recordTimes(Math.multiplyExact(roundTrips, channels.size()));
        List<Exchange> exchanges = new ArrayList<>();
        for (SocketChannel channel : channels) {
            SelectionKey key = keyOf(channel);
            Exchange exchange = new Exchange(this, channel, key, ByteBuffer.allocateDirect(bytes), roundTrips, times);
            exchanges.add(exchange);
            if (key == null) {
                return exchange::ask;
            }
            key.attach(exchange);
        }
        return () -> {
            for (int i = 0; i < exchanges.size(); i++) {
                exchanges.get(i).begin();
            }
            select(exchanges.size());
        };
    }

    @Override
    Work streaming(int bytes, int messages) {
        List<Sending> sendings = new ArrayList<>();
        for (SocketChannel channel : channels) {
            SelectionKey key = keyOf(channel);
            Sending sending = new Sending(this, channel, key, ByteBuffer.allocateDirect(bytes), messages);
            sendings.add(sending);
            if (key == null) {
                return sending::sendAll;
            }
            key.attach(sending);
        }
        return () -> {
            for (int i = 0; i < sendings.size(); i++) {
                sendings.get(i).begin();
            }
            select(sendings.size());
        };
    }
}
