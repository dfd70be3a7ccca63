package io.rdmanio.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A descriptor that becomes readable when it is signalled, by other processes too (pipe(7)): what {@link EventFd} is within
 * a process. Two processes that have one eventfd have one open file description, so either can make it blocking for both at
 * any time, and its counter full or empty. Of a pipe the reader keeps its end to itself, and who gets the other end opens it
 * anew ({@link Bell}), so that nobody else's flags count.
 *
 * <p>Thread safety: all methods may be called by any thread. Nothing is allocated by a signal, and no call blocks.
 */
public final class WakePipe implements AutoCloseable {
    static final int F_GETPIPE_SZ = 1032;

    private static final NativeFunction PIPE2 = Downcall.libc("pipe2");
    private static final NativeFunction READ = Downcall.libc("read");
    private static final NativeFunction WRITE = Downcall.libc("write");
    private static final MemorySegment ONE = Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1);
    // One page: what a pipe can hold without being signalled a thousand times. Written by any drain and read by nobody.
    private static final MemorySegment SINK = Arena.global().allocate(4096);

    private final OwnedDescriptor descriptor;
    private final Bell bell;

    /**
     * Opens a pipe that nobody has signalled.
     *
     * @throws SystemCallException when the process or the system has no descriptor left ({@code EMFILE}, {@code ENFILE})
     */
    public WakePipe() throws SystemCallException {
        try (CallFrame frame = CallFrame.enter()) {
            int flags = FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC;
            if ((int) Downcall.call(PIPE2, frame, frame.argumentsAddress(), flags) < 0) {
                throw Errno.exception("pipe2", frame.errno());
            }
            descriptor = new OwnedDescriptor(frame.arguments().get(ValueLayout.JAVA_INT, 0), WakePipe.class);
            bell = new Bell(frame.arguments().get(ValueLayout.JAVA_INT, Integer.BYTES));
        }
    }

    /**
     * The descriptor to be waited for. It must not be given to another process.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return descriptor.number();
    }

    /**
     * Opens an end for another process to signal.
     *
     * @return a descriptor that shares nothing with this object's, to be sent and closed by the caller
     * @throws SystemCallException when no descriptor is left, or there is no {@code /proc}
     * @throws IllegalStateException after close
     */
    public int openOtherEnd() throws SystemCallException {
        descriptor.enter();
        try {
            return Bell.openAnew(descriptor.number());
        } finally {
            descriptor.leave();
        }
    }

    /** Makes the descriptor readable. On a closed one this does nothing. */
    public void signal() {
        bell.signal();
    }

    /**
     * Makes the descriptor unreadable until the next signal, unless others signal it without end: a bounded number of signals is
     * taken. On a closed one this does nothing.
     */
    public void drain() {
        if (descriptor.tryEnter()) {
            try {
                // EAGAIN means an empty pipe: drained already.
                Downcall.callPlain(READ, descriptor.number(), SINK.address(), SINK.byteSize());
            } finally {
                descriptor.leave();
            }
        }
    }

    /** Closes the descriptor, as soon as no call is in progress. Idempotent. */
    @Override
    public void close() {
        bell.close();
        descriptor.close();
    }

    /** The end of another process's {@link WakePipe} that signals it. Thread-safe; no call blocks or allocates. */
    public static final class Bell implements AutoCloseable {
        private final OwnedDescriptor descriptor;

        private Bell(int fileDescriptor) {
            descriptor = new OwnedDescriptor(fileDescriptor, Bell.class);
        }

        /**
         * Makes a bell of a descriptor that came from somebody who isn't trusted: it must be a pipe, and is opened anew.
         *
         * @param received the descriptor, which is closed in any case
         * @return the bell, to be closed by the caller
         * @throws SystemCallException when it is no pipe ({@code EBADF}) or not open for writing, no descriptor is left, or there
         *     is no {@code /proc}
         */
        public static Bell ofReceived(int received) throws SystemCallException {
            try (CallFrame frame = CallFrame.enter()) {
                if ((int) Downcall.callVariadic(FileDescriptors.FCNTL, frame, received, F_GETPIPE_SZ, 0) < 0) {
                    throw Errno.exception("fcntl(" + received + ", F_GETPIPE_SZ)", frame.errno());
                }
                return new Bell(openAnew(received));
            } finally {
                FileDescriptors.close(received);
            }
        }

        private static int openAnew(int fileDescriptor) throws SystemCallException {
            return FileDescriptors.open(
                    "/proc/self/fd/" + fileDescriptor,
                    FileDescriptors.O_WRONLY | FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC);
        }

        /** Makes the other end readable, if somebody still has it. On a closed one this does nothing. */
        public void signal() {
            if (descriptor.tryEnter()) {
                try {
                    // EAGAIN means a full pipe: readable already. EPIPE: nobody is there to be woken; the JVM ignores
                    // SIGPIPE.
                    Downcall.callPlain(WRITE, descriptor.number(), ONE.address(), ONE.byteSize());
                } finally {
                    descriptor.leave();
                }
            }
        }

        /** Closes the descriptor, as soon as no call is in progress. Idempotent. */
        @Override
        public void close() {
            descriptor.close();
        }
    }
}
