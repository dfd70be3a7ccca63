package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many connections at once, of random lengths and in random pieces, which end in every way there is. Both sides check every byte
 * and every end. {@code -Dio.rdmanio.test.abuseSeconds} asks for more than a build has time for, {@code -Dio.rdmanio.test.abuseSeed}
 * repeats a run's choices.
 */
abstract class AbuseContractTest extends ChannelContract {
    private static final long SECONDS = Long.getLong("io.rdmanio.test.abuseSeconds", 3);
    private static final long SEED = Long.getLong("io.rdmanio.test.abuseSeed", System.nanoTime());
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int HEADER_BYTES = Long.BYTES;
    private static final int LONGEST_STREAM_BYTES = 2 << 20;
    private static final int LONGEST_PIECE_BYTES = 200_000;

    /** What all streams consist of, each from a place of its own on. */
    private static final ByteBuffer CONTENT = pattern(42, 1_048_573);

    private static final ByteBuffer DIRECT_CONTENT = ByteBuffer.allocateDirect(CONTENT.capacity())
            .put(CONTENT.duplicate())
            .flip();

    /** How a connection ends. */
    private enum End {
        /** Each side ends its output when it has written all, and closes when it has read all. */
        ORDERLY,
        /** The client closes as soon as it has written all, and the server reads all of that. */
        WRITE_AND_CLOSE,
        /** The client breaks the connection off in the middle; the server is told so, and not of an end. */
        ABORT,
        /** The server closes in the middle, whatever still comes. */
        CLOSE_UNREAD
    }

    private static final List<End> ENDS = List.of(End.values());

    /** What both sides do with a connection, of which its seed tells both. */
    private static final class Plan {
        final End end;
        final int upBytes;
        final int downBytes;
        final int breakAt;
        final int start;
        final boolean direct;

        Plan(long seed) {
            Random random = new Random(seed);
            end = ENDS.get(random.nextInt(ENDS.size()));
            upBytes = HEADER_BYTES + length(random);
            downBytes = end == End.WRITE_AND_CLOSE ? 0 : length(random);
            breakAt = HEADER_BYTES + random.nextInt(upBytes);
            start = random.nextInt(CONTENT.capacity());
            direct = random.nextBoolean();
        }

        /** Short ones are as many as long ones. */
        private static int length(Random random) {
            return random.nextInt(1 << random.nextInt(8, Integer.numberOfTrailingZeros(LONGEST_STREAM_BYTES)));
        }
    }

    /** What the two threads share. */
    private static final class Tally {
        final long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        final List<String> faults = Collections.synchronizedList(new ArrayList<>());
        final Map<End, AtomicInteger> ended = new EnumMap<>(End.class);

        Tally() {
            for (End end : End.values()) {
                ended.put(end, new AtomicInteger());
            }
        }

        boolean isOver() {
            return System.nanoTime() - endNanos > 0;
        }

        void requireTime() {
            assertThat(System.nanoTime() - endNanos)
                    .as("time since the last connection was made; faults until now: %s", faults)
                    .isLessThan(PATIENCE_NANOS);
        }
    }

    /** One side of a connection; for its thread. */
    private abstract static class Side {
        final Tally tally;
        final SocketChannel channel;
        final SelectionKey key;
        final Random random;
        final ByteBuffer target;
        Plan plan;
        int sent;
        int received;
        boolean inputEnded;

        Side(Tally tally, SocketChannel channel, Selector selector, long seed) throws IOException {
            this.tally = tally;
            this.channel = channel;
            this.random = new Random(seed);
            this.target = random.nextBoolean()
                    ? ByteBuffer.allocate(1 + random.nextInt(LONGEST_PIECE_BYTES))
                    : ByteBuffer.allocateDirect(1 + random.nextInt(LONGEST_PIECE_BYTES));
            channel.configureBlocking(false);
            this.key = channel.register(selector, READ, this);
        }

