package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Drives a queue pair's send queue: has requests executed in their order, completes them in their order, and when one
 * can't go on, says so to the peer and watches the time that it may take. Whoever posts drives; afterwards the progress
 * thread does, when the peer has done something or time is over.
 *
 * <p>Thread safety: {@code claim} guards everything.
 */
final class Sender {
    private static final int SUCCESS = WorkCompletionStatus.SUCCESS.value();
    private static final int FLUSHED = WorkCompletionStatus.FLUSHED.value();
    private static final int[] OPCODES = new int[SendOpcode.SEND_WITH_INVALIDATE + 1];

    static {
        OPCODES[SendOpcode.WRITE] = WorkCompletionOpcode.WRITE;
        OPCODES[SendOpcode.WRITE_WITH_IMM] = WorkCompletionOpcode.WRITE;
        OPCODES[SendOpcode.SEND] = WorkCompletionOpcode.SEND;
        OPCODES[SendOpcode.SEND_WITH_IMM] = WorkCompletionOpcode.SEND;
        OPCODES[SendOpcode.READ] = WorkCompletionOpcode.READ;
        OPCODES[SendOpcode.COMPARE_AND_SWAP] = WorkCompletionOpcode.COMPARE_AND_SWAP;
        OPCODES[SendOpcode.FETCH_AND_ADD] = WorkCompletionOpcode.FETCH_AND_ADD;
        OPCODES[SendOpcode.LOCAL_INVALIDATE] = WorkCompletionOpcode.LOCAL_INVALIDATE;
        OPCODES[SendOpcode.BIND_MEMORY_WINDOW] = WorkCompletionOpcode.BIND_MEMORY_WINDOW;
        OPCODES[SendOpcode.SEND_WITH_INVALIDATE] = WorkCompletionOpcode.SEND;
    }

    /** The next in the completion queue's list of those that wait; the list's business. */
    Sender nextWaiting;

    private final AtomicBoolean enlisted = new AtomicBoolean();
    private final Claim claim = new Claim();
    private final SoftQueuePair queuePair;
    private final SoftCompletionQueue queue;
    private final SendQueue sends;
    private final Requester requester;
    private final PromptWrite promptWrite;
    private final SendTimer timer;
    private final int number;
    private final boolean signalAll;
    private Outbound outbound;
    // Requests were sent to a former peer that will never answer them.
    private boolean answersLost;
    // A request has failed, so that nothing after it is executed.
    private boolean failed;
    // The queue pair must go to error as soon as the claim is released.
    private boolean errorDue;

    // What the peer's progress thread was asked to look at last.
    private int kickedProduced;
    private int kickedFlags;

    Sender(SoftQueuePair queuePair, SoftCompletionQueue queue, SendQueue sends, LocalMemory memory, boolean signalAll) {
        this.queuePair = queuePair;
        this.queue = queue;
        this.sends = sends;
        this.requester = new Requester(queuePair, sends, memory);
        this.promptWrite = new PromptWrite(memory, sends.maxInlineBytes());
        this.timer = new SendTimer(queuePair, sends, this::expire);
        this.number = queuePair.number();
        this.signalAll = signalAll;
    }

    // Who drives.

    /** Posts a list. */
    int post(MemorySegment first) {
        int errno = 0;
        long request = first.address();
        claim.acquire();
        try {
            if (executeAtOnce(request, null, 0, 0)) {
                return 0;
            }
            if (!queuePair.acceptsSends()) {
                errno = Errno.EINVAL;
            }
            int before = sends.tail;
            while (errno == 0 && request != 0) {
                errno = sends.append(request);
                if (errno == 0) {
                    request = ProcessMemory.getLong(request + SendWorkRequestLayout.NEXT.offset());
                }
            }
            run(false);
            if (sends.next != sends.tail) {
                sends.keepInlineBytes(before);
            }
        } finally {
            releaseAndSettle();
        }
        return errno == 0 ? 0 : SendQueue.refuse(first, request, errno);
    }

    /** Posts one inline request whose data lies in a buffer. */
    int post(MemorySegment first, ByteBuffer data, int dataPosition, int dataBytes) {
        long request = first.address();
        int errno = Errno.EINVAL;
        claim.acquire();
        try {
            if (executeAtOnce(request, data, dataPosition, dataBytes)) {
                return 0;
            }
            if (queuePair.acceptsSends()) {
                errno = sends.append(request, data, dataPosition, dataBytes);
                run(false);
            }
        } finally {
            releaseAndSettle();
        }
        return errno == 0 ? 0 : SendQueue.refuse(first, request, errno);
    }

