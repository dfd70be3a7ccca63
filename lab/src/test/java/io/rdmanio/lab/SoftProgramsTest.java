package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The servers and clients that {@link UnmodifiedProgramsTest} runs in the lab, on this host, over the software device; and Netty in
 * the version before, which is under many programs still. {@code -Dio.rdmanio.lab.requests} and
 * {@code -Dio.rdmanio.lab.bodyMebibytes}, up to 1024, ask for more than a build has time for.
 */
@Timeout(600)
class SoftProgramsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(560);
    private static final int REQUESTS = Integer.getInteger("io.rdmanio.lab.requests", 1000);
    private static final long BODY_MEBIBYTES = Long.getLong("io.rdmanio.lab.bodyMebibytes", 32);
    private static final long BODY_BYTES = BODY_MEBIBYTES << 20;

    private static final int KILLS = 2;
    private static final int ENDLESS_REQUESTS = 1_000_000;
    private static final int FEW_REQUESTS = 100;
    private static final long SMALL_BODY_BYTES = 1 << 20;

    // The clients have a whole body in memory, and java.net.http copies what it sends and what it has received.
    private static final long HEAP_MEBIBYTES = 2048 + 4 * BODY_MEBIBYTES;
    private static final Path NETTY_JARS = Path.of("target", "netty41").toAbsolutePath();

    private final List<Peer> peers = new ArrayList<>();

    @TempDir
    private Path directory;

    /** Whose server and client. */
    enum Programs {
        JETTY("JettyFileServer", "HttpClientFiles", false),
        NETTY("NettyHttpServer", "NettyHttpClient", false),
        NETTY_41("NettyHttpServer", "NettyHttpClient", true);

        final String server;
        final String client;
        private final boolean formerNetty;

        Programs(String server, String client, boolean formerNetty) {
            this.server = server;
            this.client = client;
            this.formerNetty = formerNetty;
        }

        String classPath() throws IOException {
            String ours = System.getProperty("java.class.path");
            if (!formerNetty) {
                return ours;
            }
            List<String> parts = new ArrayList<>();
            try (Stream<Path> jars = Files.list(NETTY_JARS)) {
                jars.map(Path::toString).sorted().forEach(parts::add);
            }
            assertThat(parts).as("jars in " + NETTY_JARS).isNotEmpty();
            Arrays.stream(ours.split(File.pathSeparator, -1))
                    .filter(part -> !Path.of(part).getFileName().toString().startsWith("netty-"))
                    .forEach(parts::add);
            return String.join(File.pathSeparator, parts);
        }
    }

    private Peer start(Programs programs, String program, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + HEAP_MEBIBYTES + "m",
                "-Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider",
                "-Dio.rdmanio.policy=soft",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                programs.classPath(),
                "io.rdmanio.lab.programs." + program));
        command.addAll(List.of(args));
        Peer peer = new Peer(program, true, command, Map.of(), directory);
        peers.add(peer);
        return peer;
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Peer peer : peers) {
            peer.kill();
        }
    }

    private Peer startServer(Programs programs) throws IOException {
        Path files = Files.createDirectory(directory.resolve("files"));
        return start(programs, programs.server, "127.0.0.1", "0", files.toString());
    }

    private Peer startClient(Programs programs, int port, int requests, long bodyBytes) throws IOException {
        return start(
                programs,
                programs.client,
                "127.0.0.1",
                Integer.toString(port),
                "--requests=" + requests,
                "--body=" + bodyBytes);
    }

    /** Every process has sockets of the kernel's for itself; what moves the bodies must not be among them. */
    private static void assertNoTcp(Peer peer) throws IOException {
        List<String> tcp = new ArrayList<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            Files.readAllLines(Path.of(table)).stream()
                    .skip(1)
                    .map(line -> "socket:[" + line.strip().split("\\s+", -1)[9] + "]")
                    .forEach(tcp::add);
        }
        assertThat(peer.openDescriptors()).as("sockets of " + peer).doesNotContainAnyElementsOf(tcp);
    }

    @ParameterizedTest
    @EnumSource
    void requestsAndLargeBodies_arriveUnchanged(Programs programs) throws Exception {
        Peer server = startServer(programs);
        Peer client = startClient(programs, server.awaitReady(), REQUESTS, BODY_BYTES);
        await().atMost(PATIENCE).until(() -> {
            if (client.isAlive()) {
                assertNoTcp(server);
                assertNoTcp(client);
            }
            return !client.isAlive();
        });
        String figures = client.awaitSuccess(PATIENCE);
        assertThat(figures).contains("OK requests=" + REQUESTS + " ").contains(" body=" + BODY_BYTES + " ");
        System.out.println(programs + " over soft0: " + figures.substring(figures.indexOf("OK ")));
    }

    /** The server goes on for others. Each is killed after its first request, which has stored a file. */
    @ParameterizedTest
    @EnumSource
    void clientsThatAreKilled_doNoHarm(Programs programs) throws Exception {
        Peer server = startServer(programs);
        int port = server.awaitReady();
        for (int i = 0; i < KILLS; i++) {
            deleteStoredFiles();
            Peer killed = startClient(programs, port, ENDLESS_REQUESTS, SMALL_BODY_BYTES);
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> !storedFiles().isEmpty() || !killed.isAlive());
            assertThat(killed.isAlive()).as(killed::output).isTrue();
            killed.kill();
        }
        Peer client = startClient(programs, port, FEW_REQUESTS, SMALL_BODY_BYTES);
        assertThat(client.awaitSuccess(PATIENCE)).contains("OK requests=" + FEW_REQUESTS + " ");
    }

    private List<Path> storedFiles() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("files"))) {
            return files.toList();
        }
    }

    private void deleteStoredFiles() throws IOException {
        for (Path file : storedFiles()) {
            Files.deleteIfExists(file);
        }
    }
}
