package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A receive work request ({@code struct ibv_recv_wr}) with its scatter-gather entries, in native memory: prepared once,
 * posted many times by {@link QueuePair#postReceive}. The queue pair copies what it needs, so the request may be
 * changed and posted again as soon as the post returned. The setters return the request itself and allocate nothing.
 *
 * <p>Not thread-safe: for one thread at a time.
 */
public final class ReceiveWorkRequest implements AutoCloseable {
    private final int maxSges;
    private final OwnMemory memory;
    // Keeps the memory of the list reachable.
    private ReceiveWorkRequest next;

    /**
     * Allocates a request of its own, freed by {@link #close}: everything zero, no entries in use.
     *
     * @param maxSges room for this many scatter-gather entries
     * @throws IllegalArgumentException when the number is negative
     */
    public ReceiveWorkRequest(int maxSges) {
        this(null, maxSges);
    }

    /**
     * Allocates a request in an arena, whose owner frees it.
     *
     * @param arena where; or null for one of its own
     * @param maxSges room for this many scatter-gather entries
     * @throws IllegalArgumentException when the number is negative
     */
    public ReceiveWorkRequest(Arena arena, int maxSges) {
        if (maxSges < 0) {
            throw new IllegalArgumentException("maxSges " + maxSges + " is negative");
        }
        this.maxSges = maxSges;
        this.memory = new OwnMemory(
                arena,
                ReceiveWorkRequestLayout.ALLOCATED_BYTES + maxSges * ScatterGatherLayout.SIZE,
                HandleKind.RECEIVE_WORK_REQUEST);
        ReceiveWorkRequestLayout.SGE_LIST.set(memory(), memory().address() + ReceiveWorkRequestLayout.ALLOCATED_BYTES);
    }

    MemorySegment memory() {
        return memory.segment();
    }

    /**
     * Sets the number that the completion will carry.
     *
     * @param id the number
     * @return this
     */
    public ReceiveWorkRequest workRequestId(long id) {
        ReceiveWorkRequestLayout.WORK_REQUEST_ID.set(memory(), id);
        return this;
    }

    /**
     * Sets how many scatter-gather entries are in use.
     *
     * @param n the number
     * @return this
     * @throws IndexOutOfBoundsException when there is no room for so many
     */
    public ReceiveWorkRequest sgeCount(int n) {
        ReceiveWorkRequestLayout.SGE_COUNT.set(memory(), Objects.checkIndex(n, maxSges + 1));
        return this;
    }

    /**
     * Sets a scatter-gather entry.
     *
     * @param index which
     * @param address where the data goes
     * @param lengthBytes how much fits
     * @param localKey the key of the memory, which must allow local writes
     * @return this
     * @throws IndexOutOfBoundsException when there is no such entry
     */
    public ReceiveWorkRequest sge(int index, long address, int lengthBytes, int localKey) {
        long base = ReceiveWorkRequestLayout.ALLOCATED_BYTES
                + Objects.checkIndex(index, maxSges) * ScatterGatherLayout.SIZE;
        ScatterGatherLayout.ADDRESS.set(memory(), base, address);
        ScatterGatherLayout.LENGTH.set(memory(), base, lengthBytes);
        ScatterGatherLayout.LOCAL_KEY.set(memory(), base, localKey);
        return this;
    }

    /**
     * Sets a scatter-gather entry to a piece of a region.
     *
     * @param index which
     * @param region the region
     * @param offset where the piece begins in it, in bytes
     * @param lengthBytes its length
     * @return this
     * @throws IndexOutOfBoundsException when there is no such entry, or the piece is not within the region
     */
    public ReceiveWorkRequest sge(int index, MemoryRegion region, long offset, int lengthBytes) {
        Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
        return sge(index, region.address() + offset, lengthBytes, region.localKey());
    }

    /**
     * Sets the request that follows in the list that is posted at once. It must not be closed before this one is
     * posted.
     *
     * @param nextOrNull the next, or null at the end
     * @return this
     * @throws IllegalArgumentException when the list would lead back to this request
     */
    public ReceiveWorkRequest next(ReceiveWorkRequest nextOrNull) {
        for (ReceiveWorkRequest request = nextOrNull; request != null; request = request.next) {
            if (request == this) {
                throw new IllegalArgumentException("the list leads back to its beginning");
            }
        }
        next = nextOrNull;
        ReceiveWorkRequestLayout.NEXT.set(
                memory(), next == null ? 0 : next.memory().address());
        return this;
    }

    /** The list's first request, after a check that none of its memory was freed. */
    MemorySegment checkedList() {
        for (ReceiveWorkRequest request = next; request != null; request = request.next) {
            // Reading finds out, too, whether the arena is closed that somebody else owns.
            ReceiveWorkRequestLayout.NEXT.get(request.memory());
        }
        ReceiveWorkRequestLayout.clearFailed(memory());
        return memory();
    }

    /** The exception for a post of this list that failed. */
    PostException failure(String operation, String arguments, int errno, String cure) {
        long failed = ReceiveWorkRequestLayout.failed(memory());
        int index = 0;
        for (ReceiveWorkRequest request = this; request != null; request = request.next) {
            if (request.memory().address() == failed) {
                return PostException.at(
                        index,
                        ReceiveWorkRequestLayout.WORK_REQUEST_ID.get(request.memory()),
                        operation,
                        arguments,
                        errno,
                        cure);
            }
            index++;
        }
        return PostException.unplaced(operation, arguments, errno, cure);
    }

    /** Frees the memory, unless it lies in a given arena. Idempotent. */
    @Override
    public void close() {
        memory.close();
    }
}
