package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/** What a process has that must not grow. Stateless. */
final class ProcessState {
    private static final String RESIDENT_SHARED = "RssShmem";
    // Numbers are used again as late as possible, so the tables by number are touched little by little; and two areas
    // are in use at once when the peer is late to let go of the one before.
    private static final long SETTLING_KILOBYTES = 256;

    private ProcessState() {}

    /**
     * Descriptors and threads of each kind, mappings of shared memory, objects of each of our classes that are
     * reachable, and what shared memory takes. Collects garbage.
     */
    static Map<String, Long> now() throws IOException {
        Map<String, Long> found = new TreeMap<>();
        addObjects(found);
        LeakCheck.descriptors().forEach(target -> found.merge("descriptor " + target, 1L, Long::sum));
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdmanio-"))
                .forEach(thread -> found.merge("thread " + thread.getName(), 1L, Long::sum));
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            maps.filter(line -> line.contains("/memfd:"))
                    .forEach(line -> found.merge("mapping " + line.substring(line.indexOf("/memfd:")), 1L, Long::sum));
        }
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            lines.filter(line -> line.startsWith(RESIDENT_SHARED))
                    .forEach(line -> found.put(RESIDENT_SHARED, Long.parseLong(line.replaceAll("\\D", ""))));
        }
        return found;
    }

    private static void addObjects(Map<String, Long> found) throws IOException {
        try {
            // With garbage collected twice, what had to wait for a cleaner is gone.
            histogram();
            histogram().lines().map(line -> line.strip().split("\\s+")).forEach(columns -> {
                if (columns.length >= 4 && isOurs(columns[3])) {
                    found.put("object " + columns[3], Long.parseLong(columns[1]));
                }
            });
        } catch (JMException e) {
            throw new IOException(e);
        }
    }

    private static boolean isOurs(String className) {
        return className.startsWith("io.rdmanio.") && !className.contains("Test$");
    }

    private static String histogram() throws JMException {
        return (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
    }

    /** What has grown, by name, as text; empty when nothing has. */
    static Map<String, String> growth(Map<String, Long> before, Map<String, Long> after) {
        Map<String, String> grown = new TreeMap<>();
        after.forEach((name, count) -> {
            long former = before.getOrDefault(name, 0L);
            long settling = name.equals(RESIDENT_SHARED) ? SETTLING_KILOBYTES : 0;
            if (count > former + settling) {
                grown.put(name, former + " -> " + count);
            }
        });
        return grown;
    }
}
