package io.rdmanio.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A descriptor that becomes readable when it is signalled (eventfd(2)), non-blocking and closed on exec: it wakes a
 * thread that waits in {@link Epoll} or {@link Poll}.
 *
 * <p>Thread safety: all methods may be called by any thread. Nothing is allocated per call, and no call blocks.
 */
public final class EventFd implements AutoCloseable {
    private static final NativeFunction EVENTFD = Downcall.libc("eventfd");
    private static final NativeFunction READ = Downcall.libc("read");
    private static final NativeFunction WRITE = Downcall.libc("write");
    private static final long VALUE_BYTES = Long.BYTES;
    private static final MemorySegment ONE = Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1L);
    // Written by any drain at any time and read by nobody.
    private static final MemorySegment SINK = Arena.global().allocate(ValueLayout.JAVA_LONG);

    private final OwnedDescriptor descriptor;

    /**
     * Opens an eventfd whose count is zero.
     *
     * @throws IOException when the process or the system has no descriptor left ({@code EMFILE}, {@code ENFILE})
     */
    public EventFd() throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            int opened = (int) Downcall.call(EVENTFD, frame, 0, FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC);
            if (opened < 0) {
                throw Errno.exception("eventfd", frame.errno());
            }
            descriptor = new OwnedDescriptor(opened, EventFd.class);
        }
    }

    /**
     * The descriptor, to be waited for.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return descriptor.number();
    }

    /**
     * Makes the descriptor readable. On a closed one this does nothing, since whoever waited is woken by the close's
     * owner.
     */
    public void signal() {
        if (descriptor.tryEnter()) {
            try {
                // EAGAIN means a count at its maximum: readable already.
                Downcall.callPlain(WRITE, descriptor.number(), ONE.address(), VALUE_BYTES);
            } finally {
                descriptor.leave();
            }
        }
    }

    /** Makes the descriptor unreadable until the next signal. On a closed one this does nothing. */
    public void drain() {
        if (descriptor.tryEnter()) {
            try {
                // EAGAIN means a count of zero: drained already.
                Downcall.callPlain(READ, descriptor.number(), SINK.address(), VALUE_BYTES);
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
