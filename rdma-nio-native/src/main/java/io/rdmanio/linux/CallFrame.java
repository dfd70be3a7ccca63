package io.rdmanio.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Native memory that belongs to one call in progress: the place where its errno is saved, and room for its arguments. A
 * frame is taken with {@link #enter} and given back by {@link #close}; between the two it belongs to the code that took
 * it, whatever carrier thread that code runs on, so it is right for virtual threads too. Frames are pooled: in the
 * steady state a call allocates nothing, and a frame that a long blocking call holds is simply missing from the pool
 * meanwhile.
 *
 * <p>Thread safety: {@code enter} may be called by any thread; a frame is for one thread at a time.
 */
public final class CallFrame implements AutoCloseable {
    /**
     * Room for arguments, in bytes: more than two socket addresses, a queue pair's attributes or 255 bytes of private
     * data.
     */
    public static final int ARGUMENT_BYTES = 1008;

    private static final int ARGUMENTS_OFFSET = 16;
    private static final long ERRNO_OFFSET =
            Linker.Option.captureStateLayout().byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final int SLOTS = 64;
    private static final int PROBES = 4;
    private static final AtomicReferenceArray<CallFrame> POOL = new AtomicReferenceArray<>(SLOTS);

    private final MemorySegment state;
    private final MemorySegment arguments;
    private final long argumentsAddress;

    private CallFrame() {
        // Automatic: the pool keeps a frame alive, and one that finds the pool full is left to the collector.
        MemorySegment memory = Arena.ofAuto().allocate(ARGUMENTS_OFFSET + ARGUMENT_BYTES, 16);
        state = memory.asSlice(0, ARGUMENTS_OFFSET);
        arguments = memory.asSlice(ARGUMENTS_OFFSET);
        argumentsAddress = arguments.address();
    }

    /**
     * Takes a frame. Does not block.
     *
     * @return a frame with undefined contents, to be closed by the caller
     */
    public static CallFrame enter() {
        int home = home();
        for (int i = 0; i < PROBES; i++) {
            CallFrame frame = POOL.getAndSet((home + i) & (SLOTS - 1), null);
            if (frame != null) {
                return frame;
            }
        }
        return new CallFrame();
    }

    private static int home() {
        return (int) ((Thread.currentThread().threadId() * 0x9E3779B97F4A7C15L) >>> 58);
    }

    /** Gives the frame back. Call it once; the frame must not be used afterwards. */
    @Override
    public void close() {
        int home = home();
        for (int i = 0; i < PROBES; i++) {
            if (POOL.compareAndSet((home + i) & (SLOTS - 1), null, this)) {
                return;
            }
        }
    }

    /**
     * Room for arguments of {@link #ARGUMENT_BYTES} bytes with undefined contents.
     *
     * @return the memory, aligned to 16
     */
    public MemorySegment arguments() {
        return arguments;
    }

    /**
     * The argument room with its first bytes set to zero.
     *
     * @param bytes how many bytes to clear
     * @return the memory
     */
    public MemorySegment cleared(long bytes) {
        arguments.asSlice(0, bytes).fill((byte) 0);
        return arguments;
    }

    /**
     * The address of the argument room, to be passed as a pointer.
     *
     * @return the address
     */
    public long argumentsAddress() {
        return argumentsAddress;
    }

    /**
     * The errno that the last call with this frame left. Meaningful only when that call failed.
     *
     * @return the error number
     */
    public int errno() {
        return state.get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
    }

    MemorySegment state() {
        return state;
    }
}
