package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.ch.EndingWriter.Ending;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a program wrote before it ended arrives, and then the end of the stream, however it ended. */
abstract class ExitContractTest extends ChannelContract {
    /** For as many JVMs as there are endings, which in the lab have one slow processor for all. */
    private static final long PATIENCE_SECONDS = 100;

    private static void assertArrives(SocketChannel channel, int length) throws IOException {
        try (channel) {
            assertThat(readAll(channel, length)).isEqualTo(EndingWriter.content(length));
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    /** Reads all streams of a program as they come, but the first of them when it has ended. */
    private static void assertAllArrives(ServerSocketChannel listener, ChildJvm writer) throws Exception {
        try (SocketChannel unread = listener.accept()) {
            List<Doing<Void>> readers = new ArrayList<>();
            for (int length : EndingWriter.LENGTHS) {
                for (int stream = 0; stream < 2; stream++) {
                    SocketChannel channel = listener.accept();
                    readers.add(doing(() -> {
                        assertArrives(channel, length);
                        return null;
                    }));
                }
            }
            assertThat(writer.output()).isEmpty();
            assertThat(writer.exitValue()).isZero();
            for (Doing<Void> reader : readers) {
                reader.get();
            }
            assertArrives(unread, EndingWriter.UNREAD_LENGTH);
        }
    }

    @Test
    @Tag("once")
    void rule58_programThatEnds_howeverItDoes_hasDeliveredAll() throws Exception {
        List<Doing<Void>> endings = new ArrayList<>();
        for (Ending ending : Ending.values()) {
            endings.add(doing(() -> {
                try (ServerSocketChannel listener = listen();
                        ChildJvm writer =
                                ChildJvm.of(provider(), EndingWriter.class, listener.getLocalAddress(), ending)) {
                    assertAllArrives(listener, writer);
                } catch (AssertionError e) {
                    throw new AssertionError("a program that ends by " + ending, e);
                }
                return null;
            }));
        }
        for (Doing<Void> ending : endings) {
            ending.result().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }
}
