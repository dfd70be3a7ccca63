package io.rdmanio.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The process's resource limits (getrlimit(2)) and what the system has left. Stateless and safe for use by any thread.
 */
public final class ResourceLimits {
    private static final NativeFunction GETRLIMIT = Downcall.libc("getrlimit");
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String AVAILABLE = "MemAvailable:";
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String EFFECTIVE_CAPABILITIES = "CapEff:";
    private static final int HEXADECIMAL = 16;
    private static final int CAP_IPC_LOCK = 14;
    static final int RLIMIT_NOFILE = 7;
    static final int RLIMIT_MEMLOCK = 8;

    private ResourceLimits() {}

    /**
     * How many bytes the process may lock in memory (RLIMIT_MEMLOCK, the soft limit), which bounds what it may
     * register. Does not block.
     *
     * @return the bytes; -1 when there is no limit, -2 when it can't be read
     */
    public static long lockedMemoryBytes() {
        return softLimit(RLIMIT_MEMLOCK);
    }

    /**
     * How many bytes the process may lock in memory, taking into account that CAP_IPC_LOCK lifts the limit
     * ({@code CapEff} of /proc/self/status). Reads a file.
     *
     * @return the bytes; -1 when there is no limit, or it can't be read
     */
    public static long lockableMemoryBytes() {
        long limit = lockedMemoryBytes();
        return limit < 0 || hasCapability(CAP_IPC_LOCK) ? -1 : limit;
    }

    private static boolean hasCapability(int capability) {
        return firstNumber(STATUS, EFFECTIVE_CAPABILITIES, text -> Long.parseUnsignedLong(text.strip(), HEXADECIMAL))
                .map(set -> (set >>> capability & 1) != 0)
                .orElse(false);
    }

    /**
     * How many descriptors the process may have open (RLIMIT_NOFILE, the soft limit). Does not block.
     *
     * @return their number; {@link Long#MAX_VALUE} when there is no limit or it can't be read
     */
    public static long openDescriptors() {
        long limit = softLimit(RLIMIT_NOFILE);
        return limit < 0 ? Long.MAX_VALUE : limit;
    }

    private static long softLimit(int resource) {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(GETRLIMIT, frame, resource, frame.argumentsAddress());
            return result == 0 ? frame.arguments().get(ValueLayout.JAVA_LONG, 0) : -2;
        }
    }

    /**
     * How much memory can be taken without pushing others out ({@code MemAvailable} of /proc/meminfo). Whoever takes
     * more is killed rather than told. Reads a file.
     *
     * @return the bytes; {@link Long#MAX_VALUE} when the system does not tell
     */
    public static long availableMemoryBytes() {
        return firstNumber(MEMINFO, AVAILABLE, ResourceLimits::kibibytes).orElse(Long.MAX_VALUE);
    }

    /** The number in the line of a file that begins with a label. */
    private static Optional<Long> firstNumber(Path file, String label, Function<String, Long> parser) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(label))
                    .findFirst()
                    .map(line -> parser.apply(line.substring(label.length())));
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /** The bytes of a number that is followed by "kB". */
    static long kibibytes(String text) {
        return Long.parseLong(text.substring(0, text.indexOf("kB")).strip()) * 1024;
    }
}
