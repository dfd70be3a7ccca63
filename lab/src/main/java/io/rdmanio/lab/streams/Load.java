package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Other work on each processor that this process may use: a process there that does not pause. For one thread. */
final class Load implements AutoCloseable {
    private final List<Child> children = new ArrayList<>();

    /** Starts it; returns when all of it is at work. */
    Load() throws IOException {
        try {
            for (int processor : processors()) {
                children.add(new Child(
                        "load on processor " + processor,
                        List.of(
                                "taskset",
                                "-c",
                                Integer.toString(processor),
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:+UseSerialGC",
                                "-Xmx16m",
                                "-cp",
                                System.getProperty("java.class.path"),
                                BusyLoop.class.getName())));
            }
            for (Child child : children) {
                child.awaitStart("STARTED");
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static List<Integer> processors() throws IOException {
        String allowed = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .findFirst()
                .orElseThrow(() -> new IOException("the kernel does not tell which processors this process may use"));
        return processors(allowed.substring(allowed.indexOf(':') + 1).strip());
    }

    /** The numbers in a list such as {@code 0,2-3}. */
    static List<Integer> processors(String list) {
        List<Integer> processors = new ArrayList<>();
        for (String range : list.split(",", -1)) {
            String[] bounds = range.split("-", -1);
            IntStream.rangeClosed(Integer.parseInt(bounds[0]), Integer.parseInt(bounds[bounds.length - 1]))
                    .forEach(processors::add);
        }
        return processors;
    }

    @Override
    public void close() throws IOException {
        for (Child child : children) {
            child.close();
        }
    }
}
