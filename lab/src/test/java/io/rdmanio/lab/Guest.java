package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * The guest as one test sees it: starts its processes, and after the test kills what is left of them and checks that
 * nothing stays behind: no crash report of a JVM, no queue pair in the kernel, no descriptor in this JVM. When the test
 * fails, what its processes printed is part of the failure. One thread.
 */
final class Guest implements BeforeEachCallback, AfterEachCallback, TestExecutionExceptionHandler {
    private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    static {
        // By default the first look comes after a pause, though what is awaited here is there already as a rule.
        Awaitility.setDefaultPollDelay(Duration.ZERO);
    }

    private final List<Peer> peers = new ArrayList<>();
    private Path directory;
    private long descriptorsBefore;

    /** Starts one of the programs in a JVM of its own. */
    Peer java(String program, String... args) throws IOException {
        return javaWith(List.of(), program, args);
    }

    /** The same with further JVM flags. */
    Peer javaWith(List<String> jvmFlags, String program, String... args) throws IOException {
        return start(program, true, Lab.java(jvmFlags, program, args), Map.of());
    }

    /** The same with its start in the hands of a shell command, which reads the program's command as its arguments. */
    Peer javaUnder(String shell, String program, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of("bash", "-c", shell, "bash"));
        command.addAll(Lab.java(List.of(), program, args));
        return start(program, true, command, Map.of());
    }

    /** Starts one of the programs that use verbs in a JVM of its own. */
    Peer verbs(String program, String... args) throws IOException {
        return start(program, true, Lab.verbs(program, args), Map.of());
    }

    /** Starts a program that is no JVM. */
    Peer command(Map<String, String> environment, String... command) throws IOException {
        return start(Path.of(command[0]).getFileName().toString(), false, List.of(command), environment);
    }

    private Peer start(String name, boolean jvm, List<String> command, Map<String, String> environment)
            throws IOException {
        Peer peer = new Peer(name, jvm, command, environment, directory);
        peers.add(peer);
        return peer;
    }

    /** Runs a command of the system to its end, and returns what it printed. */
    String run(String... command) throws IOException, InterruptedException {
        return command(Map.of(), command).awaitSuccess(PATIENCE);
    }

    /** Where rdma-core's library is that takes a program's sockets over, for LD_PRELOAD. */
    String preloadLibrary() throws IOException, InterruptedException {
        return run("dpkg-query", "-L", "librdmacm1")
                .lines()
                .filter(file -> file.endsWith("/librspreload.so"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the package librdmacm1 has no librspreload.so"));
    }

    /** A port that no test of this run was given before, for programs that cannot choose one themselves. */
    static int freshPort() {
        return NEXT_PORT.getAndIncrement();
    }

    /** A new folder on the guest's own file system. */
    Path folder(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        directory = Files.createTempDirectory("lab-");
        Kernel.warmUp();
        descriptorsBefore = Kernel.openDescriptors();
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        for (Peer peer : peers) {
            failure.addSuppressed(new AssertionError(peer + " printed\n" + peer.output()));
        }
        throw failure;
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException, InterruptedException {
        for (Peer peer : peers) {
            peer.kill();
        }
        await("the end of all processes that the test started")
                .atMost(PATIENCE)
                .until(() -> children().isEmpty());
        await("a kernel without queue pairs")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Kernel.queuePairs()).isEmpty());
        await("the descriptors of this JVM as before the test")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Kernel.openDescriptors()).isLessThanOrEqualTo(descriptorsBefore));
        assertThat(crashReports()).as("crash reports of JVMs").isEmpty();
        delete(directory);
    }

    private static List<ProcessHandle> children() {
        return ProcessHandle.current()
                .descendants()
                .filter(ProcessHandle::isAlive)
                .toList();
    }

    private List<String> crashReports() throws IOException {
        List<String> reports = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(f -> f.getFileName().toString().startsWith("hs_err"))
                    .toList()) {
                reports.add(Files.readString(file));
            }
        }
        return reports;
    }

    private static void delete(Path root) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(root)) {
            files = new ArrayList<>(walk.toList());
        }
        Collections.reverse(files);
        for (Path file : files) {
            Files.delete(file);
        }
    }
}
