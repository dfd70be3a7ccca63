package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * An array of completions ({@code struct ibv_wc}) in native memory, allocated once and filled by
 * {@link CompletionQueue#poll} again and again. The accessors read an entry that the last poll filled and allocate
 * nothing.
 *
 * <p>Not thread-safe: for one thread at a time.
 */
public final class WorkCompletions implements AutoCloseable {
    private final int capacity;
    private final OwnMemory memory;

    /**
     * Allocates an array of its own, freed by {@link #close}.
     *
     * @param capacity how many completions fit
     * @throws IllegalArgumentException when the capacity is less than 1
     */
    public WorkCompletions(int capacity) {
        this(null, capacity);
    }

    /**
     * Allocates an array in an arena, whose owner frees it.
     *
     * @param arena where; or null for one of its own
     * @param capacity how many completions fit
     * @throws IllegalArgumentException when the capacity is less than 1
     */
    public WorkCompletions(Arena arena, int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + " is less than 1");
        }
        this.capacity = capacity;
        this.memory = new OwnMemory(arena, capacity * WorkCompletionLayout.SIZE, HandleKind.WORK_COMPLETIONS);
    }

    /**
     * How many completions fit.
     *
     * @return the capacity
     */
    public int capacity() {
        return capacity;
    }

    MemorySegment memory() {
        return memory.segment();
    }

    /** The memory, after a check that the arena is open, which somebody else may own: C writes there without one. */
    MemorySegment writableMemory() {
        MemorySegment segment = memory();
        segment.get(ValueLayout.JAVA_BYTE, 0);
        return segment;
    }

    private static long base(int i) {
        return i * WorkCompletionLayout.SIZE;
    }

    /**
     * The number that the work request carried.
     *
     * @param i the entry
     * @return wr_id
     */
    public long workRequestId(int i) {
        return WorkCompletionLayout.WORK_REQUEST_ID.get(memory(), base(i));
    }

    /**
     * How the work request ended.
     *
     * @param i the entry
     * @return the C value, to be named by {@link WorkCompletionStatus#of}
     */
    public int status(int i) {
        return WorkCompletionLayout.STATUS.get(memory(), base(i));
    }

    /**
     * Tells whether the work request succeeded.
     *
     * @param i the entry
     * @return true when its status is SUCCESS
     */
    public boolean succeeded(int i) {
        return status(i) == 0;
    }

    /**
     * What completed. Defined only when it succeeded.
     *
     * @param i the entry
     * @return the C value, one of {@link WorkCompletionOpcode}
     */
    public int opcode(int i) {
        return WorkCompletionLayout.OPCODE.get(memory(), base(i));
    }

    /**
     * How many bytes were transferred. Defined for receives and reads that succeeded.
     *
     * @param i the entry
     * @return bytes
     */
    public int lengthBytes(int i) {
        return WorkCompletionLayout.LENGTH.get(memory(), base(i));
    }

    /**
     * Immediate data, when {@link #hasImmediate} says that there is any.
     *
     * @param i the entry
     * @return the value in host order
     */
    public int immediateData(int i) {
        return WorkCompletionLayout.IMMEDIATE_DATA.get(memory(), base(i));
    }

    /**
     * The key that the peer's SEND_WITH_INVALIDATE has invalidated here, when the flags have
     * {@link WorkCompletionFlags#WITH_INVALIDATE}. It lies in the place of immediate data.
     *
     * @param i the entry
     * @return the key
     */
    public int invalidatedKey(int i) {
        return WorkCompletionLayout.INVALIDATED_KEY.get(memory(), base(i));
    }

    /**
     * The completion's flags.
     *
     * @param i the entry
     * @return bits of {@link WorkCompletionFlags}
     */
    public int flags(int i) {
        return WorkCompletionLayout.FLAGS.get(memory(), base(i));
    }

    /**
     * Tells whether there is immediate data.
     *
     * @param i the entry
     * @return true when the flag is set
     */
    public boolean hasImmediate(int i) {
        return (flags(i) & WorkCompletionFlags.WITH_IMMEDIATE) != 0;
    }

    /**
     * The vendor's own error code, when the work request failed.
     *
     * @param i the entry
     * @return the code
     */
    public int vendorError(int i) {
        return WorkCompletionLayout.VENDOR_ERROR.get(memory(), base(i));
    }

    /**
     * The local queue pair that the work request was posted to.
     *
     * @param i the entry
     * @return its number
     */
    public int queuePairNumber(int i) {
        return WorkCompletionLayout.QUEUE_PAIR_NUMBER.get(memory(), base(i));
    }

    /**
     * The queue pair that a datagram came from. Defined for receives of datagrams.
     *
     * @param i the entry
     * @return src_qp
     */
    public int sourceQueuePairNumber(int i) {
        return WorkCompletionLayout.SOURCE_QUEUE_PAIR.get(memory(), base(i));
    }

    /**
     * The index of the partition key that a datagram carried. Defined for the queue pair of general services.
     *
     * @param i the entry
     * @return pkey_index
     */
    public int partitionKeyIndex(int i) {
        return WorkCompletionLayout.PARTITION_KEY_INDEX.get(memory(), base(i));
    }

    /**
     * The LID that a datagram came from. Defined for receives of datagrams over InfiniBand.
     *
     * @param i the entry
     * @return slid
     */
    public int sourceLocalId(int i) {
        return WorkCompletionLayout.SOURCE_LOCAL_ID.get(memory(), base(i));
    }

    /**
     * The service level of a datagram. Defined for receives of datagrams.
     *
     * @param i the entry
     * @return sl
     */
    public int serviceLevel(int i) {
        return WorkCompletionLayout.SERVICE_LEVEL.get(memory(), base(i));
    }

    /**
     * The path bits of the LID that a datagram was sent to. Defined for receives of unicast datagrams over InfiniBand.
     *
     * @param i the entry
     * @return dlid_path_bits
     */
    public int destinationPathBits(int i) {
        return WorkCompletionLayout.DESTINATION_PATH_BITS.get(memory(), base(i));
    }

    /**
     * Tells whether the datagram begins with a global route header, which fills the first 40 bytes of the receive
     * buffer in either case.
     *
     * @param i the entry
     * @return true when the flag is set
     */
    public boolean hasGlobalRouteHeader(int i) {
        return (flags(i) & WorkCompletionFlags.GLOBAL_ROUTE_HEADER) != 0;
    }

    /**
     * An entry and the header that belongs to it, checked: C would read the header whenever the entry tells of one.
     *
     * @return the entry's memory
     */
    MemorySegment entryWithHeader(int i, MemorySegment header) {
        MemorySegment entry = memory().asSlice(base(Objects.checkIndex(i, capacity)), WorkCompletionLayout.SIZE);
        if (header == null ? hasGlobalRouteHeader(i) : header.byteSize() < GlobalRoute.HEADER_BYTES) {
            throw new IllegalArgumentException("entry " + i + " tells of a global route header, which is "
                    + GlobalRoute.HEADER_BYTES + " bytes, and there are "
                    + (header == null ? "none" : header.byteSize()));
        }
        return entry;
    }

    /** Frees the memory, unless it lies in a given arena. Idempotent. */
    @Override
    public void close() {
        memory.close();
    }
}
