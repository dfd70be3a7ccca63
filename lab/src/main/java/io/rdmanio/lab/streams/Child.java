package io.rdmanio.lab.streams;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A JVM that gets commands by its input and answers by its output, in time or not at all: when an answer does not come, the
 * exception has the stacks of those threads that could be to blame. For one thread.
 */
final class Child implements AutoCloseable {
    private static final int END_SECONDS = 15;
    private static final int STACKS_SECONDS = 10;
    private static final int START_SECONDS = 30;
    private static final int SHOWN_COMPLAINTS = 6;
    private static final int KEPT_COMPLAINTS = 30;
    /** What lines of the JVM's unified logging begin with. */
    private static final String JVM_LOG = "[";

    private static final String OUTPUT_ENDED = "it ended before it answered";
    private static final List<String> PROGRAM_THREADS = List.of("\"main\"", "\"rdma-nio-", "\"rdmanio-");

    private final String name;
    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Thread complaintReader;
    private final Deque<String> lastComplaints = new ArrayDeque<>();
    private boolean failed;

    /**
     * Starts it.
     *
     * @param name what messages call it
     */
    Child(String name, List<String> command) throws IOException {
        this.name = name;
        process = new ProcessBuilder(command).start();
        input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + name).start(this::readLines);
        complaintReader =
                Thread.ofPlatform().daemon().name("complaints of " + name).start(this::readComplaints);
    }

    private void readLines() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(this::heed);
        } catch (IOException | UncheckedIOException e) {
            lines.add("its output broke: " + e);
        }
        lines.add(OUTPUT_ENDED);
    }

    /** Shows what its JVM says, as of a profiler that begins, and keeps what the program says. */
    private void heed(String line) {
        if (line.startsWith(JVM_LOG)) {
            System.err.println(name + ": " + line);
        } else {
            lines.add(line);
        }
    }

    /** Shows the beginning of what it complains of, and keeps the end for when it fails. */
    private void readComplaints() {
        try (BufferedReader complaints =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            int shown = 0;
            for (String line = complaints.readLine(); line != null; line = complaints.readLine()) {
                if (++shown <= SHOWN_COMPLAINTS) {
                    System.err.println(name + ": " + line);
                } else {
                    keepComplaint(line);
                }
            }
        } catch (IOException e) {
            keepComplaint("what it says can't be read: " + e);
        }
    }

    private void keepComplaint(String line) {
        synchronized (lastComplaints) {
            lastComplaints.add(line);
            if (lastComplaints.size() > KEPT_COMPLAINTS) {
                lastComplaints.removeFirst();
            }
        }
    }

    private String lastComplaints() throws InterruptedException {
        complaintReader.join(TimeUnit.SECONDS.toMillis(1));
        synchronized (lastComplaints) {
            return lastComplaints.stream().map(line -> "\n  " + line).collect(Collectors.joining());
        }
    }

    long processId() {
        return process.pid();
    }

    /** Waits for what it says once, at its start, behind this word. */
    String awaitStart(String word) throws IOException {
        return await(word, "its start", START_SECONDS);
    }

    void begin(String order) throws IOException {
        input.write(order + "\n");
        input.flush();
    }

    /** Waits for the answer to an order, which starts with this word; returns the rest. */
    String await(String word, String order, int seconds) throws IOException {
        try {
            String line = lines.poll(seconds, TimeUnit.SECONDS);
            if (line != null && line.startsWith(word + " ")) {
                return line.substring(word.length() + 1);
            }
            failed = true;
            String reason = line == null ? "no answer in " + seconds + " s; it is at\n" + stacks() : line;
            throw new IOException("the " + name + " failed at '" + order + "': " + reason + lastComplaints());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the " + name + " works");
        }
    }

    /** The stacks of the program's threads and of the provider's. */
    private String stacks() throws IOException, InterruptedException {
        Path dump = Files.createTempFile("stacks", ".txt");
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(process.pid()),
                        "Thread.print")
                .redirectErrorStream(true)
                .redirectOutput(dump.toFile())
                .start();
        try {
            return jcmd.waitFor(STACKS_SECONDS, TimeUnit.SECONDS)
                    ? stacksOfProgram(Files.readString(dump))
                    : "an unknown place; jcmd tells nothing in " + STACKS_SECONDS + " s";
        } finally {
            jcmd.destroyForcibly();
            Files.delete(dump);
        }
    }

    /**
     * Of a thread dump, the threads that the program and the provider have started, without idle ones of a pool and without
     * the frames of which a call into C consists.
     */
    static String stacksOfProgram(String dump) {
        return Arrays.stream(dump.split("\n\n", -1))
                .filter(stack -> PROGRAM_THREADS.stream().anyMatch(stack::startsWith))
                .filter(stack -> !stack.contains("ThreadPoolExecutor.getTask("))
                .map(stack -> stack.lines()
                        .filter(line -> !line.contains("java.lang.invoke.LambdaForm") && !line.contains("DowncallStub"))
                        .collect(Collectors.joining("\n")))
                .collect(Collectors.joining("\n\n"));
    }

    /** Ends its input, and waits for it to end well, unless that is known not to come. */
    @Override
    public void close() throws IOException {
        if (failed) {
            process.destroyForcibly();
            return;
        }
        try {
            input.close();
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the " + name + " does not end; it is at\n" + stacks());
            }
            if (process.exitValue() != 0) {
                throw new IOException("the " + name + " ended with status " + process.exitValue());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the " + name + " ends");
        } finally {
            process.destroyForcibly();
        }
    }
}