    /**
     * Executes a list of one request, if that is possible without the send queue and nothing waits in there.
     *
     * @param data its inline data, when that lies in a buffer; null when it lies where the entries say
     */
    private boolean executeAtOnce(long request, ByteBuffer data, int dataPosition, int dataBytes) {
        Outbound peer = outbound;
        if (peer == null
                || sends.head != sends.tail
                || failed
                || errorDue
                || ProcessMemory.getLong(request + SendWorkRequestLayout.NEXT.offset()) != 0
                || !queuePair.isSending()
                || !sends.hasRoom()) {
            return false;
        }
        int opcode = ProcessMemory.getInt(request + SendWorkRequestLayout.OPCODE.offset());
        int flags = ProcessMemory.getInt(request + SendWorkRequestLayout.FLAGS.offset());
        int lengthBytes;
        try {
            lengthBytes = data == null
                    ? promptWrite.execute(peer, request, opcode, flags)
                    : promptWrite.execute(peer, request, opcode, flags, data, dataPosition, dataBytes);
        } catch (ViolationException e) {
            // The long way meets it again, and knows what follows from it.
            return false;
        }
        if (lengthBytes < 0) {
            return false;
        }
        int position = sends.pass();
        if (signalAll || (flags & SendFlags.SIGNALED) != 0) {
            complete(position, ProcessMemory.getLong(request), SUCCESS, opcode, lengthBytes);
        }
        return true;
    }

    /**
     * Goes on after the peer did something, or time passed. Called by the progress thread.
     *
     * @return false when somebody else was at it, so that it must be called again
     */
    boolean progress() {
        if (!claim.tryAcquire()) {
            return false;
        }
        try {
            run(true);
        } finally {
            releaseAndSettle();
        }
        return true;
    }

    /**
     * Goes on if the peer has done what is waited for, so that a program that polls need not wait for the progress
     * thread. Called by the poller of the send queue's completions.
     *
     * @return whether it waits still
     */
    boolean progressByPoller() {
        if (!claim.tryAcquire()) {
            return true;
        }
        try {
            if (outbound != null && outbound.hasMoved()) {
                run(true);
            }
            return outbound != null && outbound.isWaiting();
        } finally {
            releaseAndSettle();
        }
    }

    /** Begins to be in the completion queue's list of those that wait. */
    boolean enlist() {
        return !enlisted.get() && enlisted.compareAndSet(false, true);
    }

    /** Is no longer in the list. */
    void delist() {
        enlisted.set(false);
    }

    private void releaseAndSettle() {
        boolean enterError = errorDue;
        errorDue = false;
        claim.release();
        if (enterError) {
            queuePair.finishError();
        }
    }

    /** Sends there from now on; null to send nowhere. What waits, waits. */
    void attach(Outbound peer) {
        claim.acquire();
        try {
            attachClaimed(peer);
        } finally {
            claim.release();
        }
    }

    /**
     * The peer receives no more: what it has acknowledged until now is known now or never. It may have executed what it
     * has not acknowledged, so that this is not done again for a peer that comes anew.
     */
    void detach() {
        claim.acquire();
        try {
            run(true);
            if (requester.hasBegun()) {
                sends.setUnacknowledged(sends.base(sends.next), 0);
                sends.next++;
            }
            answersLost = sends.head != sends.next;
            attachClaimed(null);
        } finally {
            releaseAndSettle();
        }
    }

    private void attachClaimed(Outbound peer) {
        outbound = peer;
        requester.attach(peer);
        promptWrite.attach();
        timer.attach();
        kickedProduced = 0;
        kickedFlags = 0;
    }

    /** Completes everything as flushed that has not been completed; the state is ERROR. */
    void flush() {
        claim.acquire();
        try {
            run(true);
            errorDue = false;
        } finally {
            claim.release();
        }
    }

    /** Forgets everything, as the state RESET demands. */
    void reset() {
        claim.acquire();
        try {
            timer.end();
            attachClaimed(null);
            sends.clear();
            answersLost = false;
            failed = false;
            errorDue = false;
        } finally {
            claim.release();
        }
    }

    /** Waits until whoever drives now has ended. */
    void quiesce() {
        claim.acquire();
        claim.release();
    }

    /** Whether requests are under way. */
    boolean isDraining() {
        claim.acquire();
        try {
            return sends.head != sends.next || requester.hasBegun();
        } finally {
            claim.release();
        }
    }

    // Driving. The caller has the claim.

    private void run(boolean peerActed) {
        try {
            drive(peerActed);
        } catch (ViolationException e) {
            queuePair.fault(e);
            if (queuePair.isError()) {
                // There is nobody else to flush.
                flushClaimed();
            } else {
                fail();
            }
        }
    }

    private void drive(boolean peerActed) {
        while (true) {
            retire(peerActed);
            if (queuePair.isError()) {
                flushClaimed();
                return;
            }
            if (errorDue || failed || sends.next == sends.tail || !mayExecute()) {
                if (await(Requester.DONE)) {
                    continue;
                }
                return;
            }
            int base = sends.base(sends.next);
            int needs = requester.execute(base, sends.head == sends.next);
            if (needs == Requester.DONE) {
                failed = sends.status(base) != SUCCESS && sends.status(base) != SendQueue.UNACKNOWLEDGED;
                sends.next++;
            } else if (!await(needs)) {
                return;
            }
        }
    }

