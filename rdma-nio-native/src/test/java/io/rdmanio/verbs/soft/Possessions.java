package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What of the software device a process has: descriptors of each kind, mappings of shared memory, threads. Stateless. */
final class Possessions {
    private Possessions() {}

    /** How many of each there are now. */
    static Map<String, Integer> now() throws IOException {
        Map<String, Integer> found = new TreeMap<>();
        LeakCheck.descriptors().forEach(target -> found.merge(target.replaceFirst(":\\d+$", ""), 1, Integer::sum));
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            found.put("mappings", (int)
                    maps.filter(line -> line.contains("/memfd:")).count());
        }
        found.put("threads", (int) Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdmanio-"))
                .count());
        return found;
    }

    /** The same once they are as expected, or when the time is over. */
    static Map<String, Integer> settled(Map<String, Integer> expected, long patienceNanos)
            throws IOException, InterruptedException {
        long begin = System.nanoTime();
        Map<String, Integer> found = now();
        while (!found.equals(expected) && System.nanoTime() - begin < patienceNanos) {
            Thread.sleep(5);
            found = now();
        }
        return found;
    }
}
