package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes on their way: all of them, in order, whatever buffers carry them. */
abstract class TransferContractTest extends ChannelContract {
    @Test
    void rule32_write_ofEverySizeAroundTheBuffers_arrives() throws Exception {
        int[] sizes = {1, 63, 64, 65, 2047, 2048, 2049, 4096, 65_535, 65_536, 65_537, 131_072, 131_073, 1_000_000};
        try (Pair pair = connect()) {
            for (int size : sizes) {
                Thread writer = start("writer", () -> writeAll(pair.client(), pattern(size, size)));
                assertThat(readAll(pair.server(), size)).as("%d bytes", size).isEqualTo(pattern(size, size));
                writer.join();
            }
        }
    }

    /** Heap, direct, sliced and read-only buffers, at positions other than 0. */
    @Test
    void rule32_buffersOfEveryKind_areReadFromAndInto() throws IOException {
        ByteBuffer bytes = pattern(4, 3000);
        ByteBuffer direct =
                ByteBuffer.allocateDirect(3000).put(bytes.duplicate()).flip();
        List<ByteBuffer> sources = List.of(
                bytes.duplicate(),
                bytes.asReadOnlyBuffer(),
                bytes.slice(0, 3000),
                direct.duplicate(),
                direct.asReadOnlyBuffer(),
                direct.slice());
        try (Pair pair = connect()) {
            for (ByteBuffer source : sources) {
                for (ByteBuffer target : List.of(ByteBuffer.allocate(4000), ByteBuffer.allocateDirect(4000))) {
                    source.position(7).limit(2989);
                    target.position(11).limit(11 + 2982);
                    writeAll(pair.client(), source);
                    while (target.hasRemaining()) {
                        pair.server().read(target);
                    }
                    assertThat(source.position()).isEqualTo(2989);
                    assertThat(target.flip().position(11)).isEqualTo(bytes.slice(7, 2982));
                }
            }
        }
    }

    @Test
    void rule32_gatherAndScatter_keepOrderAndBounds() throws IOException {
        try (Pair pair = connect()) {
            ByteBuffer[] sources = {
                pattern(0, 1), pattern(1, 3), ByteBuffer.allocateDirect(0), pattern(2, 5000), pattern(3, 70)
            };
            assertThat(pair.client().write(sources, 1, 4)).isEqualTo(5073);
            assertThat(sources[0].remaining()).as("outside of the bounds").isOne();
            ByteBuffer[] targets = {
                ByteBuffer.allocate(0), ByteBuffer.allocateDirect(3), ByteBuffer.allocate(5070), ByteBuffer.allocate(9)
            };
            long read = 0;
            while (read < 5073) {
                read += pair.server().read(targets, 0, 3);
            }
            assertThat(targets[3].position()).as("outside of the bounds").isZero();
            assertThat(targets[1].flip()).isEqualTo(pattern(1, 3));
            ByteBuffer rest = targets[2].flip();
            assertThat(rest.slice(0, 5000)).isEqualTo(pattern(2, 5000));
            assertThat(rest.slice(5000, 70)).isEqualTo(pattern(3, 70));
        }
    }

