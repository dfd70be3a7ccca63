package io.rdmanio.lab.verbs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process whose speed is measured: it gets commands by its input and answers by its output. It runs when nothing else
 * wants to (SCHED_IDLE): else the kernel's own thread that does the device's work would have to wait, for milliseconds and
 * by chance, until a process that polls has used up its time. For one thread.
 */
final class Contestant implements AutoCloseable {
    private static final int LIFE_SECONDS = 180;
    private static final int END_SECONDS = 20;

    /** What a command took. */
    record Report(long nanos, long bytes) {}

    private final List<String> command;
    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private boolean started;

    /** Starts it. It is killed when it lives too long, so that whoever waits for its answer gets none. */
    Contestant(List<String> command) throws IOException {
        this.command = new ArrayList<>(List.of("chrt", "--idle", "0"));
        this.command.addAll(command);
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

    /** Gives a command and waits for its end. */
    Report obey(String order) throws IOException {
        if (!started) {
            answer("STARTED");
            started = true;
        }
        input.write(order + "\n");
        input.flush();
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
