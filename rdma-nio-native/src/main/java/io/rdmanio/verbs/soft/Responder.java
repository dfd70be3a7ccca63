package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.WorkCompletionFlags;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Executes the entries that arrived for a queue pair: places messages into receives, and does what the initiator may do
 * to memory that it can't reach itself. Everything in an entry is the peer's word: it is read once and checked.
 *
 * <p>Thread safety: everything is guarded by the inbound claim.
 */
final class Responder {
    /** There is no receive; the entry remains. */
    static final int STARVED = -1;

    private static final int END_FLAGS = Entry.LAST | Entry.SOLICITED | Entry.WITH_IMMEDIATE;
    // By kind; the kind 0 is none, and so has flags that no entry has.
    private static final int[] ALLOWED_FLAGS = new int[Entry.KINDS];

    static {
        ALLOWED_FLAGS[Entry.SEND] = END_FLAGS | Entry.WITH_INVALIDATE | Entry.INLINE;
        ALLOWED_FLAGS[Entry.WRITE] = END_FLAGS | Entry.INLINE;
        ALLOWED_FLAGS[Entry.WRITE_DONE] = END_FLAGS;
        ALLOWED_FLAGS[Entry.READ] = Entry.LAST;
        ALLOWED_FLAGS[Entry.COMPARE_AND_SWAP] = Entry.LAST;
        ALLOWED_FLAGS[Entry.FETCH_AND_ADD] = Entry.LAST;
        ALLOWED_FLAGS[Entry.VIOLATION] = Entry.LAST | Entry.WITH_IMMEDIATE;
    }

    private static final int SUCCESS = WorkCompletionStatus.SUCCESS.value();
    private static final int REMOTE_ACCESS = WorkCompletionStatus.REMOTE_ACCESS_ERROR.value();
    private static final int REMOTE_INVALID_REQUEST = WorkCompletionStatus.REMOTE_INVALID_REQUEST.value();
    private static final int REMOTE_OPERATION = WorkCompletionStatus.REMOTE_OPERATION_ERROR.value();

    private final SoftQueuePair queuePair;
    private final SoftCompletionQueue queue;
    private final ReceiveQueue receives;
    private final SoftSharedReceiveQueue shared;
    private final LocalMemory receiveMemory;
    private final LocalMemory targetMemory;
    private final int number;
    // The receive that a shared queue gave.
    private final long[] sharedWords;

    // The receive that the message goes to, while it is on its way.
    private boolean hasReceive;
    private int receiveBase;
    private long receiveBytes;
    private long placedBytes;
    private boolean starved;

    // Where a poller wants completions; null when they go to the queue.
    private MemorySegment into;
    private int count;
    private int capacity;

    Responder(
            SoftQueuePair queuePair,
            ReceiveQueue receives,
            SoftSharedReceiveQueue shared,
            LocalMemory receiveMemory,
            LocalMemory targetMemory) {
        this.queuePair = queuePair;
        this.queue = queuePair.receiveQueue();
        this.number = queuePair.number();
        this.receives = receives;
        this.shared = shared;
        this.receiveMemory = receiveMemory;
        this.targetMemory = targetMemory;
        this.sharedWords = shared == null ? null : new long[shared.requestWords()];
    }

    /** The connection is another one from now on. */
    void reset() {
        hasReceive = false;
        placedBytes = 0;
        starved = false;
    }

    /** Completions go where a poller wants them. */
    void beginPoll(MemorySegment completions, int filled, int fitting) {
        into = completions;
        count = filled;
        capacity = fitting;
    }

    /** Completions go to the queue again; how many the poller has now. */
    int endPoll() {
        into = null;
        return count;
    }

    /** Whether one more completion fits. */
    boolean hasRoom() {
        return into == null || count < capacity;
    }

    /**
     * Executes an entry.
     *
     * @param area where it is
     * @param entry its offset
     * @param index its index
     * @return {@link #STARVED}; or the status that the initiator's request gets
     */
    int execute(Area area, long entry, int index) {
        MemorySegment memoryOfArea = area.memory;
        int kindAndFlags = memoryOfArea.get(ValueLayout.JAVA_INT, entry + Entry.KIND);
        int flags = kindAndFlags >>> Entry.FLAGS_SHIFT;
        int kind = kindAndFlags & 0xFF;
        int length = memoryOfArea.get(ValueLayout.JAVA_INT, entry + Entry.LENGTH);
        if (length < 0 || kind >= ALLOWED_FLAGS.length || (flags & ~ALLOWED_FLAGS[kind]) != 0 || !isSound(flags)) {
            throw new ViolationException("an entry of " + length + " bytes, kind " + kind + ", flags " + flags);
        }
        boolean needsReceive = kind == Entry.SEND
                || kind == Entry.WRITE_DONE
                || (kind == Entry.WRITE && (flags & Entry.WITH_IMMEDIATE) != 0);
        if (needsReceive && !hasReceive && !takeReceive()) {
            starve(area, index);
            return STARVED;
        }
        if (starved) {
            starved = false;
            area.setStarved(0);
        }
        return switch (kind) {
            case Entry.SEND -> send(area, entry, flags, length);
            case Entry.WRITE_DONE -> {
                complete(area, entry, flags, SUCCESS, WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM, length);
                yield SUCCESS;
            }
            case Entry.WRITE -> write(area, entry, flags, length);
            case Entry.READ -> read(area, entry, length);
            case Entry.COMPARE_AND_SWAP, Entry.FETCH_AND_ADD -> atomic(area, entry, kind);
            case Entry.VIOLATION -> refuse(area, entry, flags);
            default -> throw new ViolationException("an entry of kind " + kind);
        };
    }

