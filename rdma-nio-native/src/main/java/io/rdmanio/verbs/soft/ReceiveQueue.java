package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Posted receives in their order: copies of the work requests, in memory of this process alone.
 *
 * <p>Thread safety: posting is done by one thread at a time, under the poster's claim, and taking by one thread at a
 * time, under the taker's; the two may be at work together.
 */
final class ReceiveQueue {
    /** Words of a request before its scatter-gather entries: the caller's number, and how many entries there are. */
    static final int HEAD_WORDS = 2;
    /** Words of an entry: the address, and the length with the key above it. */
    static final int SGE_WORDS = 2;

    private static final VarHandle TAIL;
    private static final VarHandle HEAD;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(ReceiveQueue.class, "tail", int.class).withInvokeExactBehavior();
            HEAD = lookup.findVarHandle(ReceiveQueue.class, "head", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The requests, {@link #stride} words each. */
    final long[] words;

    private final int stride;
    private final int capacity;
    private final int mask;
    private final int maxSges;
    // Written by the poster, read by the taker.
    private int tail;
    // Written by the taker, read by the poster.
    private int head;
    // The poster's own memory of head.
    private int headSeen;

    /**
     * An empty queue.
     *
     * @param capacity how many receives it holds
     * @param maxSges how many scatter-gather entries each may have
     */
    ReceiveQueue(int capacity, int maxSges) {
        this.capacity = capacity;
        this.maxSges = maxSges;
        int slots = powerOfTwo(capacity);
        mask = slots - 1;
        stride = HEAD_WORDS + SGE_WORDS * maxSges;
        words = new long[Math.multiplyExact(slots, stride)];
    }

    static int powerOfTwo(int atLeast) {
        return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }

    int capacity() {
        return capacity;
    }

    int maxSges() {
        return maxSges;
    }

    /** How many were posted and not taken, seen by the poster or the taker. */
    int size() {
        return (int) TAIL.getAcquire(this) - (int) HEAD.getAcquire(this);
    }

    /** How many were posted in all. Called by the poster. */
    int posted() {
        return tail;
    }

    /**
     * Appends a request. Called by the poster.
     *
     * @param request its address
     * @return 0 or an error number
     */
    int append(long request) {
        int count = ProcessMemory.getInt(request + ReceiveWorkRequestLayout.SGE_COUNT.offset());
        if (count < 0 || count > maxSges) {
            return Errno.EINVAL;
        }
        int at = tail;
        if (at - headSeen >= capacity) {
            headSeen = (int) HEAD.getAcquire(this);
            if (at - headSeen >= capacity) {
                return Errno.ENOMEM;
            }
        }
        int base = base(at);
        words[base] = ProcessMemory.getLong(request + ReceiveWorkRequestLayout.WORK_REQUEST_ID.offset());
        words[base + 1] = count;
        long sges = ProcessMemory.getLong(request + ReceiveWorkRequestLayout.SGE_LIST.offset());
        int word = base + HEAD_WORDS;
        for (int i = 0; i < count; i++) {
            words[word++] = ProcessMemory.getLong(sges);
            words[word++] = ProcessMemory.getLong(sges + ScatterGatherLayout.LENGTH.offset());
            sges += ScatterGatherLayout.SIZE;
        }
        TAIL.setRelease(this, at + 1);
        return 0;
    }

    /**
     * Appends requests without scatter-gather entries. Called by the poster.
     *
     * @param count how many, numbered from 0 on
     * @return how many there was room for
     */
    int appendEmpty(int count) {
        int at = tail;
        headSeen = (int) HEAD.getAcquire(this);
        int fitting = Math.min(count, capacity - (at - headSeen));
        for (int id = 0; id < fitting; id++) {
            int base = base(at + id);
            words[base] = id;
            words[base + 1] = 0;
        }
        TAIL.setRelease(this, at + fitting);
        return fitting;
    }

    /** Where the words of the receive begin that was posted at a position. */
    int base(int position) {
        return (position & mask) * stride;
    }

    /**
     * The oldest receive, which stays. Called by the taker.
     *
     * @return where its words begin; -1 when there is none
     */
    int peek() {
        return head == (int) TAIL.getAcquire(this) ? -1 : base(head);
    }

    /** Takes the oldest receive out. Called by the taker after {@link #peek}. */
    void remove() {
        HEAD.setRelease(this, head + 1);
    }

    /** Puts everything that is posted into another queue. Called by who is poster and taker. */
    void moveTo(ReceiveQueue other) {
        for (int base = peek(); base >= 0; base = peek()) {
            System.arraycopy(words, base, other.words, other.base(other.tail), stride);
            TAIL.setRelease(other, other.tail + 1);
            remove();
        }
    }

    /** Forgets everything. Called by who is poster and taker. */
    void clear() {
        HEAD.setRelease(this, tail);
    }

    /** How many bytes a receive holds. */
    static long lengthBytes(long[] words, int base) {
        long sum = 0;
        for (int i = 0; i < words[base + 1]; i++) {
            sum += words[base + HEAD_WORDS + SGE_WORDS * i + 1] & 0xFFFF_FFFFL;
        }
        return sum;
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
        first.set(ValueLayout.JAVA_LONG, ReceiveWorkRequestLayout.FAILED_OFFSET, failed);
        return errno;
    }
}
