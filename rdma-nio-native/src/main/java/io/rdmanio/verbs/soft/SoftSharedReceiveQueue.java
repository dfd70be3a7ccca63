package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A shared receive queue. Queue pairs that found it empty are remembered, and looked after by the progress thread when
 * a receive is posted.
 *
 * <p>Thread safety: all methods may be called by any thread; everything is guarded by {@code claim}.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueueHandle {
    /** The most receives that a queue can hold. */
    static final int MAX_WORK_REQUESTS = 1 << 16;
    /** The most scatter-gather entries of a receive. */
    static final int MAX_SGES = 32;

    private final SoftContext context;
    private final SoftProtectionDomain domain;
    private final long asyncElement;
    private final SharedReceiveQueueAttributes granted;

    private final Claim claim = new Claim();
    private final Set<SoftQueuePair> starved = new LinkedHashSet<>();
    private ReceiveQueue receives;
    private int limit;
    private volatile boolean destroyed;

    SoftSharedReceiveQueue(SoftContext context, SoftProtectionDomain domain, SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        if (wanted.maxWorkRequests() < 1
                || wanted.maxWorkRequests() > MAX_WORK_REQUESTS
                || wanted.maxSges() < 1
                || wanted.maxSges() > MAX_SGES) {
            throw new VerbsException(
                    "ibv_create_srq",
                    wanted.toString(),
                    Errno.EINVAL,
                    "Each size must be at least 1 and at most the device's maxSharedReceiveQueueWorkRequests ("
                            + MAX_WORK_REQUESTS + ") and maxSharedReceiveQueueSges (" + MAX_SGES + ").");
        }
        this.context = context;
        this.domain = domain;
        this.asyncElement = context.nextElement();
        this.receives = new ReceiveQueue(wanted.maxWorkRequests(), wanted.maxSges());
        this.granted = new SharedReceiveQueueAttributes(wanted.maxWorkRequests(), wanted.maxSges(), 0);
    }

    @Override
    public SharedReceiveQueueAttributes granted() {
        return granted;
    }

    /** Its domain, whose keys its receives name whichever domain the queue pair has. */
    SoftProtectionDomain domain() {
        return domain;
    }

    /** How many words a receive takes. */
    int requestWords() {
        return ReceiveQueue.HEAD_WORDS + ReceiveQueue.SGE_WORDS * granted.maxSges();
    }

    @Override
    public int number() throws VerbsException {
        throw new VerbsException(
                "ibv_get_srq_num",
                context.name(),
                Errno.EOPNOTSUPP,
                "Only shared receive queues of extended reliable connections have numbers; the device does not have"
                        + " this operation.");
    }

    @Override
    public int postReceive(MemorySegment first) {
        int errno = 0;
        long request = first.address();
        Object[] waiting = null;
        claim.acquire();
        try {
            while (request != 0) {
                errno = receives.append(request);
                if (errno != 0) {
                    break;
                }
                request = ProcessMemory.getLong(request + ReceiveWorkRequestLayout.NEXT.offset());
            }
            if (!starved.isEmpty()) {
                waiting = starved.toArray();
                starved.clear();
            }
        } finally {
            claim.release();
        }
        if (waiting != null) {
            for (Object queuePair : waiting) {
                ((SoftQueuePair) queuePair).progressSoon();
            }
        }
        return errno == 0 ? 0 : ReceiveQueue.refuse(first, request, errno);
    }

    /**
     * Takes the oldest receive.
     *
     * @param queuePair who takes it; it is remembered when there is none
     * @param into its words
     * @return whether there was one
     */
    boolean take(SoftQueuePair queuePair, long[] into) {
        boolean reached;
        claim.acquire();
        try {
            int base = receives.peek();
            if (base < 0) {
                starved.add(queuePair);
                return false;
            }
            System.arraycopy(receives.words, base, into, 0, into.length);
            receives.remove();
            reached = limit != 0 && receives.size() < limit;
            if (reached) {
                limit = 0;
            }
        } finally {
            claim.release();
        }
        if (reached) {
            context.raise(TakenAsyncEvent.ofObject(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, asyncElement));
        }
        return true;
    }

    /** A queue pair is gone. */
    void forget(SoftQueuePair queuePair) {
        claim.acquire();
        try {
            starved.remove(queuePair);
        } finally {
            claim.release();
        }
    }

    @Override
    public void modify(SharedReceiveQueueAttributes wanted, int mask) throws VerbsException {
        claim.acquire();
        try {
            boolean resize = (mask & SharedReceiveQueueHandle.MAX_WORK_REQUESTS) != 0;
            int capacity = resize ? wanted.maxWorkRequests() : receives.capacity();
            int newLimit = (mask & LIMIT) != 0 ? wanted.limit() : limit;
            if (capacity < 1 || capacity > MAX_WORK_REQUESTS || capacity < receives.size() || newLimit > capacity) {
                throw refusal(wanted, mask);
            }
            if (resize && capacity != receives.capacity()) {
                ReceiveQueue former = receives;
                receives = new ReceiveQueue(capacity, former.maxSges());
                former.moveTo(receives);
            }
            limit = newLimit;
        } finally {
            claim.release();
        }
    }

    private static VerbsException refusal(SharedReceiveQueueAttributes wanted, int mask) {
        String size =
                (mask & SharedReceiveQueueHandle.MAX_WORK_REQUESTS) != 0 ? "max_wr=" + wanted.maxWorkRequests() : "";
        String limit = (mask & LIMIT) != 0 ? "srq_limit=" + wanted.limit() : "";
        return new VerbsException(
                "ibv_modify_srq",
                size + (size.isEmpty() || limit.isEmpty() ? "" : ", ") + limit,
                Errno.EINVAL,
                "The limit must not be more than the queue holds; a new size must be no more than the device's"
                        + " maxSharedReceiveQueueWorkRequests (" + MAX_WORK_REQUESTS
                        + "), nor less than the limit or than the receives that are posted.");
    }

    @Override
    public SharedReceiveQueueAttributes query() {
        claim.acquire();
        try {
            return new SharedReceiveQueueAttributes(receives.capacity(), receives.maxSges(), limit);
        } finally {
            claim.release();
        }
    }

    @Override
    public long asyncElement() {
        return asyncElement;
    }

    /** Whether it was destroyed, so that its id has none. */
    boolean isDestroyed() {
        return destroyed;
    }

    @Override
    public void destroy() {
        destroyed = true;
        context.forget(asyncElement);
    }
}
