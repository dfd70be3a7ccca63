package io.rdmanio.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * How many threads of the whole host run or want to, as {@code /proc/loadavg} has it (proc(5)). In a container that is the
 * host's number, too, which is what counts for whoever wants to know whether a processor is free.
 *
 * <p>Thread-safe; one system call, no allocation.
 */
public final class RunnableThreads {
    private static final NativeFunction PREAD = Downcall.libc("pread");
    private static final int BUFFER_BYTES = 128;
    /** "0.20 0.18 0.12 1/80 11206": the number stands behind three averages. */
    private static final int FIELD = 3;
    // Never closed: there is one for the process.
    private static final int DESCRIPTOR = open();

    private RunnableThreads() {}

    private static int open() {
        try {
            return FileDescriptors.open("/proc/loadavg", FileDescriptors.O_RDONLY | FileDescriptors.O_CLOEXEC);
        } catch (SystemCallException e) {
            return -1;
        }
    }

    /**
     * Counts them.
     *
     * @return the number at this moment, the caller included; 0 when the system does not tell
     */
    public static int count() {
        if (DESCRIPTOR < 0) {
            return 0;
        }
        try (CallFrame frame = CallFrame.enter()) {
            long length = Downcall.call(PREAD, frame, DESCRIPTOR, frame.argumentsAddress(), BUFFER_BYTES, 0);
            return length <= 0 ? 0 : parse(frame.arguments(), length);
        }
    }

    static int parse(MemorySegment text, long length) {
        int spaces = 0;
        int number = 0;
        for (long i = 0; i < length; i++) {
            byte character = text.get(ValueLayout.JAVA_BYTE, i);
            if (character == ' ') {
                spaces++;
            } else if (spaces == FIELD) {
                if (character == '/') {
                    return number;
                }
                number = 10 * number + character - '0';
            }
        }
        return 0;
    }
}
