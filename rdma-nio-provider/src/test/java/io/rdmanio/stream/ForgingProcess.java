package io.rdmanio.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that connects to a victim as a peer like any other, and then writes to memory that the victim has exposed to somebody
 * else. Its handle in the process of the test is for one thread.
 */
final class ForgingProcess implements AutoCloseable {
    private static final String WRITTEN = "WRITTEN";
    private static final String CONNECTED = "CONNECTED";

    private final Process process;
    private final BufferedReader output;

    /** Starts it, and returns when it is connected. */
    ForgingProcess(InetSocketAddress victim) throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "-Dio.rdmanio.policy=soft",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ForgingProcess.class.getName(),
                        victim.getAddress().getHostAddress(),
                        Integer.toString(victim.getPort())))
                .redirectErrorStream(true)
                .start();
        output = process.inputReader(StandardCharsets.UTF_8);
        expect(CONNECTED);
    }

    public static void main(String[] args) throws IOException {
        try (RawPeer peer = RawPeer.connect(
                        new InetSocketAddress(InetAddress.ofLiteral(args[0]), Integer.parseInt(args[1])));
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println(CONNECTED);
            String[] order = input.readLine().split(" ", -1);
            byte[] payload = order[2].getBytes(StandardCharsets.US_ASCII);
            peer.postPayloadAt(
                    Long.parseLong(order[0]),
                    Integer.parseInt(order[1]),
                    payload,
                    StreamMessage.of(StreamMessage.DATA, payload.length));
            while (peer.takeCompletions() == 0) {
                Thread.onSpinWait();
            }
            System.out.println(WRITTEN);
            String end = input.readLine();
            assert end == null;
        }
    }

    private void expect(String word) throws IOException {
        String line = output.readLine();
        if (!word.equals(line)) {
            throw new IOException("The other process said " + line + " and not " + word + ": "
                    + output.lines().toList());
        }
    }

    /** Has it write to where another peer of the victim may; returns when that has completed, in whatever way. */
    void writeInto(RawPeer other, String payload) throws IOException {
        PeerParameters.BufferHalf half = other.victim().half();
        String order = half.address() + " " + half.key() + " " + payload + "\n";
        process.getOutputStream().write(order.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        expect(WRITTEN);
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                throw new IOException("The other process does not end");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
            output.close();
            process.getErrorStream().close();
        }
    }
}
