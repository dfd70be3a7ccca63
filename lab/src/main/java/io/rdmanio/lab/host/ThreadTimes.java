package io.rdmanio.lab.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How long each thread of a process has run, as Linux tells it (proc(5), schedstat), by name and number. Threads that have
 * ended are not among them. Immutable.
 *
 * @param ranNanos of each thread
 */
public record ThreadTimes(Map<String, Long> ranNanos) {
    /** As the names of the provider's threads begin, and those of the software device's. */
    private static final List<String> OUR_THREADS = List.of("rdma-nio-", "rdmanio-");

    private static final String MAIN_THREAD = "java";

    /** Looks at a process of this user. */
    public static ThreadTimes of(long processId) throws IOException {
        Map<String, Long> threads = new HashMap<>();
        for (Path task : tasks(processId)) {
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
        return new ThreadTimes(threads);
    }

    private static List<Path> tasks(long processId) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(processId), "task"))) {
            return tasks.toList();
        }
    }

    /** How long the threads that are ours ran since an earlier look: those of the provider, and the program's main thread. */
    public long ourNanosSince(ThreadTimes earlier) {
        return nanosSince(earlier, true);
    }

    /** How long all threads ran since an earlier look, those of the JVM's own included. */
    public long allNanosSince(ThreadTimes earlier) {
        return nanosSince(earlier, false);
    }

    /** How long all threads have run. */
    public long allNanos() {
        return ranNanos.values().stream().mapToLong(Long::longValue).sum();
    }

    private long nanosSince(ThreadTimes earlier, boolean oursOnly) {
        return ranNanos.entrySet().stream()
                .filter(thread ->
                        !oursOnly || isOurs(thread.getKey()) || thread.getKey().startsWith(MAIN_THREAD + " "))
                .mapToLong(thread -> thread.getValue() - earlier.ranNanos.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    private static boolean isOurs(String name) {
        return OUR_THREADS.stream().anyMatch(name::startsWith);
    }

    /** Whether there is a thread of the provider or of the device. */
    public boolean hasOurThread() {
        return ranNanos.keySet().stream().anyMatch(ThreadTimes::isOurs);
    }
}
