package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * Round trips on one connection: requests and their answers, which are the same bytes. One side asks, the other answers;
 * each takes the whole of a message before it sends one. The last eight bytes of a message say which round trip it is of,
 * so that neither side takes an old message for a new one. For one thread.
 */
final class Exchange implements StreamEnd.Task {
    private static final long NO_ROUND_TRIP = -1;

    private final StreamEnd end;
    private final SocketChannel channel;
    private final SelectionKey keyOrNull;
    private final ByteBuffer message;
    private final int roundTrips;
    private final RoundTripTimes timesOrNull;
    private int roundTrip;
    private boolean sending;
    private long beganNanos;

    /**
     * Nothing is sent yet.
     *
     * @param keyOrNull the key of a channel with a selector
     * @param message as long as a message is
     * @param timesOrNull where the one who asks records times
     */
    Exchange(
            StreamEnd end,
            SocketChannel channel,
            SelectionKey keyOrNull,
            ByteBuffer message,
            int roundTrips,
            RoundTripTimes timesOrNull) {
        this.end = end;
        this.channel = channel;
        this.keyOrNull = keyOrNull;
        this.message = message;
        this.roundTrips = roundTrips;
        this.timesOrNull = timesOrNull;
    }

    /** All round trips on a blocking channel, for the one who asks. */
    void ask() throws IOException {
        beganNanos = System.nanoTime();
        while (roundTrip < roundTrips) {
            stamp();
            StreamEnd.writeFully(channel, message);
            expect();
            StreamEnd.readFully(channel, message);
            completeRoundTrip();
        }
    }

    /** All round trips on a blocking channel, for the one who answers. */
    void answer() throws IOException {
        for (; roundTrip < roundTrips; roundTrip++) {
            expect();
            StreamEnd.readFully(channel, message);
            check();
            message.flip();
            StreamEnd.writeFully(channel, message);
        }
    }

    /** Sends the first request through a channel with a selector. */
    void begin() throws IOException {
        beganNanos = System.nanoTime();
        sendRequest();
    }

    @Override
    public void ready() throws IOException {
        if (sending) {
            send();
            return;
        }
        StreamEnd.read(channel, message);
        if (message.hasRemaining()) {
            return;
        }
        if (timesOrNull == null) {
            check();
            message.flip();
            send();
            return;
        }
        completeRoundTrip();
        if (roundTrip == roundTrips) {
            end.finished();
        } else {
            sendRequest();
        }
    }

    private void sendRequest() throws IOException {
        stamp();
        send();
    }

    /** Sends what the channel takes; when that is all of the message, waits for the next one. */
    private void send() throws IOException {
        channel.write(message);
        if (message.hasRemaining()) {
            if (!sending) {
                sending = true;
                keyOrNull.interestOps(SelectionKey.OP_WRITE);
            }
            return;
        }
        if (sending) {
            sending = false;
            keyOrNull.interestOps(SelectionKey.OP_READ);
        }
        expect();
        if (timesOrNull == null && ++roundTrip == roundTrips) {
            end.finished();
        }
    }

    private void stamp() {
        message.clear();
        message.putLong(message.capacity() - Long.BYTES, roundTrip);
    }

    /** Makes room for a message, and has the stamp of the last one forgotten. */
    private void expect() {
        message.clear();
        message.putLong(message.capacity() - Long.BYTES, NO_ROUND_TRIP);
    }

    private void check() throws IOException {
        long stamp = message.getLong(message.capacity() - Long.BYTES);
        if (stamp != roundTrip) {
            throw new IOException("a message of round trip " + stamp + " came in round trip " + roundTrip);
        }
    }

    private void completeRoundTrip() throws IOException {
        check();
        roundTrip++;
        long now = System.nanoTime();
        timesOrNull.add(now - beganNanos);
        beganNanos = now;
    }
}
