package io.rdmanio.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An epoll instance (epoll(7)), closed on exec, with room for the events of one wait.
 *
 * <p>Thread safety: {@link #add}, {@link #modify}, {@link #remove} and {@link #close} may be called by any thread.
 * {@link #await} and the methods that read its events belong to one thread at a time. Nothing is allocated per call.
 */
public final class Epoll implements AutoCloseable {
    /** Readable (EPOLLIN). */
    public static final int IN = 1;
    /** Writable (EPOLLOUT). */
    public static final int OUT = 4;
    /** Error (EPOLLERR); always reported. */
    public static final int ERR = 8;
    /** Hang-up (EPOLLHUP); always reported. */
    public static final int HUP = 0x10;
    /** The peer shut down its writing half (EPOLLRDHUP). */
    public static final int RDHUP = 0x2000;
    /** Report once, then stay silent until modified (EPOLLONESHOT). */
    public static final int ONESHOT = 1 << 30;
    /** Report changes only (EPOLLET). */
    public static final int ET = 1 << 31;

    private static final NativeFunction EPOLL_CREATE1 = Downcall.libc("epoll_create1");
    private static final NativeFunction EPOLL_CTL = Downcall.libc("epoll_ctl");
    private static final NativeFunction EPOLL_WAIT = Downcall.libc("epoll_wait");
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLL_CTL_DEL = 2;
    static final int EPOLL_CTL_MOD = 3;
    // struct epoll_event is packed on x86-64, for the sake of 32-bit programs, and nowhere else.
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
    static final long EVENT_BYTES = PACKED ? 12 : 16;
    static final long DATA_OFFSET = PACKED ? 4 : 8;

    private final UseGate gate = new UseGate();
    // Of no arena that close() ends: the thread that is reading the events at that time would be interrupted by the
    // JVM.
    private final MemorySegment events;
    private final long eventsAddress;
    private final int maxEvents;
    private final int fileDescriptor;

    /**
     * Opens an epoll instance.
     *
     * @param maxEvents how many events one wait can return, at least 1
     * @throws IOException when the process or the system has no descriptor left ({@code EMFILE}, {@code ENFILE},
     *     {@code ENOMEM})
     * @throws IllegalArgumentException when {@code maxEvents} is less than 1
     */
    public Epoll(int maxEvents) throws IOException {
        if (maxEvents < 1) {
            throw new IllegalArgumentException("maxEvents " + maxEvents + " is less than 1");
        }
        this.maxEvents = maxEvents;
        events = Arena.ofAuto().allocate(maxEvents * EVENT_BYTES, Long.BYTES);
        eventsAddress = events.address();
        try (CallFrame frame = CallFrame.enter()) {
            fileDescriptor = (int) Downcall.call(EPOLL_CREATE1, frame, FileDescriptors.O_CLOEXEC);
            if (fileDescriptor < 0) {
                throw Errno.exception("epoll_create1", frame.errno());
            }
        }
    }

    /**
     * The descriptor, which is readable while an event is pending.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return fileDescriptor;
    }

    /**
     * Adds a descriptor. Does not block.
     *
     * @param fd the descriptor
     * @param interest the events to report
     * @param data what {@link #data} shall return with its events
     * @throws IOException when epoll_ctl(2) fails ({@code EEXIST}, {@code EBADF}, {@code EPERM}, {@code ENOSPC})
     * @throws IllegalStateException after close
     */
    public void add(int fd, int interest, long data) throws IOException {
        changeOrThrow(EPOLL_CTL_ADD, "add", fd, interest, data);
    }

    /**
     * Changes a descriptor's events and data. Does not block.
     *
     * @param fd the descriptor
     * @param interest the events to report
     * @param data what {@link #data} shall return with its events
     * @throws IOException when epoll_ctl(2) fails ({@code ENOENT}, {@code EBADF})
     * @throws IllegalStateException after close
     */
    public void modify(int fd, int interest, long data) throws IOException {
        changeOrThrow(EPOLL_CTL_MOD, "modify", fd, interest, data);
    }

    /**
     * Removes a descriptor; one that is not there or not open any more is no error. Does not block.
     *
     * @param fd the descriptor
     * @throws IOException when epoll_ctl(2) fails for another reason
     * @throws IllegalStateException after close
     */
    public void remove(int fd) throws IOException {
        int errno = change(EPOLL_CTL_DEL, fd, 0, 0);
        if (errno != 0 && errno != Errno.ENOENT && errno != Errno.EBADF && errno != Errno.EPERM) {
            throw Errno.exception("epoll_ctl(remove, " + fd + ")", errno);
        }
    }

    private void changeOrThrow(int operation, String name, int fd, int interest, long data) throws IOException {
        int errno = change(operation, fd, interest, data);
        if (errno != 0) {
            throw Errno.exception("epoll_ctl(" + name + ", " + fd + ")", errno);
        }
    }

    private int change(int operation, int fd, int interest, long data) {
        enter();
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment event = frame.arguments();
            event.set(ValueLayout.JAVA_INT, 0, interest);
            event.set(ValueLayout.JAVA_LONG_UNALIGNED, DATA_OFFSET, data);
            int result = (int) Downcall.call(EPOLL_CTL, frame, fileDescriptor, operation, fd, frame.argumentsAddress());
            return result == 0 ? 0 : frame.errno();
        } finally {
            leave();
        }
    }

    /**
     * Waits for events. Blocks as long as {@code timeoutMillis} says; with 0 the call is so short that the thread does
     * not even leave Java state.
     *
     * @param timeoutMillis how long to wait; 0 looks only, -1 waits for ever
     * @return how many events there are to read; 0 when the time is over or a signal interrupted
     * @throws IOException when epoll_wait(2) fails
     * @throws IllegalStateException after close
     */
    public int await(int timeoutMillis) throws IOException {
        enter();
        try (CallFrame frame = CallFrame.enter()) {
            int count = (int)
                    (timeoutMillis == 0
                            ? Downcall.callBrief(EPOLL_WAIT, frame, fileDescriptor, eventsAddress, maxEvents, 0)
                            : Downcall.call(
                                    EPOLL_WAIT, frame, fileDescriptor, eventsAddress, maxEvents, timeoutMillis));
            if (count >= 0) {
                return count;
            }
            if (frame.errno() == Errno.EINTR) {
                return 0;
            }
            throw Errno.exception("epoll_wait", frame.errno());
        } finally {
            leave();
        }
    }

    /**
     * The events of an entry.
     *
     * @param index the entry, less than what the last {@link #await} returned
     * @return bits such as {@link #IN}
     */
    public int events(int index) {
        return events.get(ValueLayout.JAVA_INT_UNALIGNED, index * EVENT_BYTES);
    }

    /**
     * The data of an entry, as given to {@link #add} or {@link #modify}.
     *
     * @param index the entry, less than what the last {@link #await} returned
     * @return the data
     */
    public long data(int index) {
        return events.get(ValueLayout.JAVA_LONG_UNALIGNED, index * EVENT_BYTES + DATA_OFFSET);
    }

    private void enter() {
        if (!gate.tryEnter()) {
            throw new IllegalStateException("this Epoll is closed");
        }
    }

    private void leave() {
        if (gate.exit()) {
            FileDescriptors.close(fileDescriptor);
        }
    }

    /**
     * Closes the instance, as soon as no call is in progress: wake a thread that waits without limit first. Its events
     * mean nothing any more. Idempotent, does not block.
     */
    @Override
    public void close() {
        if (gate.tryEnter()) {
            gate.shut();
            leave();
        }
    }
}
