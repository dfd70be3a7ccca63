package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Completions that wait to be polled, in memory of this process alone, laid out as {@code struct ibv_wc} in words. There is
 * little of it until many wait.
 *
 * <p>Thread safety: {@code pushing} guards the side that adds; one thread at a time takes. Resizing excludes both: it
 * takes {@code pushing}, and the object in front keeps pollers away. Growing, by who adds, excludes nobody: who takes sees
 * the slots that the last completion it sees was added to, or later ones, and in either what was there and not taken.
 */
final class CompletionRing {
    private static final int FIRST_SLOTS = 32;
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
    private Slots slots;
    private int capacity;
    // Completions that may be added before who adds must look again: the capacity, or the slots if they are fewer.
    private int room;
    private int headSeen;
    private int head;
    private int tail;

    /** Where completions lie; the fields are final so that who takes sees them whole in slots that it did not wait for. */
    private static final class Slots {
        final int mask;
        final long[] words;
        // Whose send queue gets a slot back when the completion is polled, and which; null for receives.
        final SendQueue[] senders;
        final int[] positions;

        /** Some that hold so many, and what another's hold. */
        Slots(int entries, Slots former, int from, int to) {
            int count = ReceiveQueue.powerOfTwo(entries);
            mask = count - 1;
            words = new long[Math.multiplyExact(count, WORDS)];
            senders = new SendQueue[count];
            positions = new int[count];
            for (int at = from; at != to; at++) {
                int old = at & former.mask;
                int slot = at & mask;
                System.arraycopy(former.words, old * WORDS, words, slot * WORDS, WORDS);
                senders[slot] = former.senders[old];
                positions[slot] = former.positions[old];
            }
        }
    }

    CompletionRing(int capacity) {
        this(capacity, FIRST_SLOTS);
    }

    CompletionRing(int capacity, int firstSlots) {
        allocate(capacity, firstSlots);
    }

    private void allocate(int newCapacity, int entries) {
        int newRoom = Math.min(newCapacity, entries);
        slots = new Slots(newRoom, slots, headSeen, tail);
        room = newRoom;
        capacity = newCapacity;
    }

    /** Looks what was taken, and makes more slots if that is not enough. False when the ring is full. */
    private boolean makeRoom() {
        headSeen = (int) HEAD.getAcquire(this);
        if (tail - headSeen >= room) {
            if (room == capacity) {
                return false;
            }
            allocate(capacity, 2 * room);
        }
        return true;
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
            if (at - headSeen >= room && !makeRoom()) {
                return false;
            }
            Slots to = slots;
            int slot = at & to.mask;
            to.senders[slot] = sender;
            to.positions[slot] = position;
            long[] words = to.words;
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
        Slots from = slots;
        long[] words = from.words;
        for (int i = 0; i < count; i++) {
            int slot = (at + i) & from.mask;
            int base = slot * WORDS;
            writeWords(
                    into,
                    (before + i) * WorkCompletionLayout.SIZE,
                    words[base],
                    words[base + 1],
                    words[base + 2],
                    words[base + 3],
                    words[base + 4]);
            SendQueue sender = from.senders[slot];
            if (sender != null) {
                from.senders[slot] = null;
                sender.polled(from.positions[slot]);
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
            headSeen = head;
            allocate(entries, Math.max(count, FIRST_SLOTS));
            return true;
        } finally {
            pushing.release();
        }
    }
}
