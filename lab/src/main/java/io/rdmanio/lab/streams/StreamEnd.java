package io.rdmanio.lab.streams;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One side of the connections and what it does with them. Its waits have no deadline, as those of the programs that it
 * stands for have none: {@link StreamSpeedComparison} ends the process when a command takes too long. For one thread.
 */
abstract class StreamEnd implements AutoCloseable {
    /** What a command does once everything for it is prepared. */
    @FunctionalInterface
    interface Work {
        void run() throws IOException;
    }

    /** What a key is for at the moment: its attachment. */
    @FunctionalInterface
    interface Task {
        /** Goes on with what the channel is ready for. */
        void ready() throws IOException;
    }

    private static final Consumer<SelectionKey> ACTION = StreamEnd::perform;

    final Selector selector;
    final List<SocketChannel> channels = new ArrayList<>();
    private RoundTripTimes times = new RoundTripTimes(0);
    /** How many of the tasks under way have not come to their end. */
    private int unfinished;

    StreamEnd() throws IOException {
        selector = Selector.open();
    }

    private static void perform(SelectionKey key) {
        try {
            ((Task) key.attachment()).ready();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is done about a connection that nobody has used yet: it fails, or gives what nobody has sent. */
    private static void refuse(SocketChannel channel) throws IOException {
        int count = channel.read(ByteBuffer.allocate(1));
        throw new IOException("a connection that nobody has used yet is ready to read, and gives "
                + (count < 0 ? "its end" : count + " bytes"));
    }

    /** So many more connections, on blocking channels or on such as are registered with the selector. */
    abstract Work opening(int count, boolean waiting);

    /** The end of all connections, as the side sees it. */
    abstract void closeConnections() throws IOException;

    /** So many round trips on each connection. */
    abstract Work exchanging(int bytes, int roundTrips) throws IOException;

    /** So many messages from the client on each connection. */
    abstract Work streaming(int bytes, int messages) throws IOException;

    /** Waits for anything to happen, which is not expected. */
    Work idling(int millis) {
        return () -> {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            for (long left = millis; left > 0; left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())) {
                if (selector.select(ACTION, left) != 0) {
                    throw new IOException("something happened on a connection where nobody writes");
                }
            }
        };
    }

    /** Makes room for the times of so many round trips. */
    RoundTripTimes recordTimes(int roundTrips) {
        times = new RoundTripTimes(roundTrips);
        return times;
    }

    /** The times of the last command; the next one has others. */
    RoundTripTimes takeTimes() {
        RoundTripTimes taken = times;
        times = new RoundTripTimes(0);
        return taken;
    }

    /** Takes a new connection in. */
    void add(SocketChannel channel, boolean waiting) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(waiting);
        if (!waiting) {
            // The key of a channel that was registered in order to connect is the same one.
            channel.register(selector, SelectionKey.OP_READ, (Task) () -> refuse(channel));
        }
        channels.add(channel);
    }

    /** The key of a connection, null if its channel is a blocking one. */
    SelectionKey keyOf(SocketChannel channel) {
        return channel.keyFor(selector);
    }

    /** Waits for keys and performs their tasks until so many of these have come to their ends. */
    void select(int tasks) throws IOException {
        unfinished += tasks;
        while (unfinished > 0) {
            selector.select(ACTION);
        }
    }

    /** To be called by a task at its end. */
    void finished() {
        unfinished--;
    }

    static void readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            read(channel, buffer);
        }
    }

    static void writeFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    static int read(SocketChannel channel, ByteBuffer buffer) throws IOException {
        int count = channel.read(buffer);
        if (count < 0) {
            throw new EOFException("the peer closed a connection");
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        try (selector) {
            for (SocketChannel channel : channels) {
                channel.close();
            }
        }
    }
}
