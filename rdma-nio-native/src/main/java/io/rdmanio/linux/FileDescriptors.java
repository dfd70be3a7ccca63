package io.rdmanio.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;

/** What every descriptor can do: flags (fcntl(2)) and close(2). Stateless and safe for use by any thread. */
public final class FileDescriptors {
    static final int F_DUPFD_CLOEXEC = 1030;
    static final int F_GETFD = 1;
    static final int F_SETFD = 2;
    static final int F_GETFL = 3;
    static final int F_SETFL = 4;
    static final int F_ADD_SEALS = 1033;
    static final int F_GET_SEALS = 1034;
    static final int FD_CLOEXEC = 1;
    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_NONBLOCK = 0x800;
    static final int O_CLOEXEC = 0x80000;

    static final NativeFunction FCNTL = Downcall.libc("fcntl");
    private static final NativeFunction OPEN = Downcall.libc("open");
    private static final NativeFunction CLOSE = Downcall.libc("close");

    private FileDescriptors() {}

    /**
     * Makes a descriptor non-blocking, and closed in programs that this process executes. Does not block.
     *
     * @param fileDescriptor the descriptor
     * @throws IOException when fcntl(2) fails, {@code EBADF} being the one reason
     */
    public static void setNonBlockingAndCloseOnExec(int fileDescriptor) throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            int flags = fcntl(frame, fileDescriptor, F_GETFL, 0);
            fcntl(frame, fileDescriptor, F_SETFL, flags | O_NONBLOCK);
            int descriptorFlags = fcntl(frame, fileDescriptor, F_GETFD, 0);
            fcntl(frame, fileDescriptor, F_SETFD, descriptorFlags | FD_CLOEXEC);
        }
    }

    /**
     * Tells whether a descriptor is non-blocking and closed on exec. Does not block.
     *
     * @param fileDescriptor the descriptor
     * @return true when both flags are set
     * @throws IOException when fcntl(2) fails
     */
    public static boolean isNonBlockingAndCloseOnExec(int fileDescriptor) throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            return (fcntl(frame, fileDescriptor, F_GETFL, 0) & O_NONBLOCK) != 0
                    && (fcntl(frame, fileDescriptor, F_GETFD, 0) & FD_CLOEXEC) != 0;
        }
    }

    private static int fcntl(CallFrame frame, int fileDescriptor, int command, int argument) throws IOException {
        int result = (int) Downcall.callVariadic(FCNTL, frame, fileDescriptor, command, argument);
        if (result < 0) {
            throw Errno.exception("fcntl(" + fileDescriptor + ", " + command + ")", frame.errno());
        }
        return result;
    }

    /**
     * Makes another descriptor of what one stands for. Does not block.
     *
     * @param fileDescriptor the descriptor
     * @return the other one, closed on exec, to be closed by the caller
     * @throws IOException when no descriptor is left ({@code EMFILE}), or it is not open ({@code EBADF})
     */
    public static int duplicate(int fileDescriptor) throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            return fcntl(frame, fileDescriptor, F_DUPFD_CLOEXEC, 0);
        }
    }

    /**
     * Opens a file (open(2)) for those who need its descriptor itself. Blocks as the file system does.
     *
     * @param file the file
     * @return its descriptor, open for reading and closed on exec
     * @throws IOException when it can't be opened
     */
    public static int openForReading(Path file) throws IOException {
        return open(file.toString(), O_RDONLY | O_CLOEXEC);
    }

    static int open(String file, int flags) throws SystemCallException {
        try (CallFrame frame = CallFrame.enter();
                Arena arena = Arena.ofConfined()) {
            long path = arena.allocateFrom(file).address();
            int descriptor = (int) Downcall.callVariadic(OPEN, frame, path, flags, 0);
            if (descriptor < 0) {
                throw Errno.exception("open(" + file + ")", frame.errno());
            }
            return descriptor;
        }
    }

    /**
     * Closes a descriptor. An error is not reported: on Linux the descriptor is gone in any case (close(2)).
     *
     * @param fileDescriptor the descriptor
     */
    public static void close(int fileDescriptor) {
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(CLOSE, frame, fileDescriptor);
        }
    }
}
