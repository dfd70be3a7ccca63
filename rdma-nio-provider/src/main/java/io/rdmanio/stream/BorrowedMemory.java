package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection has borrowed of its {@link TrustDomain}. All goes back at once, when its queue pair is destroyed and the
 * peer can write no more by way of it: only then may another connection have it.
 *
 * <p>Not thread-safe: filled by the worker that makes the connection, then guarded by the connection's lock; no exchange follows
 * the end of the queue pair.
 */
final class BorrowedMemory implements AutoCloseable {
    /** Better than nothing. */
    private static final int SHORT_BYTES = 4 << 10;

    private final StreamMemory memory;
    private final TrustDomain domain;
    private final List<MemoryBlock> exposed = new ArrayList<>();
    private final List<MemoryBlock> local = new ArrayList<>();
    private boolean leftToQueuePair;
    private Runnable whenGrown = () -> {};

    BorrowedMemory(StreamMemory memory, TrustDomain domain) {
        this.memory = memory;
        this.domain = domain;
    }

    ProtectionDomain protectionDomain() {
        return domain.protectionDomain;
    }

    /** Sets what a worker runs when there may be blocks that there were not before. */
    void whenGrown(Runnable task) {
        whenGrown = task;
    }

    /** A block that the peer may write. */
    MemoryBlock exposed(int bytes) throws VerbsException {
        MemoryBlock block = borrow(domain.exposed, bytes);
        exposed.add(block);
        return block;
    }

    /** A block that the peer may not write. */
    MemoryBlock local(int bytes) throws VerbsException {
        MemoryBlock block = borrow(domain.local, bytes);
        local.add(block);
        return block;
    }

    /** What others keep for later must not keep this connection from being made. */
    private MemoryBlock borrow(SlabPool pool, int bytes) throws VerbsException {
        try {
            return pool.borrow(bytes);
        } catch (VerbsException e) {
            if (e.errno() != Errno.ENOBUFS && e.errno() != Errno.ENOMEM) {
                throw e;
            }
            memory.freeUnused(0);
            return pool.borrow(bytes);
        }
    }

    /**
     * A block for a half, in exchange for one that the peer writes to no more. While there is none of the wanted length, more
     * memory is made for the next, and a shorter one must do. Does not block.
     *
     * @param former exposed, and filled by the peer up to its end, or unknown to it; null if there is none
     * @param wantedBytes how long it should be
     * @return the former one if it is as good as any; null if there was none and there is none until {@link #whenGrown}
     */
    MemoryBlock exchange(MemoryBlock former, int wantedBytes) {
        if (former != null && former.lengthBytes == BuddyAllocator.pieceBytes(wantedBytes)) {
            return former;
        }
        MemoryBlock block = domain.exposed.tryBorrow(wantedBytes);
        if (block == null) {
            if (former == null || former.lengthBytes < wantedBytes) {
                memory.growSoon(domain, domain.exposed, wantedBytes, whenGrown);
            }
            if (former != null) {
                return former;
            }
            block = shorter(wantedBytes);
            if (block == null) {
                return null;
            }
        }
        exposed.add(block);
        if (former != null) {
            giveBack(former);
        }
        return block;
    }

    /**
     * A longer block that the peer may not write, in exchange for one that is not in use. Does not block.
     *
     * @return the former one if there is no other until {@link #whenGrown}
     */
    MemoryBlock exchangeLocal(MemoryBlock former, int wantedBytes) {
        MemoryBlock longer = domain.local.tryBorrow(wantedBytes);
        if (longer == null) {
            memory.growSoon(domain, domain.local, wantedBytes, whenGrown);
            return former;
        }
        local.add(longer);
        local.remove(former);
        domain.local.giveBack(former);
        return longer;
    }

    private MemoryBlock shorter(int wantedBytes) {
        for (int bytes = wantedBytes / 2; bytes >= SHORT_BYTES; bytes /= 2) {
            MemoryBlock block = domain.exposed.tryBorrow(bytes);
            if (block != null) {
                return block;
            }
        }
        return null;
    }

    /** Gives an exposed block back ahead of the others, which the peer has filled up to its end, or does not know of. */
    void giveBack(MemoryBlock block) {
        exposed.remove(block);
        domain.exposed.giveBack(block);
        memory.roomMade();
    }

    /** From now on it goes back when the queue pair has come to its end, and not by {@link #close}. */
    void leaveTo(QueuePair queuePair) {
        queuePair.onQuiet(this::giveBack);
        leftToQueuePair = true;
    }

    private void giveBack() {
        exposed.forEach(domain.exposed::giveBack);
        local.forEach(domain.local::giveBack);
        memory.leave(domain);
    }

    /** Gives everything back, if there never was a queue pair. */
    @Override
    public void close() {
        if (!leftToQueuePair) {
            giveBack();
        }
    }
}
