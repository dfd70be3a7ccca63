package io.rdmanio.verbs.ffm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A shared library, loaded when it is first needed and never unloaded; or the reason why there is none. Thread-safe:
 * {@code load} is synchronized, everything else immutable.
 */
final class NativeLibrary {
    /** libibverbs. The property names another file, for tests. */
    static final NativeLibrary IBVERBS = new NativeLibrary(
            "io.rdmanio.ibverbs.library", "libibverbs.so.1", "libibverbs1 (Debian, Ubuntu) or libibverbs");
    /** librdmacm. The property names another file, for tests. */
    static final NativeLibrary RDMACM = new NativeLibrary(
            "io.rdmanio.rdmacm.library", "librdmacm.so.1", "librdmacm1 (Debian, Ubuntu) or librdmacm");

    private final String fileName;
    private final String packageName;
    private SymbolLookup lookup;
    private String reason;

    private NativeLibrary(String property, String defaultFileName, String packageName) {
        this.fileName = System.getProperty(property, defaultFileName);
        this.packageName = packageName;
    }

    /** Loads the library. Returns a sentence with cause and cure when it can't be loaded. */
    @SuppressWarnings("restricted")
    synchronized Optional<String> load() {
        if (lookup == null && reason == null) {
            try {
                lookup = SymbolLookup.libraryLookup(fileName, Arena.global());
            } catch (IllegalArgumentException e) {
                reason = "The library " + fileName + " can't be loaded (" + e.getMessage() + "); install the package "
                        + packageName + ".";
            } catch (IllegalCallerException e) {
                reason = "This JVM denies native access to rdma-nio (" + e.getMessage()
                        + "); start it with --enable-native-access=io.rdmanio.verbs, or ALL-UNNAMED on the class path.";
            }
        }
        return Optional.ofNullable(reason);
    }

    /** A function's address. Call after {@link #load} returned no reason. */
    synchronized Optional<MemorySegment> find(String function) {
        return lookup.find(function);
    }

    /** The file behind the library, whose name holds its version, for messages. */
    String version() {
        String stem = fileName.substring(fileName.lastIndexOf('/') + 1).replaceFirst("\\.so.*", ".so");
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.map(line -> line.substring(line.lastIndexOf('/') + 1))
                    .filter(name -> name.startsWith(stem))
                    .findFirst()
                    .orElse(fileName);
        } catch (IOException e) {
            return fileName;
        }
    }
}
