package io.rdmanio.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A descriptor that becomes readable when this process or another one rings; the other gets a way to ring by
 * {@link #openForPeer}, which it takes into use as a {@link PeerDoorbell}.
 *
 * <p>It is a pipe, and no eventfd, since whoever shares an open file with this process may at any time make it blocking, and
 * then have a write to it, or a read that comes too late, block for ever. Of a pipe each process opens its own end for itself,
 * whose flags are nobody else's.
 *
 * <p>Thread safety: all methods may be called by any thread. Ringing and draining allocate nothing; no call blocks.
 */
public final class Doorbell implements AutoCloseable {
    private static final NativeFunction PIPE2 = Downcall.libc("pipe2");
    private static final NativeFunction READ = Downcall.libc("read");
    private static final NativeFunction WRITE = Downcall.libc("write");
    private static final MemorySegment RING = Arena.global().allocate(1);
    /** As much as a pipe holds, unless a peer enlarges it. */
    private static final int SINK_BYTES = 64 * 1024;
    // Written by any drain at any time and read by nobody.
    private static final MemorySegment SINK = Arena.global().allocate(SINK_BYTES);

    private final UseGate gate = new UseGate();
    private final int readEnd;
    private final int writeEnd;

    /**
     * Makes a doorbell that nobody has rung.
     *
     * @throws IOException when the process or the system has no descriptor left ({@code EMFILE}, {@code ENFILE})
     */
    public Doorbell() throws IOException {
        try (CallFrame frame = CallFrame.enter()) {
            int flags = FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC;
            if ((int) Downcall.call(PIPE2, frame, frame.argumentsAddress(), flags) < 0) {
                throw Errno.exception("pipe2", frame.errno());
            }
            readEnd = frame.arguments().get(ValueLayout.JAVA_INT, 0);
            writeEnd = frame.arguments().get(ValueLayout.JAVA_INT, Integer.BYTES);
        }
    }

    /**
     * The descriptor, to be waited for.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return readEnd;
    }

    /**
     * Opens a way to ring, to be sent to another process.
     *
     * @return a descriptor of its own, to be closed by the caller once it is sent
     * @throws IOException when no descriptor is left, or /proc is not mounted
     * @throws IllegalStateException after close
     */
    public int openForPeer() throws IOException {
        if (!gate.tryEnter()) {
            throw new IllegalStateException("this Doorbell is closed");
        }
        try {
            return FileDescriptors.reopenForWriting(writeEnd);
        } finally {
            leave();
        }
    }

    /** Makes the descriptor readable. On a closed one this does nothing. */
    public void signal() {
        if (gate.tryEnter()) {
            try {
                ring(writeEnd);
            } finally {
                leave();
            }
        }
    }

    /** Rings. EAGAIN means a full pipe, which is readable; EPIPE that nobody listens any more. */
    static void ring(int writeEnd) {
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(WRITE, frame, writeEnd, RING.address(), 1);
        }
    }

    /** Makes the descriptor unreadable until it is rung again. On a closed one this does nothing. */
    public void drain() {
        if (gate.tryEnter()) {
            try (CallFrame frame = CallFrame.enter()) {
                // EAGAIN means that it is empty. What is left when there was more than a pipe holds is for the next
                // drain.
                Downcall.call(READ, frame, readEnd, SINK.address(), SINK_BYTES);
            } finally {
                leave();
            }
        }
    }

    private void leave() {
        if (gate.exit()) {
            FileDescriptors.close(readEnd);
            FileDescriptors.close(writeEnd);
        }
    }

    /** Closes both ends, as soon as no call is in progress. Idempotent. */
    @Override
    public void close() {
        if (gate.tryEnter()) {
            gate.shut();
            leave();
        }
    }
}
