package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * Posted sends from their post until the program has taken their completions: copies of the work requests, in memory of
 * this process alone. Positions count up for ever and wrap around; a slot is free again when the completion of its
 * request, or of a later one that was signaled, has been polled, as on hardware, so that a program that posts until the
 * queue is full doesn't overrun its completion queue. Copies need memory only from their post until they are completed, so
 * there is little of it until many wait.
 *
 * <p>Thread safety: everything is guarded by the queue pair's send claim, but {@link #polled}.
 */
final class SendQueue {
    /** long: the caller's number. */
    static final int ID = 0;
    /** int opcode, int flags. */
    static final int OPCODE = 1;
    /** int immediate data or key to invalidate, int number of scatter-gather entries. */
    static final int IMMEDIATE = 2;
    /** long: the remote address. */
    static final int REMOTE_ADDRESS = 3;
    /** int: the remote key. */
    static final int REMOTE_KEY = 4;
    /** long: what an atomic compares or adds; the window of a bind. */
    static final int OPERAND = 5;
    /** long: what an atomic swaps in; the window's new key. */
    static final int SWAP = 6;
    /** long: how many bytes. */
    static final int LENGTH = 7;
    /** int status, int where the acknowledgement is due. */
    static final int OUTCOME = 8;
    /** long: the region of a bind. */
    static final int BIND_REGION = 9;
    /** long. */
    static final int BIND_ADDRESS = 10;
    /** long. */
    static final int BIND_LENGTH = 11;
    /** int. */
    static final int BIND_ACCESS = 12;
    /** Words before the scatter-gather entries: pairs of the address, and the length with the key above it. */
    static final int HEAD_WORDS = 13;

    /** The low half of {@link #OUTCOME} while it waits for its acknowledgement. */
    static final int UNACKNOWLEDGED = 0xFFFF;

    private static final int FIRST_SLOTS = 16;
    private static final long LOW = 0xFFFF_FFFFL;
    private static final long REMOTE_KEY_OFFSET = SendWorkRequestLayout.REMOTE_KEY.offset();
    private static final VarHandle POLLED;

