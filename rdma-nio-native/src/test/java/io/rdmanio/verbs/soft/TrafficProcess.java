package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.RdmaEngine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A process with random traffic, to be killed, and its handle in the process that kills it. It prints the port where it
 * listens, and reads a line: a port to connect to and how many connections to make. It ends with its input at the latest.
 * The handle is for one thread.
 */
final class TrafficProcess implements AutoCloseable {
    private static final int IDLE_MILLIS = 10;

    private final Process process;
    private final BufferedReader output;

    /** Starts it; the JVM is one that starts fast. */
    TrafficProcess(long seed) throws IOException {
        process = new ProcessBuilder(List.of(
                        ChildProcess.java(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TrafficProcess.class.getName(),
                        Long.toString(seed)))
                .redirectErrorStream(true)
                .start();
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws IOException {
        try (TrafficNode node =
                new TrafficNode(RdmaEngine.soft(), InetAddress.getLoopbackAddress(), Long.parseLong(args[0]))) {
            System.out.println("PORT " + node.port());
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String[] order = input.readLine().split(" ", -1);
            Thread.ofPlatform().daemon().start(() -> endWith(input));
            for (int i = 0; i < Integer.parseInt(order[1]); i++) {
                node.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(order[0])),
                        node.random.nextBoolean());
            }
            while (true) {
                if (!node.step()) {
                    node.await(IDLE_MILLIS);
                }
            }
        }
    }

    private static void endWith(BufferedReader input) {
        try {
            while (input.readLine() != null) {
                Thread.onSpinWait();
            }
        } catch (IOException e) {
            System.out.println(e);
        }
        Runtime.getRuntime().halt(1);
    }

    /** Where it listens. */
    int awaitPort() throws IOException {
        String line = output.readLine();
        if (line == null || !line.startsWith("PORT ")) {
            throw new IOException(
                    "the other process said: " + line + output.lines().toList());
        }
        return Integer.parseInt(line.substring("PORT ".length()));
    }

    /** Tells it what to do. */
    void begin(int port, int connections) throws IOException {
        process.getOutputStream().write((port + " " + connections + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Kills it with SIGKILL; it must have lived until now. */
    void kill() throws IOException {
        if (!process.isAlive()) {
            throw new IOException(
                    "the other process has ended by itself: " + output.lines().toList());
        }
        process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.getOutputStream().close();
        process.getErrorStream().close();
        output.close();
    }
}
