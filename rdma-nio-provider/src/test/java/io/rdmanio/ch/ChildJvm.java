package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that runs a program of this test class path with a provider as its default one. Not thread-safe. */
final class ChildJvm implements AutoCloseable {
    private final Process process;

    private ChildJvm(Process process) {
        this.process = process;
    }

    /**
     * Starts a program.
     *
     * @param provider whose class the JVM is told to use, by the system property
     * @param arguments the last of the program's arguments, each turned into text; an address becomes two
     */
    static ChildJvm of(SelectorProvider provider, Class<?> program, Object... arguments) throws IOException {
        return start(
                List.of("-Djava.nio.channels.spi.SelectorProvider="
                        + provider.getClass().getName()),
                program,
                arguments);
    }

    /** Starts a program with flags of one's own. */
    static ChildJvm start(List<String> flags, Class<?> program, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED"));
        String policy = System.getProperty("io.rdmanio.policy");
        if (policy != null) {
            command.add("-Dio.rdmanio.policy=" + policy);
        }
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        for (Object argument : arguments) {
            if (argument instanceof InetSocketAddress address) {
                command.add(address.getAddress().getHostAddress());
                command.add(Integer.toString(address.getPort()));
            } else {
                command.add(argument.toString());
            }
        }
        return new ChildJvm(
                new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Waits for the program's end; returns what it printed. */
    String output() throws IOException, InterruptedException {
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(output).isTrue();
        return output;
    }

    int exitValue() {
        return process.exitValue();
    }

    /** Kills it, as by {@code kill -9}. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
