package io.rdmanio.stream;

import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;

/**
 * Slabs of one protection domain and with the same rights, from which connections borrow blocks. There is always enough to
 * make another slab of: each doubles what there is, up to a bound. One that nobody has borrowed from for a while is freed.
 *
 * <p>Thread-safe. {@code lock} guards the slabs and is held for moments; {@code growing} keeps two threads from making a slab
 * when one will do, and is held while the kernel registers memory.
 */
final class SlabPool {
    /** A page: less is registered, and locked, no cheaper. */
    private static final int MIN_SLAB_BYTES = 4 << 10;

    private static final int FIRST_SLAB_BYTES = 64 << 10;
    private static final int MAX_SLAB_BYTES = 8 << 20;

    private final ProtectionDomain domain;
    private final int accessFlags;
    private final MemoryBudget budget;
    private final Runnable whenUnused;
    private final ReentrantLock growing = new ReentrantLock();
    private final ReentrantLock lock = new ReentrantLock();

    // begin: guarded by lock
    private final List<MemorySlab> slabs = new ArrayList<>();
    private long registeredBytes;
    // end

    /**
     * An empty pool.
     *
     * @param budget what may be registered
     * @param whenUnused told, without the lock, that a slab may be freed after a while
     */
    SlabPool(ProtectionDomain domain, int accessFlags, MemoryBudget budget, Runnable whenUnused) {
        this.domain = domain;
        this.accessFlags = accessFlags;
        this.budget = budget;
        this.whenUnused = whenUnused;
    }

    /**
     * Borrows a block; registers memory if need be, which blocks in the kernel.
     *
     * @throws VerbsException if the budget is used up, there is no memory, or it can't be registered
     */
    MemoryBlock borrow(int wantedBytes) throws VerbsException {
        int pieceBytes = BuddyAllocator.pieceBytes(wantedBytes);
        MemoryBlock block = tryBorrow(pieceBytes);
        return block != null ? block : grow(pieceBytes, budget::tryRegister);
    }

    /**
     * Registers memory for a block, unless there is one by now; blocks in the kernel.
     *
     * @throws VerbsException if what growth may have of the budget is used up, there is no memory, or it can't be registered
     */
    void makeRoom(int wantedBytes) throws VerbsException {
        giveBack(grow(BuddyAllocator.pieceBytes(wantedBytes), budget::tryGrow));
    }

    private MemoryBlock grow(int pieceBytes, LongPredicate taking) throws VerbsException {
        growing.lock();
        try {
            MemoryBlock block = tryBorrow(pieceBytes);
            if (block != null) {
                return block;
            }
            int leastBytes = Math.max(pieceBytes, MIN_SLAB_BYTES);
            for (int bytes = nextSlabBytes(pieceBytes); bytes >= leastBytes; bytes /= 2) {
                if (taking.test(bytes)) {
                    return add(register(bytes), pieceBytes);
                }
            }
            throw budget.exhausted(pieceBytes);
        } finally {
            growing.unlock();
        }
    }

    private MemorySlab register(int bytes) throws VerbsException {
        boolean registered = false;
        try {
            MemorySlab slab = new MemorySlab(domain.allocateMemory(bytes, accessFlags));
            registered = true;
            return slab;
        } finally {
            if (!registered) {
                budget.deregistered(bytes);
            }
        }
    }

    private int nextSlabBytes(int pieceBytes) {
        int doubling = Math.clamp(Long.highestOneBit(registeredBytes()), FIRST_SLAB_BYTES, MAX_SLAB_BYTES);
        return Math.max(doubling, pieceBytes);
    }

    private MemoryBlock add(MemorySlab slab, int pieceBytes) {
        lock.lock();
        try {
            slabs.add(slab);
            registeredBytes += slab.lengthBytes();
            return lend(slab, pieceBytes);
        } finally {
            lock.unlock();
        }
    }

    /** Null if the slab has no such piece. Lock held. */
    private MemoryBlock lend(MemorySlab slab, int pieceBytes) {
        int offset = pieceBytes <= slab.lengthBytes() ? slab.pieces.allocate(pieceBytes) : BuddyAllocator.FULL;
        if (offset == BuddyAllocator.FULL) {
            return null;
        }
        budget.lent(pieceBytes);
        return new MemoryBlock(slab, offset, pieceBytes);
    }

    /** Borrows a block of what is registered already, the oldest slabs first; null if there is none. */
    MemoryBlock tryBorrow(int wantedBytes) {
        int pieceBytes = BuddyAllocator.pieceBytes(wantedBytes);
        lock.lock();
        try {
            for (MemorySlab slab : slabs) {
                MemoryBlock block = lend(slab, pieceBytes);
                if (block != null) {
                    return block;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives a block back, to be lent to another connection.
     *
     * @throws IllegalStateException if it was given back before
     */
    void giveBack(MemoryBlock block) {
        boolean unused;
        lock.lock();
        try {
            block.slab.pieces.free(block.offset, block.lengthBytes);
            budget.lent(-block.lengthBytes);
            unused = block.slab.pieces.isUnused();
            if (unused) {
                block.slab.unusedSinceNanos = System.nanoTime();
            }
        } finally {
            lock.unlock();
        }
        if (unused) {
            whenUnused.run();
        }
    }

    /**
     * Takes out the slabs of which nothing has been lent for a while; the caller frees them.
     *
     * @param nanos how long
     * @return whether others may be taken out later
     */
    boolean takeUnused(long nanos, List<MemorySlab> taken) {
        boolean left = false;
        lock.lock();
        try {
            long now = System.nanoTime();
            for (Iterator<MemorySlab> all = slabs.iterator(); all.hasNext(); ) {
                MemorySlab slab = all.next();
                if (slab.pieces.isUnused()) {
                    if (now - slab.unusedSinceNanos >= nanos) {
                        all.remove();
                        registeredBytes -= slab.lengthBytes();
                        taken.add(slab);
                    } else {
                        left = true;
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        return left;
    }

    /** Bytes registered. */
    long registeredBytes() {
        lock.lock();
        try {
            return registeredBytes;
        } finally {
            lock.unlock();
        }
    }
}