    /** The receive that a refused write with immediate data would have taken tells the owner of it, as on rxe. */
    private int refuse(Area area, long entry, int flags) {
        if ((flags & Entry.WITH_IMMEDIATE) != 0 && shared == null && receives.peek() >= 0 && takeReceive()) {
            int status = WorkCompletionStatus.REMOTE_ACCESS_ERROR.value();
            complete(area, entry, 0, status, WorkCompletionOpcode.RECEIVE, 0);
        }
        return REMOTE_ACCESS;
    }

    /** What ends a message stands in its last entry, which tells one thing beside the data. */
    private static boolean isSound(int flags) {
        int ends = flags & (Entry.SOLICITED | Entry.WITH_IMMEDIATE | Entry.WITH_INVALIDATE);
        return (ends == 0 || (flags & Entry.LAST) != 0)
                && (flags & (Entry.WITH_IMMEDIATE | Entry.WITH_INVALIDATE))
                        != (Entry.WITH_IMMEDIATE | Entry.WITH_INVALIDATE);
    }

    // Receives.

    private boolean takeReceive() {
        if (shared != null) {
            if (!shared.take(queuePair, sharedWords)) {
                return false;
            }
            receiveBase = 0;
        } else {
            int base = receives.peek();
            if (base < 0) {
                throw new ViolationException("a message without a receive");
            }
            receiveBase = base;
        }
        hasReceive = true;
        placedBytes = 0;
        receiveBytes = ReceiveQueue.lengthBytes(receiveWords(), receiveBase);
        return true;
    }

    private long[] receiveWords() {
        return shared != null ? sharedWords : receives.words;
    }

    private void starve(Area area, int index) {
        if (!starved) {
            starved = true;
            area.setStarved(index + 1);
            queuePair.kickPeer();
        }
    }

    private void complete(Area area, long entry, int flags, int status, int opcode, int lengthBytes) {
        int immediate = 0;
        int completionFlags = 0;
        if ((flags & (Entry.WITH_IMMEDIATE | Entry.WITH_INVALIDATE)) != 0) {
            immediate = area.memory.get(ValueLayout.JAVA_INT, entry + Entry.IMMEDIATE);
            completionFlags = (flags & Entry.WITH_IMMEDIATE) != 0
                    ? WorkCompletionFlags.WITH_IMMEDIATE
                    : WorkCompletionFlags.WITH_INVALIDATE;
        }
        if (status != SUCCESS) {
            queuePair.markError();
        }
        long workRequestId = receiveWords()[receiveBase];
        hasReceive = false;
        if (shared == null) {
            // Before the completion: whoever sees that may post the next receive at once, into a queue that was full.
            receives.remove();
        }
        if (into != null) {
            CompletionRing.write(
                    into,
                    count++ * WorkCompletionLayout.SIZE,
                    workRequestId,
                    status,
                    opcode,
                    lengthBytes,
                    immediate,
                    number,
                    completionFlags);
        } else {
            queue.push(
                    null,
                    0,
                    workRequestId,
                    status,
                    opcode,
                    lengthBytes,
                    immediate,
                    number,
                    completionFlags,
                    (flags & Entry.SOLICITED) != 0);
        }
    }

    /** Completes the receive of a message that will never be whole, if it is nobody's else to complete. */
    void flush() {
        if (hasReceive && shared != null) {
            hasReceive = false;
            queue.pushFlushed(sharedWords[0], number);
        }
    }

    // Operations.

