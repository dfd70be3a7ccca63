package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Two JVMs with {@link SoftSpeed}, connected with each other, each on a processor. For one thread. */
final class SoftTeam implements Team {
    private static final String ADDRESS = "127.0.0.1";

    private final Contestant server;
    private final Contestant client;

    /**
     * Starts them.
     *
     * @param clientProcessor where the client runs
     * @param serverProcessor where the server runs
     */
    SoftTeam(int clientProcessor, int serverProcessor) throws IOException {
        server = java(serverProcessor, "serve", ADDRESS);
        try {
            client = java(clientProcessor, "connect", ADDRESS, server.awaitPort());
        } catch (IOException e) {
            server.close();
            throw e;
        }
    }

    /**
     * A JVM as a program in production has it, with both compilers, and with all of its heap in memory from the beginning,
     * so that what grows later is something else. It takes the machine for one with two processors, though it gets one.
     */
    private static Contestant java(int processor, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "taskset",
                "-c",
                Integer.toString(processor),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:ActiveProcessorCount=2",
                "-XX:+UseSerialGC",
                "-Xms96m",
                "-Xmx96m",
                "-XX:+AlwaysPreTouch",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                SoftSpeed.class.getName()));
        command.addAll(List.of(arguments));
        return new Contestant(command);
    }

    Contestant server() {
        return server;
    }

    /** Gives a command to both, to the server first. The time is the client's, the bytes are those of both. */
    @Override
    public Report obey(String order) throws IOException {
        server.begin(order);
        Report ofClient = client.obey(order);
        return new Report(ofClient.nanos(), ofClient.bytes() + server.report().bytes());
    }

    /** Gives a command to the client alone; the server is not even told. */
    Report obeyAlone(String order) throws IOException {
        return client.obey(order);
    }

    @Override
    public void close() throws IOException {
        try (server) {
            client.close();
        }
    }
}
