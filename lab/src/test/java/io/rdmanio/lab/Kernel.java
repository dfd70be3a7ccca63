package io.rdmanio.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the guest's kernel tells about RDMA resources, sockets and descriptors. */
final class Kernel {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

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
    static void warmUp() throws IOException {
        queuePairs();
        openDescriptors();
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
        Process process = new ProcessBuilder("rdma", "resource", "show", kind)
                .redirectErrorStream(true)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        return text.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("link "))
                .map(line -> new Resource(line.split("[ /]", 3)[1], line))
                .toList();
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