    @Test
    void rule32_gatherAndScatter_checkTheirIndicesFirst() throws IOException {
        Pair pair = connect();
        ByteBuffer[] buffers = {pattern(1, 1), pattern(1, 1)};
        for (int again = 0; again < 2; again++) {
            assertThatThrownBy(() -> pair.client().write(buffers, 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.client().read(buffers, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.client().read(buffers, 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.client().write((ByteBuffer) null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> pair.client().read((ByteBuffer) null)).isInstanceOf(NullPointerException.class);
            pair.close(); // and the second time even before it looks whether the channel is open
        }
    }

    @Test
    void rule32_gather_ofTheSameBufferTwice_sendsItTwice() throws IOException {
        try (Pair pair = connect()) {
            for (int size : new int[] {8, 3000}) {
                ByteBuffer twice = pattern(size, size);
                assertThat(pair.client().write(new ByteBuffer[] {twice, twice})).isEqualTo(2L * size);
                assertThat(twice.hasRemaining()).isFalse();
                assertThat(readAll(pair.server(), size)).isEqualTo(pattern(size, size));
                assertThat(readAll(pair.server(), size)).isEqualTo(pattern(size, size));
            }
        }
    }

    @Test
    void rule32_read_ofAnEmptyOrReadOnlyBuffer_asSpecified() throws IOException {
        try (Pair pair = connect()) {
            ByteBuffer[] empty = {ByteBuffer.allocate(0), ByteBuffer.allocateDirect(0)};
            assertThat(pair.server().read(empty[0])).as("does not wait").isZero();
            assertThat(pair.server().read(empty)).as("does not wait").isZero();
            assertThat(pair.server().read(new ByteBuffer[0]))
                    .as("does not wait")
                    .isZero();
            assertThat(pair.client().write(empty[1])).isZero();
            assertThat(pair.client().write(empty)).isZero();
            writeAll(pair.client(), pattern(1, 1));
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.server()
                            .read(new ByteBuffer[] {ByteBuffer.allocate(1).asReadOnlyBuffer()}))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(readAll(pair.server(), 1)).isEqualTo(pattern(1, 1));
            pair.server().shutdownInput();
            assertThat(pair.server().read(empty[0])).as("input shut").isEqualTo(-1);
            assertThat(pair.server().read(empty)).as("input shut").isEqualTo(-1);
        }
    }

    @Test
    void rule32_read_nonBlockingWithoutData_isZero() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isZero();
            assertThat(pair.server().read(new ByteBuffer[] {ByteBuffer.allocate(1)}))
                    .isZero();
        }
    }

    @Test
    void rule32_read_inBlockingMode_returnsWhatIsThere() throws IOException {
        try (Pair pair = connect()) {
            writeAll(pair.client(), pattern(1, 10));
            ByteBuffer target = ByteBuffer.allocate(1000);
            assertThat(pair.server().read(target)).isBetween(1, 10);
        }
    }

    @Test
    void rule32_write_nonBlockingToAPeerThatDoesNotRead_comesToAStopAndLosesNothing() throws IOException {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            ByteBuffer source = pattern(7, 16 << 20);
            int idle = 0;
            while (idle < 100) {
                idle = pair.client().write(source) == 0 ? idle + 1 : 0;
            }
            int accepted = source.position();
            assertThat(accepted).isBetween(1, source.capacity() - 1);
            pair.client().shutdownOutput();
            ByteBuffer expected = source.duplicate().flip();
            assertThat(readAll(pair.server(), accepted)).isEqualTo(expected);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void rule32_manySmallWrites_arriveInOrder() throws Exception {
        int count = 5000;
        try (Pair pair = connect()) {
            Thread writer = start("writer", () -> {
                ByteBuffer number = ByteBuffer.allocateDirect(Integer.BYTES);
                for (int i = 0; i < count; i++) {
                    writeAll(pair.client(), number.clear().putInt(0, i));
                }
            });
            for (int i = 0; i < count; i++) {
                assertThat(readAll(pair.server(), Integer.BYTES).getInt()).isEqualTo(i);
            }
            writer.join();
        }
    }

    /** What is gathered arrives joined or in pieces, but in order and whole: small and large, on the heap and off it. */
    @Test
    void rule32_gather_ofAnySizes_arrivesWhole() throws Exception {
        Random random = new Random(11);
        try (Pair pair = connect()) {
            for (int round = 0; round < 60; round++) {
                ByteBuffer[] sources = new ByteBuffer[1 + random.nextInt(20)];
                int total = 0;
                for (int i = 0; i < sources.length; i++) {
                    int size = random.nextInt(random.nextBoolean() ? 30 : 5_000);
                    ByteBuffer bytes = pattern(random.nextLong(), size);
                    sources[i] = random.nextBoolean()
                            ? bytes
                            : ByteBuffer.allocateDirect(size).put(bytes).flip();
                    total += size;
                }
                ByteBuffer expected = ByteBuffer.allocate(total);
                for (ByteBuffer source : sources) {
                    expected.put(source.duplicate());
                }
                Doing<ByteBuffer> reader = doing(() -> readAll(pair.server(), expected.capacity()));
                long written = 0;
                while (written < total) {
                    written += pair.client().write(sources);
                }
                assertThat(reader.get()).isEqualTo(expected.flip());
            }
        }
    }

    /** A buffer whose memory was freed is refused, and neither a byte of it goes nor does the connection suffer. */
    @Test
    void rule32_buffersWhoseMemoryWasFreed_areRefused() throws IOException {
        ByteBuffer freed;
        try (Arena arena = Arena.ofShared()) {
            freed = arena.allocate(100_000).asByteBuffer();
        }
        try (Pair pair = connect()) {
            assertThatThrownBy(() -> pair.client().write(freed)).isInstanceOf(IllegalStateException.class);
            assertThat(freed.position()).isZero();
            writeAll(pair.client(), pattern(3, 10));
            assertThatThrownBy(() -> pair.server().read(freed)).isInstanceOf(IllegalStateException.class);
            assertThat(readAll(pair.server(), 10)).isEqualTo(pattern(3, 10));
        }
    }

    /** A program may write to what it reads itself, as much as the buffers of a connection hold. */
    @Test
    void rule57_oneThreadOfBothEnds_writesBeforeItReads() throws IOException {
        int size = 100_000;
        try (Pair pair = connectNonBlocking();
                Selector selector = provider().openSelector()) {
            pair.server().register(selector, READ);
            selector.selectNow();
            for (int round = 0; round < 3; round++) {
                ByteBuffer source = pattern(round, size);
                await().atMost(LONG_MILLIS, TimeUnit.MILLISECONDS)
                        .pollInSameThread()
                        .until(() -> {
                            pair.client().write(source);
                            return !source.hasRemaining();
                        });
                ByteBuffer target = ByteBuffer.allocate(size);
                while (target.hasRemaining()) {
                    assertThat(selector.select(LONG_MILLIS)).isOne();
                    selector.selectedKeys().clear();
                    pair.server().read(target);
                }
                assertThat(target.flip()).isEqualTo(pattern(round, size));
            }
        }
    }

    @Test
    void rule56_write_bothWaysAtOnce_arrives() throws Exception {
        int size = 3_000_000;
        try (Pair pair = connect()) {
            Thread one = start("client writes", () -> writeAll(pair.client(), pattern(1, size)));
            Thread two = start("server writes", () -> writeAll(pair.server(), pattern(2, size)));
            CompletableFuture<ByteBuffer> atServer = new CompletableFuture<>();
            start("server reads", () -> atServer.complete(readAll(pair.server(), size)));
            assertThat(readAll(pair.client(), size)).isEqualTo(pattern(2, size));
            assertThat(atServer.get(60, TimeUnit.SECONDS)).isEqualTo(pattern(1, size));
            one.join();
            two.join();
        }
    }

    @Test
    void rule56_twoReaders_takeTurnsAndAWriterWaitsForNeither() throws Exception {
        try (Pair pair = connect()) {
            List<Doing<Byte>> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                readers.add(doing(() -> readAll(pair.client(), 1).get()).blocked());
            }
            writeAll(pair.client(), pattern(1, 1000));
            assertThat(readAll(pair.server(), 1000)).isEqualTo(pattern(1, 1000));
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {1}));
            await().until(() -> readers.stream().anyMatch(Doing::isDone));
            TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
            assertThat(readers)
                    .filteredOn(Doing::isDone)
                    .as("one byte is for one reader")
                    .hasSize(1);
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {2}));
            assertThat(readers.get(0).get() + readers.get(1).get()).isEqualTo(3);
        }
    }

    /** However a write falls between the look for data and the sleep, the sleeper hears of it. */
    @Test
    void rule57_pingPong_neverSleepsThroughAByte() throws Exception {
        int rounds = 2000;
        try (Pair pair = connect();
                Selector selector = provider().openSelector()) {
            Doing<Void> echo = doing(() -> {
                ByteBuffer one = ByteBuffer.allocateDirect(1);
                for (int i = 0; i < rounds; i++) {
                    pair.server().read(one.clear());
                    pair.server().write(one.flip());
                }
                return null;
            });
            pair.client().configureBlocking(false);
            pair.client().register(selector, READ);
            ByteBuffer one = ByteBuffer.allocateDirect(1);
            for (int i = 0; i < rounds; i++) {
                one.clear().put(0, (byte) i);
                pair.client().write(one);
                assertThat(selector.select(LONG_MILLIS)).as("round %d", i).isOne();
                selector.selectedKeys().clear();
                assertThat(pair.client().read(one.clear())).isOne();
                assertThat(one.get(0)).isEqualTo((byte) i);
            }
            echo.get();
        }
    }

    @Test
    void rule64_fileChannel_transfersToAndFrom(@TempDir Path folder) throws Exception {
        int size = 300_000;
        Path from = Files.write(folder.resolve("from"), pattern(5, size).array());
        Path to = folder.resolve("to");
        try (Pair pair = connect();
                FileChannel source = FileChannel.open(from);
                FileChannel target = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            Thread writer = start("writer", () -> {
                long sent = 0;
                while (sent < size) {
                    sent += source.transferTo(sent, size - sent, pair.client());
                }
            });
            long received = 0;
            while (received < size) {
                received += target.transferFrom(pair.server(), received, size - received);
            }
            writer.join();
        }
        assertThat(Files.readAllBytes(to)).isEqualTo(pattern(5, size).array());
    }

    @Test
    void rule65_streamsOfAdaptor_areFullDuplex() throws Exception {
        try (Pair pair = connect()) {
            Socket socket = pair.client().socket();
            InputStream input = socket.getInputStream();
            Doing<Integer> reader = doing(input::read).blocked();
            OutputStream output = socket.getOutputStream();
            Doing<Void> writer = doing(() -> {
                output.write(pattern(1, 100_000).array());
                return null;
            });
            assertThat(readAll(pair.server(), 100_000)).isEqualTo(pattern(1, 100_000));
            writer.get();
            assertThat(reader.isDone()).isFalse();
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {42}));
            assertThat(reader.get()).isEqualTo(42);
        }
    }

    @Test
    void rule65_streamsOfChannels_excludeEachOtherIfTheJdkDoesNotKnowTheChannel() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(Channels.newInputStream(pair.client())::read).blocked();
            Doing<Void> writer = doing(() -> {
                Channels.newOutputStream(pair.client()).write(7);
                return null;
            });
            if (differs(Difference.CHANNELS_STREAMS)) {
                writer.blocked();
            } else {
                writer.get();
            }
            assertThat(reader.isDone()).isFalse();
            writeAll(pair.server(), ByteBuffer.wrap(new byte[] {42}));
            assertThat(reader.get()).isEqualTo(42);
            writer.get();
            assertThat(readAll(pair.server(), 1).get()).isEqualTo((byte) 7);
        }
    }
}
