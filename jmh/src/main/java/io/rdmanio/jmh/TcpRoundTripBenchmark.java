package io.rdmanio.jmh;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** How long do 64 bytes take to a blocking echo thread and back over the JDK's TCP on loopback? The bar for our transports. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class TcpRoundTripBenchmark {
    private static final int MESSAGE_BYTES = 64;

    private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    private SocketChannel client;
    private Thread echo;

    @Setup
    public void connect() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client = SocketChannel.open(listener.getLocalAddress());
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            SocketChannel server = listener.accept();
            server.setOption(StandardSocketOptions.TCP_NODELAY, true);
            echo = Thread.ofPlatform().name("echo").start(() -> echo(server));
        }
    }

    @TearDown
    public void disconnect() throws IOException, InterruptedException {
        client.close();
        echo.join();
    }

    @Benchmark
    public ByteBuffer jdkBaseline() throws IOException {
        message.clear();
        writeAll(client, message);
        message.clear();
        readAll(client, message);
        return message;
    }

    private static void echo(SocketChannel server) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        try (server) {
            while (true) {
                bytes.clear();
                readAll(server, bytes);
                bytes.flip();
                writeAll(server, bytes);
            }
        } catch (EOFException | ClosedChannelException _) {
            // The client has closed: the benchmark is over.
        } catch (IOException e) {
            throw new IllegalStateException("echo", e);
        }
    }

    private static void writeAll(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static void readAll(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException();
            }
        }
    }
}