    private int send(Area area, long entry, int flags, int length) {
        if (length > receiveBytes - placedBytes) {
            int status = WorkCompletionStatus.LOCAL_LENGTH_ERROR.value();
            complete(area, entry, 0, status, WorkCompletionOpcode.RECEIVE, 0);
            return REMOTE_INVALID_REQUEST;
        }
        if (length != 0) {
            long from = sourceOf(area, entry, flags, length);
            long[] words = receiveWords();
            if (!receiveMemory.copy(
                    words,
                    receiveBase + ReceiveQueue.HEAD_WORDS,
                    (int) words[receiveBase + 1],
                    placedBytes,
                    area.memory,
                    from,
                    length,
                    AccessFlags.LOCAL_WRITE)) {
                int status = WorkCompletionStatus.LOCAL_PROTECTION_ERROR.value();
                complete(area, entry, 0, status, WorkCompletionOpcode.RECEIVE, 0);
                return REMOTE_OPERATION;
            }
            placedBytes += length;
        }
        if ((flags & Entry.LAST) == 0) {
            return SUCCESS;
        }
        if ((flags & Entry.WITH_INVALIDATE) != 0
                && !queuePair.invalidate(area.memory.get(ValueLayout.JAVA_INT, entry + Entry.IMMEDIATE))) {
            int status = WorkCompletionStatus.LOCAL_ACCESS_ERROR.value();
            complete(area, entry, 0, status, WorkCompletionOpcode.RECEIVE, 0);
            return REMOTE_ACCESS;
        }
        complete(area, entry, flags, SUCCESS, WorkCompletionOpcode.RECEIVE, (int) placedBytes);
        return SUCCESS;
    }

    /** Where the bytes of an entry are in the area. */
    private static long sourceOf(Area area, long entry, int flags, int length) {
        if ((flags & Entry.INLINE) != 0) {
            if (length > Entry.INLINE_BYTES) {
                throw new ViolationException("an entry of " + length + " bytes inline");
            }
            return entry + Entry.OPERAND;
        }
        return staging(area, entry, length);
    }

    private static long staging(Area area, long entry, int length) {
        int offset = area.memory.get(ValueLayout.JAVA_INT, entry + Entry.STAGING);
        if (offset < 0 || length > area.stagingBytes || offset > area.stagingBytes - length) {
            throw new ViolationException("an entry of " + length + " bytes at " + offset);
        }
        return area.stagingOffset + offset;
    }

    /** What the key stands for that the initiator names; null when it may not. */
    private Key target(Area area, long entry, long address, int length, int access) {
        return (queuePair.accessFlags() & access) == 0
                ? null
                : targetMemory.findRemote(
                        area.memory.get(ValueLayout.JAVA_INT, entry + Entry.REMOTE_KEY), address, length, access);
    }

    private static long address(Area area, long entry) {
        return area.memory.get(ValueLayout.JAVA_LONG, entry + Entry.REMOTE_ADDRESS);
    }

    private int write(Area area, long entry, int flags, int length) {
        long from = sourceOf(area, entry, flags, length);
        long address = address(area, entry);
        Key to = target(area, entry, address, length, AccessFlags.REMOTE_WRITE);
        if (to == null || !LocalMemory.copyPiece(to, address, area.memory, from, length, false)) {
            return REMOTE_ACCESS;
        }
        if ((flags & Entry.WITH_IMMEDIATE) != 0) {
            // The whole message's length stands where an atomic has its second operand.
            long total = area.memory.get(ValueLayout.JAVA_LONG, entry + Entry.SWAP);
            if (total < length || total > Integer.MAX_VALUE) {
                throw new ViolationException("a write of " + total + " bytes");
            }
            complete(area, entry, flags, SUCCESS, WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM, (int) total);
        }
        return SUCCESS;
    }

    private int read(Area area, long entry, int length) {
        long to = staging(area, entry, length);
        long address = address(area, entry);
        Key from = target(area, entry, address, length, AccessFlags.REMOTE_READ);
        return from != null && LocalMemory.copyPiece(from, address, area.memory, to, length, true)
                ? SUCCESS
                : REMOTE_ACCESS;
    }

    private int atomic(Area area, long entry, int kind) {
        long result = staging(area, entry, Long.BYTES);
        long address = address(area, entry);
        Key key = target(area, entry, address, Long.BYTES, AccessFlags.REMOTE_ATOMIC);
        if (key == null) {
            return REMOTE_ACCESS;
        }
        long offset = key.offset(address);
        if (((address | (key.memory().address() + offset)) & (Long.BYTES - 1)) != 0) {
            return REMOTE_INVALID_REQUEST;
        }
        long operand = area.memory.get(ValueLayout.JAVA_LONG, entry + Entry.OPERAND);
        long swap = area.memory.get(ValueLayout.JAVA_LONG, entry + Entry.SWAP);
        long before;
        try {
            before = SharedWords.atomic(key.memory(), offset, kind == Entry.COMPARE_AND_SWAP, operand, swap);
        } catch (IllegalStateException e) {
            if (key.isAlive()) {
                throw e;
            }
            return REMOTE_ACCESS;
        }
        area.memory.set(ValueLayout.JAVA_LONG_UNALIGNED, result, before);
        return SUCCESS;
    }
}