        /** Bytes of the stream at a place, at most as many as asked for. */
        static ByteBuffer content(Plan plan, int at, int bytes) {
            int offset = (int) ((plan.start + (long) at) % CONTENT.capacity());
            ByteBuffer all = plan.direct ? DIRECT_CONTENT : CONTENT;
            return all.slice(offset, Math.min(bytes, all.capacity() - offset));
        }

        final void check(ByteBuffer bytes, int at) {
            int done = 0;
            while (done < bytes.remaining()) {
                ByteBuffer expected = content(plan, at + done, bytes.remaining() - done);
                ByteBuffer got = bytes.slice(bytes.position() + done, expected.remaining());
                if (!got.equals(expected)) {
                    fault("wrong bytes at " + (at + done + expected.mismatch(got)));
                    return;
                }
                done += expected.remaining();
            }
        }

        final void fault(String what) {
            tally.faults.add(this + ": " + what);
        }

        /** Writes a piece; returns whether all of the stream has gone. */
        final boolean writePiece(int upTo) throws IOException {
            if (sent < upTo) {
                ByteBuffer piece = content(plan, sent, Math.min(upTo - sent, 1 + random.nextInt(LONGEST_PIECE_BYTES)));
                sent += channel.write(piece);
            }
            return sent == upTo;
        }

        /** Reads a piece; returns what was read, -1 at the end. */
        final int readPiece() throws IOException {
            return channel.read(target.clear());
        }

        final void close() throws IOException {
            channel.close();
        }

        abstract void ready() throws IOException;

        abstract void broken(IOException e) throws IOException;

        @Override
        public String toString() {
            return getClass().getSimpleName()
                    + (plan == null
                            ? ""
                            : " " + plan.end + " up " + plan.upBytes + " down " + plan.downBytes + " break at "
                                    + plan.breakAt)
                    + " sent " + sent + " received " + received;
        }
    }

    private static final class Client extends Side {
        private final ByteBuffer header;
        private boolean outputEnded;

        Client(Tally tally, SocketChannel channel, Selector selector, long seed) throws IOException {
            super(tally, channel, selector, seed);
            plan = new Plan(seed);
            header = ByteBuffer.allocate(HEADER_BYTES).putLong(seed).flip();
            key.interestOps(READ | WRITE);
        }

        @Override
        void ready() throws IOException {
            if (key.isWritable()) {
                write();
            }
            if (channel.isOpen() && key.isReadable() && !inputEnded) {
                read();
            }
            if (channel.isOpen() && inputEnded && outputEnded) {
                close();
            }
        }

        private void write() throws IOException {
            if (header.hasRemaining()) {
                sent += channel.write(header);
                return;
            }
            if (plan.end == End.ABORT && sent >= plan.breakAt) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                close();
                return;
            }
            if (writePiece(plan.upBytes)) {
                if (plan.end == End.WRITE_AND_CLOSE) {
                    close();
                } else if (plan.end == End.ABORT) {
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                    close();
                } else {
                    channel.shutdownOutput();
                    outputEnded = true;
                    key.interestOps(inputEnded ? 0 : READ);
                }
            }
        }

        private void read() throws IOException {
            int count = readPiece();
            if (count >= 0) {
                check(target.flip(), received);
                received += count;
                return;
            }
            inputEnded = true;
            if (plan.end == End.ORDERLY && received != plan.downBytes) {
                fault("the end came early");
            }
            key.interestOps(outputEnded ? 0 : WRITE);
        }

