package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.MemoryRegion;
import java.util.Objects;

/**
 * Pieces of registered memory that make one message: an array of {@code struct ibv_sge} for the vectored calls of
 * {@link MessageQueues}. Prepared once and used many times, or cleared and filled anew; allocates nothing but itself.
 *
 * <p>Not thread-safe.
 */
public final class ScatterGatherList {
    private final long[] addresses;
    private final int[] lengths;
    private final int[] localKeys;
    private int size;

    /**
     * Makes an empty list.
     *
     * @param capacity how many pieces it may hold
     * @throws NegativeArraySizeException when the number is negative
     */
    public ScatterGatherList(int capacity) {
        addresses = new long[capacity];
        lengths = new int[capacity];
        localKeys = new int[capacity];
    }

    /**
     * Adds a piece.
     *
     * @param region the region it lies in
     * @param offset where in the region, in bytes
     * @param lengthBytes its length
     * @return this
     * @throws IndexOutOfBoundsException when it is not inside the region, or the list is full
     */
    public ScatterGatherList add(MemoryRegion region, long offset, int lengthBytes) {
        Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
        int index = Objects.checkIndex(size, addresses.length);
        addresses[index] = region.address() + offset;
        lengths[index] = lengthBytes;
        localKeys[index] = region.localKey();
        size++;
        return this;
    }

    /**
     * Removes all pieces.
     *
     * @return this
     */
    public ScatterGatherList clear() {
        size = 0;
        return this;
    }

    /**
     * How many pieces there are.
     *
     * @return their number
     */
    public int size() {
        return size;
    }

    long address(int index) {
        return addresses[Objects.checkIndex(index, size)];
    }

    int lengthBytes(int index) {
        return lengths[Objects.checkIndex(index, size)];
    }

    int localKey(int index) {
        return localKeys[Objects.checkIndex(index, size)];
    }
}
