package io.rdmanio.linux;

import java.lang.foreign.ValueLayout;

/**
 * The process's resource limits (getrlimit(2)), for messages that name them. Stateless and safe for use by any thread.
 */
public final class ResourceLimits {
    private static final NativeFunction GETRLIMIT = Downcall.libc("getrlimit");
    static final int RLIMIT_MEMLOCK = 8;

    private ResourceLimits() {}

    /**
     * How many bytes the process may lock in memory (RLIMIT_MEMLOCK, the soft limit), which bounds what it may
     * register. Does not block.
     *
     * @return the bytes; -1 when there is no limit, -2 when it can't be read
     */
    public static long lockedMemoryBytes() {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(GETRLIMIT, frame, RLIMIT_MEMLOCK, frame.argumentsAddress());
            return result == 0 ? frame.arguments().get(ValueLayout.JAVA_LONG, 0) : -2;
        }
    }
}