        @Override
        void broken(IOException e) throws IOException {
            if (plan.end != End.CLOSE_UNREAD) {
                fault(e.toString());
            }
            close();
        }
    }

    private static final class Server extends Side {
        private final ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        private boolean outputEnded;

        Server(Tally tally, SocketChannel channel, Selector selector, long seed) throws IOException {
            super(tally, channel, selector, seed);
        }

        @Override
        void ready() throws IOException {
            if (plan == null) {
                readHeader();
                return;
            }
            if (key.isReadable() && !inputEnded) {
                read();
            }
            if (channel.isOpen() && key.isValid() && key.isWritable() && !outputEnded && writePiece(plan.downBytes)) {
                channel.shutdownOutput();
                outputEnded = true;
                key.interestOps(inputEnded ? 0 : READ);
            }
            if (channel.isOpen() && inputEnded && outputEnded) {
                end();
            }
        }

        private void readHeader() throws IOException {
            if (channel.read(header) < 0) {
                fault("the end came before the header");
                close();
            } else if (!header.hasRemaining()) {
                plan = new Plan(header.flip().getLong());
                received = HEADER_BYTES;
                outputEnded = plan.downBytes == 0 && plan.end == End.WRITE_AND_CLOSE;
                key.interestOps(outputEnded ? READ : READ | WRITE);
            }
        }

        private void read() throws IOException {
            int count = readPiece();
            if (count < 0) {
                inputEnded = true;
                if (plan.end == End.ABORT) {
                    fault("an abort passed for an end");
                } else if (received != plan.upBytes) {
                    fault("the end came early");
                }
                key.interestOps(outputEnded ? 0 : WRITE);
                return;
            }
            check(target.flip(), received);
            received += count;
            if (plan.end == End.CLOSE_UNREAD && received >= plan.breakAt) {
                end();
            }
        }

        private void end() throws IOException {
            tally.ended.get(plan.end).incrementAndGet();
            close();
        }

        @Override
        void broken(IOException e) throws IOException {
            if (plan == null) {
                close(); // broken off before its header came
            } else if (plan.end == End.ABORT) {
                end();
            } else {
                fault(e.toString());
                close();
            }
        }
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void rule57_manyConnections_loseNothingAndEndAsTheyShould() throws Exception {
        int connections = transport().affordsManyRounds() ? 100 : 20;
        Tally tally = new Tally();
        try (ServerSocketChannel listener = listen();
                Selector clients = provider().openSelector();
                Selector servers = provider().openSelector()) {
            listener.configureBlocking(false);
            listener.register(servers, ACCEPT);
            Doing<Void> serving = doing(() -> {
                serve(listener, servers, tally);
                return null;
            });
            InetSocketAddress target = (InetSocketAddress) listener.getLocalAddress();
            Random seeds = new Random(SEED);
            while (!tally.isOver() || !clients.keys().isEmpty()) {
                tally.requireTime();
                while (!tally.isOver() && clients.keys().size() < connections) {
                    SocketChannel channel = provider().openSocketChannel();
                    channel.connect(target);
                    new Client(tally, channel, clients, seeds.nextLong());
                }
                clients.select(100);
                handle(clients);
                clients.selectNow(); // forgets those that were closed
            }
            serving.get();
        }
        assertThat(tally.faults).as("seed %d", SEED).isEmpty();
        assertThat(tally.ended.values())
                .as("connections, by end")
                .allSatisfy(count -> assertThat(count.get()).isPositive());
    }

    private static void serve(ServerSocketChannel listener, Selector servers, Tally tally) throws IOException {
        Random seeds = new Random(SEED + 1);
        while (!tally.isOver() || servers.keys().size() > 1) {
            tally.requireTime();
            servers.select(100);
            SocketChannel accepted = listener.accept();
            if (accepted != null) {
                new Server(tally, accepted, servers, seeds.nextLong());
            }
            handle(servers);
            servers.selectNow();
        }
    }

    private static void handle(Selector selector) throws IOException {
        Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
        while (keys.hasNext()) {
            SelectionKey key = keys.next();
            keys.remove();
            if (!key.isValid() || !(key.attachment() instanceof Side side)) {
                continue;
            }
            try {
                side.ready();
            } catch (IOException e) {
                side.broken(e);
            }
        }
    }
}
