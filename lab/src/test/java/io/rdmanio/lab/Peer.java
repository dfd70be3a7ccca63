package io.rdmanio.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A process of a test: started, awaited with a deadline, killed. A deadline that passes is an AssertionError with what
 * the process printed, with its stacks if it is a JVM. Made by {@link Guest}, which ends it with the test.
 */
final class Peer {
    private static final Duration READY_PATIENCE = Duration.ofSeconds(30);
    private static final Duration KILL_PATIENCE = Duration.ofSeconds(30);

    private final String name;
    private final boolean jvm;
    private final Process process;
    private final Output output;

    Peer(String name, boolean jvm, List<String> command, Map<String, String> environment, Path directory)
            throws IOException {
        this.name = name;
        this.jvm = jvm;
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        process = builder.start();
        output = new Output(name, process.getInputStream());
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String output() {
        return output.text();
    }

    /** Waits for the line in which a server says that it listens, and returns its port. */
    int awaitReady() throws InterruptedException {
        return Integer.parseInt(awaitLine("READY ", READY_PATIENCE).substring("READY ".length()));
    }

    /** Waits for a line that starts so. */
    String awaitLine(String start, Duration patience) throws InterruptedException {
        return output.await(line -> line.startsWith(start), patience.toMillis(), TimeUnit.MILLISECONDS)
                .orElseThrow(() -> failure("has not printed '" + start + "' within " + patience.toSeconds() + " s"));
    }

    /** Waits for the end of the process and of its output, and returns its exit status. */
    int awaitExit(Duration patience) throws InterruptedException {
        if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw failure("has not ended within " + patience.toSeconds() + " s");
        }
        output.awaitEnd(5, TimeUnit.SECONDS);
        return process.exitValue();
    }

    /** Waits for the process to end with status 0, and returns what it printed. */
    String awaitSuccess(Duration patience) throws InterruptedException {
        int status = awaitExit(patience);
        if (status != 0) {
            throw new AssertionError(name + " ended with status " + status + "\n" + output());
        }
        return output();
    }

    /** Waits until a program that was told to hold says that it does. */
    void awaitHeld() throws InterruptedException {
        awaitLine("HELD", READY_PATIENCE);
    }

    /** Lets a program that holds go on. */
    void release() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** Tells a program that reads its standard input that it is over. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** Kills as kill -9 does, and waits for the corpse. A process that the kernel holds up fails the test. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError(this + " was killed and has not ended within " + KILL_PATIENCE.toSeconds() + " s"
                    + Kernel.whereItWaits(pid()));
        }
    }

    /** The threads of the process, as the kernel numbers them; none if it is gone. */
    Set<Long> threads() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
            return tasks.map(task -> Long.valueOf(task.getFileName().toString()))
                    .collect(Collectors.toSet());
        } catch (NoSuchFileException | UncheckedIOException _) {
            return Set.of();
        }
    }

    /** What the process holds open: the targets of the links below /proc/PID/fd; nothing if it is gone. */
    List<String> openDescriptors() throws IOException {
        List<String> targets = new ArrayList<>();
        try (Stream<Path> links = Files.list(Path.of("/proc", Long.toString(pid()), "fd"))) {
            for (Path link : links.toList()) {
                try {
                    targets.add(Files.readSymbolicLink(link).toString());
                } catch (NoSuchFileException _) {
                    // Closed since it was listed.
                }
            }
        } catch (NoSuchFileException | UncheckedIOException _) {
            return List.of();
        }
        return targets;
    }

    private AssertionError failure(String what) {
        if (jvm && process.isAlive()) {
            addStacks();
        }
        return new AssertionError(name + " " + what + "\n" + output());
    }

    /** Asks the JVM for its stacks, which it prints. */
    private void addStacks() {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(pid())).start().waitFor(5, TimeUnit.SECONDS);
            output.await(line -> line.startsWith("Heap"), 10, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new AssertionError("no kill command", e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return name + " (process " + pid() + ")";
    }
}
