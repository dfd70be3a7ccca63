package io.rdmanio.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The sockets and memory files that this process has open. */
final class OpenDescriptors {
    private OpenDescriptors() {}

    static List<String> list() {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.map(OpenDescriptors::target)
                    .filter(target -> target.startsWith("socket:") || target.startsWith("/memfd:rdmanio"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            // The descriptor of the listing itself.
            return "";
        }
    }
}
