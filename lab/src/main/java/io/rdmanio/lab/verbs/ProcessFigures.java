package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What Linux tells of a process (proc(5)): for each thread, by number and name, how long it has run, and how much of what
 * else the process has. Immutable.
 *
 * @param ranNanos of each thread
 * @param descriptors that are open
 * @param residentBytes that are in memory
 * @param residentSharedBytes of those, what is shared memory
 * @param mappedSharedBytes how much shared memory is mapped
 * @param mappings how many mappings there are
 */
record ProcessFigures(
        Map<String, Long> ranNanos,
        int descriptors,
        long residentBytes,
        long residentSharedBytes,
        long mappedSharedBytes,
        int mappings) {
    private static final String OUR_THREADS = "rdmanio-";
    private static final String MAIN_THREAD = "java";
    private static final int HEX = 16;
    private static final long KIB = 1024;

    /** Looks at a process of this user. */
    static ProcessFigures of(long processId) throws IOException {
        Path process = Path.of("/proc", Long.toString(processId));
        long shared = 0;
        List<String> maps = Files.readAllLines(process.resolve("maps"));
        for (String mapping : maps) {
            if (mapping.contains("/memfd:")) {
                String[] bounds = mapping.substring(0, mapping.indexOf(' ')).split("-", -1);
                shared += Long.parseLong(bounds[1], HEX) - Long.parseLong(bounds[0], HEX);
            }
        }
        List<String> status = Files.readAllLines(process.resolve("status"));
        return new ProcessFigures(
                threads(process.resolve("task")),
                entries(process.resolve("fd")).size(),
                kib(status, "VmRSS:") * KIB,
                kib(status, "RssShmem:") * KIB,
                shared,
                maps.size());
    }

    private static List<Path> entries(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    private static Map<String, Long> threads(Path tasks) throws IOException {
        Map<String, Long> threads = new HashMap<>();
        for (Path task : entries(tasks)) {
            try {
                String name = Files.readString(task.resolve("comm")).strip() + " " + task.getFileName();
                String ran = Files.readString(task.resolve("schedstat")).split(" ", -1)[0];
                threads.put(name, Long.parseLong(ran));
            } catch (IOException e) {
                if (Files.exists(task)) {
                    throw e;
                }
                // Else the thread has ended meanwhile.
            }
        }
        return threads;
    }

    private static long kib(List<String> status, String name) {
        return status.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }

    /** How long the threads that are ours ran since an earlier look: the device's own, and the main thread, which calls it. */
    long ourNanosSince(ProcessFigures earlier) {
        return nanosSince(earlier, true);
    }

    /** How long all threads ran since an earlier look, those of the JVM's own included. */
    long allNanosSince(ProcessFigures earlier) {
        return nanosSince(earlier, false);
    }

    private long nanosSince(ProcessFigures earlier, boolean oursOnly) {
        return ranNanos.entrySet().stream()
                .filter(thread -> !oursOnly
                        || thread.getKey().startsWith(OUR_THREADS)
                        || thread.getKey().startsWith(MAIN_THREAD + " "))
                .mapToLong(thread -> thread.getValue() - earlier.ranNanos.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    /** Whether there is a thread of the device. */
    boolean hasDeviceThread() {
        return ranNanos.keySet().stream().anyMatch(name -> name.startsWith(OUR_THREADS));
    }
}