    /** Whether the state lets a request be executed; one that has begun goes on while the queue is drained. */
    private boolean mayExecute() {
        return queuePair.isSending() || requester.hasBegun();
    }

    private void retire(boolean peerActed) {
        retireAcknowledged();
        Outbound peer = outbound;
        if (peer != null && answersLost && sends.head != sends.next && !failed) {
            completeHead(WorkCompletionStatus.RETRY_EXCEEDED.value());
            return;
        }
        if (peer == null || (!peerActed && sends.head == sends.next && !requester.hasBegun())) {
            return;
        }
        int refusal = peer.area.refusal();
        if (refusal != 0 && !failed) {
            // What was consumed before the refusal is known now.
            retireAcknowledged();
            refused(refusal);
        }
    }

    private void retireAcknowledged() {
        while (sends.head != sends.next) {
            int base = sends.base(sends.head);
            int status = sends.status(base);
            if (status == SendQueue.UNACKNOWLEDGED) {
                if (outbound == null || answersLost || !outbound.isConsumed(sends.acknowledgedBy(base))) {
                    return;
                }
                status = SUCCESS;
            }
            completeHead(status);
        }
    }

    private void completeHead(int status) {
        int position = sends.head;
        int base = sends.base(position);
        if (status != SUCCESS && status != FLUSHED) {
            fail();
        }
        if (status != SUCCESS || signalAll || (sends.flags(base) & SendFlags.SIGNALED) != 0) {
            complete(position, sends.words[base + SendQueue.ID], status, sends.opcode(base), (int)
                    sends.words[base + SendQueue.LENGTH]);
        }
        sends.removeHead();
        timer.endOldest();
    }

    private void complete(int position, long workRequestId, int status, int opcode, int lengthBytes) {
        sends.signaled(position);
        queue.push(sends, position, workRequestId, status, OPCODES[opcode], lengthBytes, 0, number, 0, false);
    }

    private void refused(int refusal) {
        int status = refusal == WorkCompletionStatus.REMOTE_INVALID_REQUEST.value()
                        || refusal == WorkCompletionStatus.REMOTE_ACCESS_ERROR.value()
                ? refusal
                : WorkCompletionStatus.REMOTE_OPERATION_ERROR.value();
        if (sends.head != sends.next) {
            completeHead(status);
        } else if (requester.hasBegun()) {
            sends.next++;
            completeHead(status);
        }
        fail();
    }

    /** The queue pair is in error, before anybody sees the completion that tells why. */
    private void fail() {
        failed = true;
        errorDue = true;
        queuePair.markError();
    }

    private void flushClaimed() {
        timer.end();
        while (sends.head != sends.tail) {
            if (sends.head == sends.next) {
                sends.next++;
                completeHead(FLUSHED);
            } else {
                int status = sends.status(sends.base(sends.head));
                completeHead(status == SendQueue.UNACKNOWLEDGED ? FLUSHED : status);
            }
        }
        requester.attach(outbound);
        failed = true;
    }

    // Waiting.

    /**
     * Says to the peer what the send queue waits for.
     *
     * @param needs why the next request can't go on; {@link Requester#DONE} when there is none
     * @return whether to look once more
     */
    private boolean await(int needs) {
        Outbound peer = outbound;
        if (peer != null) {
            int flags = waitingFlags(needs);
            if (peer.setWaiting(flags)) {
                return true;
            }
            if (flags != 0 && (flags != kickedFlags || peer.produced() != kickedProduced)) {
                kickedProduced = peer.produced();
                peer.kick();
            }
            kickedFlags = flags;
            if (flags != 0) {
                queue.offerWaiting(this);
            }
        }
        timer.watch(needs, peer, requester.hasBegun());
        return false;
    }

    private int waitingFlags(int needs) {
        int flags = switch (needs) {
            case Requester.NEEDS_CREDIT -> Area.WAITING_CREDIT;
            case Requester.NEEDS_SPACE -> Area.WAITING_SPACE;
            case Requester.NEEDS_ANSWER -> Area.WAITING_ACKNOWLEDGEMENT;
            default -> 0;
        };
        return sends.head != sends.next ? flags | Area.WAITING_ACKNOWLEDGEMENT : flags;
    }

    /** A time is over. Called by the progress thread. */
    private void expire(SendTimer.Limit limit) {
        claim.acquire();
        try {
            run(true);
            if (timer.isOver(limit, outbound) && !errorDue) {
                if (sends.head == sends.next) {
                    sends.next++;
                }
                completeHead(limit.status());
            }
        } finally {
            releaseAndSettle();
        }
    }
}
