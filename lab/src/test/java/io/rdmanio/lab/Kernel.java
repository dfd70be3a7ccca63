package io.rdmanio.lab;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the guest's kernel tells about RDMA resources, sockets and descriptors. */
final class Kernel {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final long PATIENCE_SECONDS = 30;

    private static boolean warm; // guarded by the class

    /** One line of {@code rdma resource show}: whose a queue pair or an id is, and on which device. */
    record Resource(String link, String line) {
        private static final Pattern OWNER = Pattern.compile(".*\\bpid (\\d+)\\b.*");

        /** The thread that created it; 0 if that is one of the kernel's own. */
        long owner() {
            Matcher matcher = OWNER.matcher(line);
            return matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
        }

        boolean has(String words) {
            return Pattern.compile("\\b" + Pattern.quote(words) + "(\\s|$)")
                    .matcher(line)
                    .find();
        }
    }

    private Kernel() {}

    /** Does once what opens descriptors for good, so that a count before a test is comparable to one after it. */
    static synchronized void warmUp() throws IOException {
        if (!warm) {
            queuePairs();
            openDescriptors();
            warm = true;
        }
    }

    /** The connected-type queue pairs of all processes. */
    static List<Resource> queuePairs() throws IOException {
        return resources("qp").stream().filter(qp -> qp.has("type RC")).toList();
    }

    /** Whether the process listens on the port: with a communication id, or with a kernel socket if that is the run. */
    static boolean listens(Peer peer, int port) throws IOException {
        if (Lab.RDMA) {
            return resources("cm_id").stream()
                    .anyMatch(id -> id.owner() == peer.pid() && id.has("state LISTEN") && id.line.contains(":" + port));
        }
        String suffix = ":%04X".formatted(port);
        return tcpSockets().anyMatch(fields -> fields[1].endsWith(suffix) && fields[3].equals("0A"));
    }

    private static List<Resource> resources(String kind) throws IOException {
        return rdma("resource", "show", kind)
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("link "))
                .map(line -> new Resource(line.split("[ /]", 3)[1], line))
                .toList();
    }

    /** What the rdma tool prints; it asks the kernel, which may hold it up as long as it holds a device's locks. */
    private static String rdma(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("rdma"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Output output = new Output("rdma", process.getInputStream());
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(command + " has not ended within " + PATIENCE_SECONDS + " s"
                        + whereItWaits(process.pid()) + "\n" + output.text());
            }
            output.awaitEnd(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + command + " ran");
        }
        return output.text();
    }

    /** The state of a process's threads and the kernel functions that they wait in, for messages. */
    static String whereItWaits(long pid) {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path task : tasks.toList()) {
                String state = Files.readString(task.resolve("stat")).replaceFirst(".*\\) (.).*\\R?", "$1");
                text.append("\n  ")
                        .append(Files.readString(task.resolve("comm")).strip())
                        .append(" is ")
                        .append(state)
                        .append(" in ")
                        .append(Files.readString(task.resolve("wchan")).strip());
            }
        } catch (IOException e) {
            text.append(" (").append(e).append(')');
        }
        return text.toString();
    }

    /** How many descriptors this JVM has open. */
    static long openDescriptors() throws IOException {
        try (Stream<Path> links = Files.list(DESCRIPTORS)) {
            return links.count();
        }
    }

    /** What /proc/PID/fd calls the TCP sockets of all processes, of both families and in every state. */
    static List<String> tcpSocketNames() throws IOException {
        return tcpSockets().map(fields -> "socket:[" + fields[9] + "]").toList();
    }

    private static Stream<String[]> tcpSockets() throws IOException {
        return Stream.concat(
                        Files.readAllLines(Path.of("/proc/net/tcp")).stream().skip(1),
                        Files.readAllLines(Path.of("/proc/net/tcp6")).stream().skip(1))
                .map(line -> line.strip().split("\\s+", -1));
    }

    /** A counter of the device's port. */
    static long counter(Device device, String name) throws IOException {
        Path file = Path.of("/sys/class/infiniband", device.link, "ports/1/hw_counters", name);
        return Long.parseLong(Files.readString(file).strip());
    }
}
