package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.RdmaSelectorProvider;
import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.stream.StreamLeakCheck;
import io.rdmanio.stream.StreamRuntime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Our provider over the device whose address {@code io.rdmanio.test.address} gives. */
final class RdmaTransport implements Transport {
    private static final SelectorProvider PROVIDER = new RdmaSelectorProvider();

    /** Long enough for a thread that has just been started to wait for data; when it isn't, nothing fails. */
    private static final long READING_MILLIS = 100;

    @Override
    public SelectorProvider provider() {
        return PROVIDER;
    }

    @Override
    public SelectorProvider foreigner() {
        return JdkTransport.jdk();
    }

    @Override
    public InetAddress address() throws IOException {
        return deviceAddress();
    }

    @Override
    public boolean differs(Difference difference) throws IOException {
        return difference != Difference.LOOPBACK || !overSoftwareDevice();
    }

    /** The lab's one processor takes tens of microseconds for a system call. */
    @Override
    public boolean affordsManyRounds() throws IOException {
        return overSoftwareDevice();
    }

    @Override
    public int liveConnections() throws IOException {
        return StreamRuntime.over(TransportPolicy.engine()).connectionCount();
    }

    /** What is registered, and what is touched of memory shared with peers, in which what waits to be read would pile up. */
    @Override
    public long heldBytes() throws IOException {
        return StreamLeakCheck.registeredBytes() + touchedSharedBytes();
    }

    private static long touchedSharedBytes() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssShmem:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
    }

    private static InetAddress deviceAddress() throws IOException {
        String address = System.getProperty("io.rdmanio.test.address");
        if (address == null) {
            throw new IllegalStateException("io.rdmanio.test.address does not say which device to test");
        }
        return InetAddress.getByName(address);
    }

    /** No other device has the loopback address. */
    static boolean overSoftwareDevice() throws IOException {
        return deviceAddress().isLoopbackAddress();
    }

    /** Makes a connection, so that what all connections share is there before a test counts. */
    static void warmUp() throws IOException {
        try (ServerSocketChannel listener =
                        PROVIDER.openServerSocketChannel().bind(new InetSocketAddress(deviceAddress(), 0));
                SocketChannel client = PROVIDER.openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                readVirtually(server, client);
                readVirtually(client, server);
            }
            Thread.startVirtualThread(RdmaTransport::select).join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (!overSoftwareDevice()) {
            meetDevices();
        }
        // the JDK keeps descriptors of its own from its first socket channel on
        JdkTransport.jdk().openSocketChannel().close();
        StreamLeakCheck.awaitQuiet();
    }

    /** The library keeps open every device that it has met, and on the way to the loopback address it may meet another. */
    private static void meetDevices() throws IOException {
        try (SocketChannel lost = PROVIDER.openSocketChannel()) {
            assertThatThrownBy(() -> lost.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)))
                    .isInstanceOf(NoRouteToHostException.class);
        }
    }

    /** Has the event loop wake a reader. */
    private static void readVirtually(SocketChannel reader, SocketChannel writer)
            throws IOException, InterruptedException {
        Thread reading = Thread.startVirtualThread(() -> read(reader));
        Thread.sleep(READING_MILLIS);
        writer.write(ByteBuffer.allocate(1));
        reading.join();
    }

    private static void read(SocketChannel channel) {
        try {
            channel.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void select() {
        try (Selector selector = PROVIDER.openSelector()) {
            selector.select(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
