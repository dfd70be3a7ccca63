package io.rdmanio.linux;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Waiting for one or two descriptors (poll(2)). Stateless and safe for use by any thread; nothing is allocated per
 * call.
 */
public final class Poll {
    private static final NativeFunction POLL = Downcall.libc("poll");
    static final short POLLIN = 1;
    static final long POLLFD_BYTES = 8;
    static final long EVENTS = 4;
    static final long RETURNED_EVENTS = 6;

    private Poll() {}

    /**
     * Waits until a descriptor is readable, has hung up, has an error or is not open. Blocks as long as
     * {@code timeoutMillis} says.
     *
     * @param first a descriptor
     * @param second another, or -1
     * @param timeoutMillis how long to wait; 0 looks only, -1 waits for ever
     * @return bit 0 set when the first is ready, bit 1 when the second is; 0 when the time is over or a signal
     *     interrupted
     * @throws IOException when poll(2) fails ({@code ENOMEM})
     */
    public static int awaitReadable(int first, int second, int timeoutMillis) throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment entries = frame.arguments();
            put(entries, 0, first);
            put(entries, POLLFD_BYTES, second);
            // Without errno, which costs an object when the compiler can't prove that it is for this call alone.
            int count = (int) Downcall.callPlain(POLL, frame.argumentsAddress(), 2, timeoutMillis);
            if (count < 0) {
                // A signal, or an error that comes again.
                count = (int) Downcall.call(POLL, frame, frame.argumentsAddress(), 2, 0);
            }
            if (count > 0) {
                return bit(entries, 0, 1) | bit(entries, POLLFD_BYTES, 2);
            }
            if (count == 0 || frame.errno() == Errno.EINTR) {
                return 0;
            }
            throw Errno.exception("poll", frame.errno());
        }
    }

    private static void put(MemorySegment entries, long offset, int fileDescriptor) {
        entries.set(ValueLayout.JAVA_INT, offset, fileDescriptor);
        entries.set(ValueLayout.JAVA_SHORT, offset + EVENTS, POLLIN);
        entries.set(ValueLayout.JAVA_SHORT, offset + RETURNED_EVENTS, (short) 0);
    }

    private static int bit(MemorySegment entries, long offset, int bit) {
        return entries.get(ValueLayout.JAVA_SHORT, offset + RETURNED_EVENTS) == 0 ? 0 : bit;
    }
}
