package io.rdmanio.lab.verbs;

import io.rdmanio.lab.host.ThreadTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What Linux tells of a process (proc(5)): how long its threads have run, and how much of what else it has. Immutable.
 *
 * @param threads how long each has run
 * @param descriptors that are open
 * @param residentBytes that are in memory
 * @param residentSharedBytes of those, what is shared memory
 * @param mappedSharedBytes how much shared memory is mapped
 * @param mappings how many mappings there are
 */
record ProcessFigures(
        ThreadTimes threads,
        int descriptors,
        long residentBytes,
        long residentSharedBytes,
        long mappedSharedBytes,
        int mappings) {
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
                ThreadTimes.of(processId),
                descriptors(process.resolve("fd")),
                kib(status, "VmRSS:") * KIB,
                kib(status, "RssShmem:") * KIB,
                shared,
                maps.size());
    }

    private static int descriptors(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return Math.toIntExact(entries.count());
        }
    }

    private static long kib(List<String> status, String name) {
        return status.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }
}
