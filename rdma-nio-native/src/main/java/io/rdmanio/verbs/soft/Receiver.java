package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import java.lang.foreign.MemorySegment;

/**
 * Receives that a queue pair has for itself: posting them, and telling the peer how many there are and how long.
 *
 * <p>Thread safety: {@code claim} guards posting and everything here; taking is the inbound side's.
 */
final class Receiver {
    private static final int NOTHING = 0;
    private static final int WAKE = 1;
    private static final int FLUSH = 2;

    private final Claim claim = new Claim();
    private final SoftQueuePair queuePair;
    private final ReceiveQueue receives;
    private final LocalMemory memory;
    // Where the peer is told; null when it isn't connected.
    private Area mirror;
    // How many had been posted when the mirror began.
    private int mirroredFrom;
    // The peer waits for a receive.
    private boolean wanted;

    Receiver(SoftQueuePair queuePair, ReceiveQueue receives, LocalMemory memory) {
        this.queuePair = queuePair;
        this.receives = receives;
        this.memory = memory;
    }

    /** Posts a list. */
    int post(MemorySegment first) {
        int errno = 0;
        long request = first.address();
        int due;
        claim.acquire();
        try {
            if (queuePair.isReset()) {
                return ReceiveQueue.refuse(first, request, Errno.EINVAL);
            }
            int before = receives.posted();
            while (request != 0) {
                errno = receives.append(request);
                if (errno != 0) {
                    break;
                }
                request = ProcessMemory.getLong(request + ReceiveWorkRequestLayout.NEXT.offset());
            }
            due = appended(before);
        } finally {
            claim.release();
        }
        settle(due);
        return errno == 0 ? 0 : ReceiveQueue.refuse(first, request, errno);
    }

    /** Posts requests without scatter-gather entries, numbered from 0 on. */
    int postEmpty(int count) {
        int fitting;
        int due;
        claim.acquire();
        try {
            if (queuePair.isReset()) {
                return Errno.EINVAL;
            }
            int before = receives.posted();
            fitting = receives.appendEmpty(count);
            due = appended(before);
        } finally {
            claim.release();
        }
        settle(due);
        return fitting == count ? 0 : Errno.ENOMEM;
    }

    /** Receives were appended from a position on; what is due when the claim is released. The caller has the claim. */
    private int appended(int from) {
        // Asked after appending: in error receives are flushed as they come, and the peer must not count them.
        if (queuePair.isError()) {
            return FLUSH;
        }
        if (mirror == null || receives.posted() == from) {
            return NOTHING;
        }
        publish(from, false);
        boolean wake = wanted;
        wanted = false;
        return wake ? WAKE : NOTHING;
    }

    private void settle(int due) {
        if (due == WAKE) {
            queuePair.kickPeer();
        } else if (due == FLUSH) {
            queuePair.flushReceives();
        }
    }

    /**
     * Tells the peer of the receives from a position on.
     *
     * @param fresh whether the mirror is zero there still
     */
    private void publish(int from, boolean fresh) {
        int to = receives.posted();
        for (int position = from; position != to; position++) {
            int base = receives.base(position);
            if (receives.words[base + 1] != 0) {
                mirror.setMirroredLength(position - mirroredFrom, lengthForPeer(base));
            } else if (!fresh) {
                mirror.setMirroredLength(position - mirroredFrom, 0);
            }
        }
        mirror.setPosted(to - mirroredFrom);
    }

    private int lengthForPeer(int base) {
        long length = ReceiveQueue.lengthBytes(receives.words, base);
        boolean usable = memory.permits(
                receives.words,
                base + ReceiveQueue.HEAD_WORDS,
                (int) receives.words[base + 1],
                AccessFlags.LOCAL_WRITE);
        return usable ? (int) Math.min(length, Integer.MAX_VALUE) : Area.UNUSABLE;
    }

    /** The peer learns of the receives there, in an area of zeros, from now on. The caller has the inbound claim. */
    void attach(Area area) {
        claim.acquire();
        try {
            mirror = area;
            mirroredFrom = receives.posted() - receives.size();
            wanted = false;
            publish(mirroredFrom, true);
        } finally {
            claim.release();
        }
    }

    /** The peer learns nothing any more. */
    void detach() {
        claim.acquire();
        mirror = null;
        claim.release();
    }

    /** The peer waits for a receive. The caller has the inbound claim, and has taken all that had come. */
    void want() {
        boolean wake;
        claim.acquire();
        try {
            wake = receives.size() != 0;
            wanted = !wake;
        } finally {
            claim.release();
        }
        if (wake) {
            queuePair.kickPeer();
        }
    }

    /** Waits until whoever posts now has ended. */
    void quiesce() {
        claim.acquire();
        claim.release();
    }

    /** Completes everything that is posted as flushed. The caller has the inbound claim. */
    void flush(SoftCompletionQueue queue) {
        for (int base = receives.peek(); base >= 0; base = receives.peek()) {
            long workRequestId = receives.words[base];
            receives.remove();
            queue.pushFlushed(workRequestId, queuePair.number());
        }
    }

    /** Forgets everything. The caller has the inbound claim. */
    void clear() {
        claim.acquire();
        receives.clear();
        claim.release();
    }
}