    static {
        try {
            POLLED = MethodHandles.lookup()
                    .findVarHandle(SendQueue.class, "polled", int.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The requests; others when one more is appended. */
    long[] words;
    // The bytes of inline requests that had to wait; null entries otherwise.
    private byte[][] inlineBytes;
    private int mask;

    private final int stride;
    private final int capacity;
    private final int maxSges;
    private final int maxInlineBytes;

    /** The position behind the last that was posted. */
    int tail;
    /** The position of the first that was not executed. */
    int next;
    /** The position of the first that was not completed. */
    int head;
    // The position behind the last whose completion was given to a completion queue.
    private int signaled;
    // The position behind the last whose completion was polled: written by the poller.
    private int polled;
    private int freeUpTo;

    SendQueue(int capacity, int maxSges, int maxInlineBytes) {
        this.capacity = capacity;
        this.maxSges = maxSges;
        this.maxInlineBytes = maxInlineBytes;
        stride = HEAD_WORDS + 2 * maxSges;
        allocate(Math.min(FIRST_SLOTS, ReceiveQueue.powerOfTwo(capacity)));
    }

    private void allocate(int slots) {
        mask = slots - 1;
        words = new long[Math.multiplyExact(slots, stride)];
        inlineBytes = new byte[slots][];
    }

    /** Makes twice as many slots. */
    private void grow() {
        long[] formerWords = words;
        byte[][] formerBytes = inlineBytes;
        int formerMask = mask;
        allocate(2 * (formerMask + 1));
        for (int position = head; position != tail; position++) {
            int from = position & formerMask;
            System.arraycopy(formerWords, from * stride, words, base(position), stride);
            inlineBytes[slot(position)] = formerBytes[from];
        }
    }

    int maxInlineBytes() {
        return maxInlineBytes;
    }

    int capacity() {
        return capacity;
    }

    /** Where the words of a position begin. */
    int base(int position) {
        return (position & mask) * stride;
    }

    int slot(int position) {
        return position & mask;
    }

    /** Called by whoever polled a completion. */
    void polled(int position) {
        POLLED.setRelease(this, position + 1);
    }

    /** A completion of the position goes to a completion queue. */
    void signaled(int position) {
        signaled = position + 1;
    }

    /** Whether one more request may be posted. */
    boolean hasRoom() {
        if (tail - freeUpTo < capacity) {
            return true;
        }
        int seen = (int) POLLED.getAcquire(this);
        freeUpTo = seen == signaled ? head : seen;
        return tail - freeUpTo < capacity;
    }

    /**
     * Appends a request.
     *
     * @param request its address
     * @return 0 or an error number
     */
    int append(long request) {
        int count = ProcessMemory.getInt(request + SendWorkRequestLayout.SGE_COUNT.offset());
        if (count < 0 || count > maxSges) {
            return Errno.EINVAL;
        }
        int errno = writeHead(request, count);
        return errno != 0 ? errno : finish(appendSges(request, base(tail), count));
    }

    /**
     * Appends an inline request whose data lies in a buffer, and copies that.
     *
     * @param request its address
     * @param data the buffer
     * @param dataPosition where in it
     * @param dataBytes how many bytes
     * @return 0 or an error number
     */
    int append(long request, ByteBuffer data, int dataPosition, int dataBytes) {
        byte[] bytes = new byte[dataBytes];
        data.get(dataPosition, bytes); // before anything is changed, for the buffer's memory may have been freed
        int errno = writeHead(request, 0);
        if (errno == 0) {
            errno = finish(dataBytes);
        }
        if (errno == 0) {
            inlineBytes[slot(tail - 1)] = bytes;
        }
        return errno;
    }

    /** Writes all but the entries of a request to the next slot. */
    private int writeHead(long request, int sgeCount) {
        int opcode = ProcessMemory.getInt(request + SendWorkRequestLayout.OPCODE.offset());
        int flags = ProcessMemory.getInt(request + SendWorkRequestLayout.FLAGS.offset());
        if (opcode < 0 || opcode > SendOpcode.SEND_WITH_INVALIDATE) {
            return Errno.EINVAL;
        }
        if (!hasRoom()) {
            return Errno.ENOMEM;
        }
        if (tail - head > mask) {
            grow();
        }
        int base = base(tail);
        words[base + ID] = ProcessMemory.getLong(request);
        words[base + OPCODE] = opcode | (long) flags << Integer.SIZE;
        words[base + IMMEDIATE] = (ProcessMemory.getInt(request + SendWorkRequestLayout.INVALIDATE_KEY.offset()) & LOW)
                | (long) sgeCount << Integer.SIZE;
        words[base + REMOTE_ADDRESS] = ProcessMemory.getLong(request + SendWorkRequestLayout.REMOTE_ADDRESS.offset());
        if (opcode < SendOpcode.COMPARE_AND_SWAP) {
            words[base + REMOTE_KEY] = ProcessMemory.getInt(request + REMOTE_KEY_OFFSET);
        } else {
            appendRest(request, base, opcode);
        }
        return 0;
    }

    /** The next slot holds a request of that many bytes; it is posted, unless it has too many. */
    private int finish(long length) {
        int base = base(tail);
        if (length > Integer.MAX_VALUE
                || ((flags(base) & SendFlags.INLINE) != 0 && !suitsInline(opcode(base), length))) {
            return Errno.EINVAL;
        }
        words[base + LENGTH] = length;
        tail++;
        return 0;
    }

    /**
     * A request was executed as it was posted, while the queue was empty: it takes a slot as any other does.
     *
     * @return its position
     */
    int pass() {
        int position = tail++;
        next = tail;
        head = tail;
        return position;
    }

    private boolean suitsInline(int opcode, long length) {
        return length <= maxInlineBytes
                && (opcode <= SendOpcode.SEND_WITH_IMM || opcode == SendOpcode.SEND_WITH_INVALIDATE);
    }

    private long appendSges(long request, int base, int count) {
        long sges = ProcessMemory.getLong(request + SendWorkRequestLayout.SGE_LIST.offset());
        long length = 0;
        int word = base + HEAD_WORDS;
        for (int i = 0; i < count; i++) {
            long lengthAndKey = ProcessMemory.getLong(sges + ScatterGatherLayout.LENGTH.offset());
            words[word++] = ProcessMemory.getLong(sges);
            words[word++] = lengthAndKey;
            length += lengthAndKey & LOW;
            sges += ScatterGatherLayout.SIZE;
        }
        return length;
    }

    private void appendRest(long request, int base, int opcode) {
        if (opcode <= SendOpcode.FETCH_AND_ADD) {
            words[base + OPERAND] = ProcessMemory.getLong(request + SendWorkRequestLayout.ATOMIC_COMPARE_ADD.offset());
            words[base + SWAP] = ProcessMemory.getLong(request + SendWorkRequestLayout.ATOMIC_SWAP.offset());
            words[base + REMOTE_KEY] = ProcessMemory.getInt(request + SendWorkRequestLayout.ATOMIC_REMOTE_KEY.offset());
        } else if (opcode == SendOpcode.BIND_MEMORY_WINDOW) {
            words[base + OPERAND] = ProcessMemory.getLong(request + SendWorkRequestLayout.BIND_WINDOW.offset());
            words[base + SWAP] = ProcessMemory.getInt(request + SendWorkRequestLayout.BIND_KEY.offset());
            words[base + BIND_REGION] = ProcessMemory.getLong(request + SendWorkRequestLayout.BIND_REGION.offset());
            words[base + BIND_ADDRESS] = ProcessMemory.getLong(request + SendWorkRequestLayout.BIND_ADDRESS.offset());
            words[base + BIND_LENGTH] = ProcessMemory.getLong(request + SendWorkRequestLayout.BIND_LENGTH.offset());
            words[base + BIND_ACCESS] = ProcessMemory.getInt(request + SendWorkRequestLayout.BIND_ACCESS.offset());
        }
    }

    int opcode(int base) {
        return (int) words[base + OPCODE];
    }

    int flags(int base) {
        return (int) (words[base + OPCODE] >>> Integer.SIZE);
    }

    int sgeCount(int base) {
        return (int) (words[base + IMMEDIATE] >>> Integer.SIZE);
    }

    /** It was executed and has ended. */
    void setStatus(int base, int status) {
        words[base + OUTCOME] = status;
    }

    /** It was executed and waits until an entry of the peer's ring is consumed. */
    void setUnacknowledged(int base, int entriesConsumed) {
        words[base + OUTCOME] = UNACKNOWLEDGED | (long) entriesConsumed << Integer.SIZE;
    }

    int status(int base) {
        return (int) words[base + OUTCOME];
    }

    int acknowledgedBy(int base) {
        return (int) (words[base + OUTCOME] >>> Integer.SIZE);
    }

    /**
     * Copies the bytes of inline requests that must wait, since their memory is the caller's when the post returns.
     *
     * @param from the position of the first that was posted now
     */
    void keepInlineBytes(int from) {
        for (int position = from - next > 0 ? from : next; position != tail; position++) {
            int base = base(position);
            if ((flags(base) & SendFlags.INLINE) != 0) {
                byte[] bytes = new byte[(int) words[base + LENGTH]];
                MemorySegment to = MemorySegment.ofArray(bytes);
                long at = 0;
                for (int i = 0; i < sgeCount(base); i++) {
                    int word = base + HEAD_WORDS + 2 * i;
                    long length = words[word + 1] & LOW;
                    MemorySegment.copy(ProcessMemory.ALL, words[word], to, at, length);
                    at += length;
                }
                inlineBytes[slot(position)] = bytes;
            }
        }
    }

    /** The bytes of an inline request that had to wait; null when its memory is still the caller's to keep. */
    byte[] keptInlineBytes(int base) {
        return inlineBytes[base / stride];
    }

    /** The oldest request has been completed. */
    void removeHead() {
        if (inlineBytes[head & mask] != null) {
            inlineBytes[head & mask] = null;
        }
        head++;
    }

    /** Forgets everything. */
    void clear() {
        for (int position = head; position != tail; position++) {
            inlineBytes[slot(position)] = null;
        }
        head = tail;
        next = tail;
        signaled = tail;
        freeUpTo = tail;
        POLLED.setRelease(this, tail);
    }

    /**
     * Leaves word of a request that was not posted.
     *
     * @param first the first of the list
     * @param failed the address of the one
     * @param errno why
     * @return errno
     */
    static int refuse(MemorySegment first, long failed, int errno) {
        first.set(ValueLayout.JAVA_LONG, SendWorkRequestLayout.FAILED_OFFSET, failed);
        return errno;
    }
}
