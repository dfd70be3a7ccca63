package io.rdmanio.lab.streams;

import io.rdmanio.lab.host.ThreadTimes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Two JVMs with {@link StreamSpeed}, a server and a client of it, over one transport. For one thread. */
final class Team implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 30;
    /** How long the server may take when the client has come to the end. */
    private static final int SERVER_PATIENCE_SECONDS = 20;

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
                "-Xms256m",
                "-Xmx1g",
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

    /** Makes the connections that a line starts with. */
    void setUp(Line line) throws IOException {
        if (!line.setUp().isEmpty()) {
            obey(line.setUp(), 1);
        }
    }

    /** Closes them again. */
    void tearDown(Line line) throws IOException {
        if (!line.setUp().isEmpty()) {
            closeConnections();
        }
    }

    void closeConnections() throws IOException {
        obey("close", 1);
    }

    /**
     * Gives a command to both, to the server first, and waits for both.
     *
     * @param operations how many the command stands for
     */
    Turn obey(String order, int operations) throws IOException {
        long ranBefore = ranNanos();
        begin(order);
        String[] ofClient = awaitClient(order).split(" ", -1);
        String[] ofServer = server.await("TOOK", order, SERVER_PATIENCE_SECONDS).split(" ", -1);
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

    /** Gives a command to both, to the server first. */
    void begin(String order) throws IOException {
        server.begin(order);
        client.begin(order);
    }

    /** Waits for the end of a command that was begun. */
    void awaitEnd(String order) throws IOException {
        awaitClient(order);
        server.await("TOOK", order, SERVER_PATIENCE_SECONDS);
    }

    /** Waits for the client's answer. If there is none, what the server is at belongs to the failure. */
    private String awaitClient(String order) throws IOException {
        try {
            return client.await("TOOK", order, PATIENCE_SECONDS);
        } catch (IOException ofClient) {
            try {
                server.await("TOOK", order, 1);
            } catch (IOException ofServer) {
                throw new IOException(ofClient.getMessage() + "\n" + ofServer.getMessage(), ofClient);
            }
            throw ofClient;
        }
    }

    /** How long the threads of each process have run, of the server first. */
    List<ThreadTimes> threadTimes() throws IOException {
        return List.of(ThreadTimes.of(server.processId()), ThreadTimes.of(client.processId()));
    }

    private long ranNanos() throws IOException {
        return threadTimes().stream().mapToLong(ThreadTimes::allNanos).sum();
    }

    @Override
    public void close() throws IOException {
        try (server) {
            client.close();
        }
    }
}
