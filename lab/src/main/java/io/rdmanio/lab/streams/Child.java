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
import java.util.Arrays;
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
    private static final String OUTPUT_ENDED = "it ended before it answered";

    private final String name;
    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /**
     * Starts it.
     *
     * @param name what messages call it
     */
    Child(String name, List<String> command) throws IOException {
        this.name = name;
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + name).start(this::readLines);
    }

    private void readLines() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("its output broke: " + e);
        }
        lines.add(OUTPUT_ENDED);
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
        String line;
        try {
            line = lines.poll(seconds, TimeUnit.SECONDS);
            if (line == null) {
                throw new IOException("the " + name + " has not come to the end of '" + order + "' in " + seconds
                        + " s; it is at\n" + stacks());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the " + name + " works");
        }
        if (!line.startsWith(word + " ")) {
            throw new IOException("the " + name + " failed at '" + order + "': " + line);
        }
        return line.substring(word.length() + 1);
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

    /** Of a thread dump, the threads that the program and the provider have started. */
    static String stacksOfProgram(String dump) {
        return Arrays.stream(dump.split("\n\n", -1))
                .filter(stack -> stack.startsWith("\"main\"") || stack.startsWith("\"rdmanio-"))
                .collect(Collectors.joining("\n\n"));
    }

    /** Ends its input, and waits for it to end well. */
    @Override
    public void close() throws IOException {
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
