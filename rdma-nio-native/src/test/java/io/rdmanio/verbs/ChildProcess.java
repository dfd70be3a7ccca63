package io.rdmanio.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Another process that a test runs to its end.
 *
 * @param status its exit status
 * @param output what it printed, on either stream
 */
public record ChildProcess(int status, String output) {
    /** The java command of this JVM. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Runs a command; the pipes to it are closed when this returns, whenever the JVM would have done so. */
    public static ChildProcess run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output;
        process.getOutputStream().close();
        process.getErrorStream().close(); // There is a pipe for errors even if they are redirected.
        try (InputStream printed = process.getInputStream()) {
            output = new String(printed.readAllBytes(), StandardCharsets.UTF_8);
        }
        if (!process.waitFor(1, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new AssertionError(command.getFirst() + " does not end; it printed: " + output);
        }
        return new ChildProcess(process.exitValue(), output);
    }

    /** Runs a command that must succeed. */
    public static void succeed(String... command) throws IOException, InterruptedException {
        ChildProcess process = run(List.of(command));
        if (process.status() != 0) {
            throw new IOException(String.join(" ", command) + ": " + process.output());
        }
    }
}
