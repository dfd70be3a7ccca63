package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Completions that wait to be polled, in memory of this process alone, laid out as {@code struct ibv_wc} in words.
 *
 * <p>Thread safety: {@code pushing} guards the side that adds; one thread at a time takes. Resizing excludes both: it
 * takes {@code pushing}, and the object in front keeps pollers away.
 */
final class CompletionRing {
    private static final int WORDS = (int) (WorkCompletionLayout.SIZE / Long.BYTES);
    private static final long LOW = 0xFFFF_FFFFL;
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(CompletionRing.class, "head", int.class).withInvokeExactBehavior();
            TAIL = lookup.findVarHandle(CompletionRing.class, "tail", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Claim pushing = new Claim();
    private long[] words;
    // Whose send queue gets a slot back when the completion is polled, and which; null for receives.
    private SendQueue[] senders;
    private int[] positions;
    private int capacity;
    private int mask;
    private int headSeen;
    private int head;
    private int tail;

    CompletionRing(int capacity) {
        allocate(capacity);
    }

    private void allocate(int entries) {
        int slots = ReceiveQueue.powerOfTwo(entries);
        capacity = entries;
        mask = slots - 1;
        words = new long[Math.multiplyExact(slots, WORDS)];
        senders = new SendQueue[slots];
        positions = new int[slots];
    }

    int capacity() {
        return capacity;
    }

    boolean isEmpty() {
        return (int) HEAD.getAcquire(this) == (int) TAIL.getAcquire(this);
    }

    /**
     * Adds a completion.
     *
     * @param sender whose send it was; null for a receive
     * @param position which of its sends
     * @return false when there was no room, so that it is lost
     */
    boolean push(
            SendQueue sender,
            int position,
            long workRequestId,
            int status,
            int opcode,
            int lengthBytes,
            int immediate,
            int queuePairNumber,
            int flags) {
        pushing.acquire();
        try {
            int at = tail;
            if (at - headSeen >= capacity) {
                headSeen = (int) HEAD.getAcquire(this);
                if (at - headSeen >= capacity) {
                    return false;
                }
            }
            int slot = at & mask;
            senders[slot] = sender;
            positions[slot] = position;
            int base = slot * WORDS;
            words[base] = workRequestId;
            words[base + 1] = pair(status, opcode);
            words[base + 2] = pair(0, lengthBytes);
            words[base + 3] = pair(immediate, queuePairNumber);
            words[base + 4] = pair(0, flags);
            TAIL.setRelease(this, at + 1);
            return true;
        } finally {
            pushing.release();
        }
    }

    private static long pair(int low, int high) {
        return (low & LOW) | (long) high << Integer.SIZE;
    }

    /** Writes a completion as a program reads it. */
    static void write(
            MemorySegment into,
            long base,
            long workRequestId,
            int status,
            int opcode,
            int lengthBytes,
            int immediate,
            int queuePairNumber,
            int flags) {
        writeWords(
                into,
                base,
                workRequestId,
                pair(status, opcode),
                pair(0, lengthBytes),
                pair(immediate, queuePairNumber),
                pair(0, flags));
    }

    private static void writeWords(
            MemorySegment into, long base, long first, long second, long third, long fourth, long fifth) {
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base, first);
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base + Long.BYTES, second);
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base + 2 * Long.BYTES, third);
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base + 3 * Long.BYTES, fourth);
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base + 4 * Long.BYTES, fifth);
        into.set(ValueLayout.JAVA_LONG_UNALIGNED, base + 5 * Long.BYTES, 0);
    }

    /**
     * Takes completions.
     *
     * @param into where they go
     * @param before how many are there already
     * @param capacity how many fit
     * @return how many are there now
     */
    int take(MemorySegment into, int before, int capacity) {
        int at = head;
        int count = Math.min(capacity - before, (int) TAIL.getAcquire(this) - at);
        if (count <= 0) {
            return before;
        }
        for (int i = 0; i < count; i++) {
            int slot = (at + i) & mask;
            int base = slot * WORDS;
            writeWords(
                    into,
                    (before + i) * WorkCompletionLayout.SIZE,
                    words[base],
                    words[base + 1],
                    words[base + 2],
                    words[base + 3],
                    words[base + 4]);
            SendQueue sender = senders[slot];
            if (sender != null) {
                senders[slot] = null;
                sender.polled(positions[slot]);
            }
        }
        HEAD.setRelease(this, at + count);
        return before + count;
    }

    /**
     * Changes the capacity. Nobody takes meanwhile.
     *
     * @param entries how many completions it shall hold
     * @return false, and nothing is changed, when more are waiting
     */
    boolean resize(int entries) {
        pushing.acquire();
        try {
            int count = tail - head;
            if (count > entries) {
                return false;
            }
            long[] formerWords = words;
            SendQueue[] formerSenders = senders;
            int[] formerPositions = positions;
            int formerMask = mask;
            allocate(entries);
            for (int i = 0; i < count; i++) {
                int from = (head + i) & formerMask;
                int to = (head + i) & mask;
                System.arraycopy(formerWords, from * WORDS, words, to * WORDS, WORDS);
                senders[to] = formerSenders[from];
                positions[to] = formerPositions[from];
            }
            return true;
        } finally {
            pushing.release();
        }
    }
}
