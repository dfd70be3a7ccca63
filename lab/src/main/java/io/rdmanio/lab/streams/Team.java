package io.rdmanio.lab.streams;

import io.rdmanio.lab.host.ThreadTimes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Two JVMs with {@link StreamSpeed}, a server and a client of it, over one transport. For one thread. */
final class Team implements AutoCloseable {
    /** How long a command may take if nothing else is said. */
    static final int PATIENCE_SECONDS = 60;

    private static final int STEADY_SECONDS = 5;

    private final Child server;
    private final Child client;

    /**
     * Starts them.
     *
     * @param jvmOptions further ones for both
     */
    Team(Transport transport, List<String> jvmOptions) throws IOException {
        server = start(transport, "server", jvmOptions, "serve");
        try {
            client = start(transport, "client", jvmOptions, "connect", server.awaitStart("READY"));
        } catch (IOException e) {
            server.close();
            throw e;
        }
        try {
            for (Child child : List.of(server, client)) {
                String provider = child.awaitStart("STARTED");
                if (!provider.equals(transport.provider())) {
                    throw new IOException("a program that is to run over " + transport + " has provider " + provider);
                }
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** A JVM with both compilers, as in production, and with a collector and a heap that do nothing by themselves. */
    private static Child start(Transport transport, String role, List<String> jvmOptions, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xms128m",
                "-Xmx128m",
                "-XX:+AlwaysPreTouch",
                "-Djava.nio.channels.spi.SelectorProvider=" + transport.provider()));
        command.addAll(transport.jvmOptions());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), StreamSpeed.class.getName()));
        command.addAll(List.of(arguments));
        return new Child(role + " over " + transport.name().toLowerCase(Locale.ROOT), command);
    }

    /** The process numbers, of the server first. */
    List<Long> processIds() {
        return List.of(server.processId(), client.processId());
    }

    /**
     * Gives a command to both, to the server first, and waits for both.
     *
     * @param operations how many the command stands for
     */
    Turn obey(String order, int operations) throws IOException {
        long ranBefore = ranNanos();
        begin(order);
        String[] ofClient = client.await("TOOK", order, PATIENCE_SECONDS).split(" ", -1);
        String[] ofServer = server.await("TOOK", order, STEADY_SECONDS).split(" ", -1);
        long ran = ranNanos() - ranBefore;
        long ended = Math.max(Long.parseLong(ofClient[1]), Long.parseLong(ofServer[1]));
        return new Turn(
                operations,
                ended - Long.parseLong(ofClient[0]),
                Long.parseLong(ofClient[3]),
                Long.parseLong(ofClient[4]),
                ran,
                Long.parseLong(ofClient[2]) + Long.parseLong(ofServer[2]));
    }

    /** Gives a command that is not measured. */
    void obey(String order) throws IOException {
        obey(order, 1);
    }

    /** Gives a command to both, to the server first. */
    void begin(String order) throws IOException {
        server.begin(order);
        client.begin(order);
    }

    private long ranNanos() throws IOException {
        long sum = 0;
        for (long processId : processIds()) {
            sum += ThreadTimes.of(processId).ranNanos().values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
        return sum;
    }

    @Override
    public void close() throws IOException {
        try (server) {
            client.close();
        }
    }
}
