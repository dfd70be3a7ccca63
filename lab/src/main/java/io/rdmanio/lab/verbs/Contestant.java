package io.rdmanio.lab.verbs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process whose speed is measured: it gets commands by its input and answers by its output. For one thread. */
final class Contestant implements Team {
    private static final int LIFE_SECONDS = 180;
    private static final int END_SECONDS = 20;

    private final List<String> command;
    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private boolean started;

    /** Starts it. It is killed when it lives too long, so that whoever waits for its answer gets none. */
    Contestant(List<String> command) throws IOException {
        this.command = List.copyOf(command);
        process = new ProcessBuilder(this.command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("watchdog").start(this::limitLife);
    }

    private void limitLife() {
        try {
            if (!process.waitFor(LIFE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the port of a server. */
    String awaitPort() throws IOException {
        return answer("READY ");
    }

    private String answer(String start) throws IOException {
        String line = output.readLine();
        if (line == null || !line.startsWith(start)) {
            throw new IOException(command + " said " + line + " instead of " + start);
        }
        return line.substring(start.length());
    }

    long processId() {
        return process.pid();
    }

    @Override
    public Report obey(String order) throws IOException {
        begin(order);
        return report();
    }

    /** Gives a command, once it has started. */
    void begin(String order) throws IOException {
        if (!started) {
            answer("STARTED");
            started = true;
        }
        input.write(order + "\n");
        input.flush();
    }

    /** Waits for the end of a command. */
    Report report() throws IOException {
        String[] numbers = answer("TOOK ").split(" ", -1);
        return new Report(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }

    /** Ends its input, and waits for it to end well. */
    @Override
    public void close() throws IOException {
        try (output) {
            input.close();
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(command + " does not end");
            }
            if (process.exitValue() != 0) {
                throw new IOException(command + " ended with status " + process.exitValue());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + command + " ends");
        } finally {
            process.destroyForcibly();
        }
    }
}
