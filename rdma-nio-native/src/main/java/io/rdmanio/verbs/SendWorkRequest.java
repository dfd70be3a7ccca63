package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * A send work request ({@code struct ibv_send_wr}) with its scatter-gather entries, in native memory: prepared once,
 * posted many times by {@link QueuePair#postSend}. The queue pair copies what it needs, so the request may be changed
 * and posted again as soon as the post returned (the data it points to may not, unless it was sent inline). The setters
 * return the request itself and allocate nothing.
 *
 * <p>As in C, some parts share memory, and the one set last counts: the target ({@link #remote}, {@link #atomic} or
 * {@link #datagram}); immediate data and a key to invalidate; {@link #segmentation} and what binds a memory window.
 * Each of these setters replaces all that the others set and an operation of its kind reads; {@link #clear} empties the
 * request.
 *
 * <p>Not thread-safe: for one thread at a time.
 */
public final class SendWorkRequest implements AutoCloseable {
    /** The queue pair number that stands for all members of a multicast group. */
    public static final int MULTICAST_NUMBER = 0xFFFFFF;

    private static final int MAX_SHORT = 0xFFFF;

    private final int maxSges;
    private final OwnMemory memory;
    // Keeps the memory of the list reachable.
    private SendWorkRequest next;
    // What a bind names by address; both null for any other request.
    private MemoryWindow window;
    private MemoryRegion region;
    // Kept open while it is posted; null unless this is a datagram.
    private AddressHandle addressHandle;
    // Keeps the memory reachable.
    private MemorySegment segmentHeader;
    // Which entries name a region by addresses of its own, where this process has other memory or none.
    private final boolean[] elsewhere;
    // Data of a buffer, for a device that takes entries only; null until there was some.
    private ByteBuffer staged;
    private long stagedAddress;
    // The memory of entries that name a region, kept reachable; null for entries that name an address.
    private final MemorySegment[] pieces;

    /**
     * Allocates a request of its own, freed by {@link #close}: everything zero, no entries in use.
     *
     * @param maxSges room for this many scatter-gather entries
     * @throws IllegalArgumentException when the number is negative
     */
    public SendWorkRequest(int maxSges) {
        this(null, maxSges);
    }

    /**
     * Allocates a request in an arena, whose owner frees it.
     *
     * @param arena where; or null for one of its own
     * @param maxSges room for this many scatter-gather entries
     * @throws IllegalArgumentException when the number is negative
     */
    public SendWorkRequest(Arena arena, int maxSges) {
        if (maxSges < 0) {
            throw new IllegalArgumentException("maxSges " + maxSges + " is negative");
        }
        this.maxSges = maxSges;
        this.elsewhere = new boolean[maxSges];
        this.pieces = new MemorySegment[maxSges];
        this.memory = new OwnMemory(
                arena,
                SendWorkRequestLayout.ALLOCATED_BYTES + maxSges * ScatterGatherLayout.SIZE,
                HandleKind.SEND_WORK_REQUEST);
        SendWorkRequestLayout.SGE_LIST.set(memory(), memory().address() + SendWorkRequestLayout.ALLOCATED_BYTES);
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
    public SendWorkRequest workRequestId(long id) {
        SendWorkRequestLayout.WORK_REQUEST_ID.set(memory(), id);
        return this;
    }

    /**
     * Sets the operation.
     *
     * @param opcode one of {@link SendOpcode}
     * @return this
     * @throws IllegalArgumentException when it is none of those, which drivers look up in a table without a check; or
     *     BIND_MEMORY_WINDOW, which {@link #bindMemoryWindow} sets
     */
    public SendWorkRequest opcode(int opcode) {
        if (opcode < SendOpcode.WRITE || opcode > SendOpcode.TCP_SEGMENTATION) {
            throw new IllegalArgumentException("opcode " + opcode + " is none of SendOpcode");
        }
        if (opcode == SendOpcode.BIND_MEMORY_WINDOW) {
            throw new IllegalArgumentException("bindMemoryWindow sets this opcode, with all that belongs to it");
        }
        window = null;
        region = null;
        SendWorkRequestLayout.OPCODE.set(memory(), opcode);
        return this;
    }

    /**
     * Sets the flags.
     *
     * @param flags bits of {@link SendFlags}
     * @return this
     */
    public SendWorkRequest flags(int flags) {
        SendWorkRequestLayout.FLAGS.set(memory(), flags);
        return this;
    }

    /**
     * Sets the immediate data of an operation that has any. It shares memory with a key to invalidate.
     *
     * @param hostOrderValue the value
     * @return this
     */
    public SendWorkRequest immediateData(int hostOrderValue) {
        SendWorkRequestLayout.IMMEDIATE_DATA.set(memory(), hostOrderValue);
        return this;
    }

    /**
     * Sets the key that LOCAL_INVALIDATE invalidates here, or SEND_WITH_INVALIDATE at the peer: that of a memory window
     * of type 2. It lies in the place of immediate data.
     *
     * @param remoteKey the key
     * @return this
     */
    public SendWorkRequest invalidateKey(int remoteKey) {
        SendWorkRequestLayout.INVALIDATE_KEY.set(memory(), remoteKey);
        return this;
    }

    /**
     * Makes this a bind of a memory window of type 2 to a piece of a region: opcode BIND_MEMORY_WINDOW, no scatter-gather
     * entries. When it has completed, note the key by {@link MemoryWindow#setRemoteKey}. Window and region must not be
     * closed before it is posted.
     *
     * @param boundWindow the window
     * @param remoteKey the key it gets, {@link MemoryWindow#nextRemoteKey} in general
     * @param boundRegion what it is bound to, registered with {@link AccessFlags#MEMORY_WINDOW_BIND}; of the same domain
     *     as window and queue pair, or the completion tells of failure
     * @param address where it begins, as {@link MemoryRegion#address} counts
     * @param lengthBytes its length
     * @param accessFlags what peers may do: REMOTE_READ; REMOTE_WRITE and REMOTE_ATOMIC if the region has LOCAL_WRITE
     * @return this
     * @throws IllegalArgumentException when the window is of type 1, or the length negative
     * @throws IllegalStateException after close, of the window or the region too
     */
    public SendWorkRequest bindMemoryWindow(
            MemoryWindow boundWindow,
            int remoteKey,
            MemoryRegion boundRegion,
            long address,
            long lengthBytes,
            int accessFlags) {
        if (boundWindow.type() != MemoryWindowType.TYPE_2) {
            throw new IllegalArgumentException("a window of type 1 is bound by its own method");
        }
        if (lengthBytes < 0) {
            throw new IllegalArgumentException("lengthBytes " + lengthBytes + " is negative");
        }
        boundWindow.life.enter();
        try {
            boundRegion.life.enter();
            try {
                SendWorkRequestLayout.BIND_WINDOW.set(memory(), boundWindow.handle.reference());
                SendWorkRequestLayout.BIND_REGION.set(memory(), boundRegion.handle.reference());
            } finally {
                boundRegion.life.exit();
            }
        } finally {
            boundWindow.life.exit();
        }
        segmentHeader = null;
        window = boundWindow;
        region = boundRegion;
        SendWorkRequestLayout.BIND_KEY.set(memory(), remoteKey);
        SendWorkRequestLayout.BIND_ADDRESS.set(memory(), address);
        SendWorkRequestLayout.BIND_LENGTH.set(memory(), lengthBytes);
        SendWorkRequestLayout.BIND_ACCESS.set(memory(), accessFlags);
        SendWorkRequestLayout.SGE_COUNT.set(memory(), 0);
        SendWorkRequestLayout.OPCODE.set(memory(), SendOpcode.BIND_MEMORY_WINDOW);
        return this;
    }

    /**
     * Sets the peer's memory of a read or write. It shares memory with {@link #atomic} and {@link #datagram}.
     *
     * @param address where it begins
     * @param rkey its key
     * @return this
     */
    public SendWorkRequest remote(long address, int rkey) {
        addressHandle = null;
        SendWorkRequestLayout.REMOTE_ADDRESS.set(memory(), address);
        SendWorkRequestLayout.REMOTE_KEY.set(memory(), rkey);
        return this;
    }

    /**
     * Sets the peer's eight bytes of an atomic operation and its operands; what they held before arrives, in host order,
     * in the one scatter-gather entry. It shares memory with {@link #remote} and {@link #datagram}.
     *
     * @param address where they are, a multiple of 8
     * @param rkey the key of that memory
     * @param compareAdd what a compare-and-swap compares with, or what a fetch-and-add adds
     * @param swap what a compare-and-swap puts there when they are equal
     * @return this
     */
    public SendWorkRequest atomic(long address, int rkey, long compareAdd, long swap) {
        addressHandle = null;
        SendWorkRequestLayout.ATOMIC_REMOTE_ADDRESS.set(memory(), address);
        SendWorkRequestLayout.ATOMIC_COMPARE_ADD.set(memory(), compareAdd);
        SendWorkRequestLayout.ATOMIC_SWAP.set(memory(), swap);
        SendWorkRequestLayout.ATOMIC_REMOTE_KEY.set(memory(), rkey);
        return this;
    }

    /**
     * Sets where a datagram goes. It shares memory with {@link #remote} and {@link #atomic}. The handle is held for the
     * post only; posting after its close is refused.
     *
     * @param address the way to the peer
     * @param remoteNumber the number of its queue pair; {@link #MULTICAST_NUMBER} for a multicast group
     * @param remoteQueueKey the queue key that it wants; with the highest bit set, InfiniBand devices use the sender's
     *     own
     * @return this
     */
    public SendWorkRequest datagram(AddressHandle address, int remoteNumber, int remoteQueueKey) {
        addressHandle = address;
        SendWorkRequestLayout.DATAGRAM_ADDRESS_HANDLE.set(memory(), address.pointer());
        SendWorkRequestLayout.DATAGRAM_REMOTE_NUMBER.set(memory(), remoteNumber);
        SendWorkRequestLayout.DATAGRAM_REMOTE_KEY.set(memory(), remoteQueueKey);
        return this;
    }

    /**
     * Sets the peer's shared receive queue, for a queue pair of the type XRC_SEND. It has memory of its own beside the
     * target.
     *
     * @param remoteNumber the queue's number there
     * @return this
     */
    public SendWorkRequest xrc(int remoteNumber) {
        SendWorkRequestLayout.XRC_REMOTE_NUMBER.set(memory(), remoteNumber);
        return this;
    }

    /**
     * Sets how the device shall cut up a message of the opcode TCP_SEGMENTATION. It shares memory with what binds a
     * memory window.
     *
     * @param header the headers that begin each segment, native memory; kept until another is set
     * @param maxSegmentBytes the most data of one segment, 0 to 65535
     * @return this
     * @throws IllegalArgumentException when the header is on the heap or longer than 65535 bytes, or the size does not
     *     fit
     */
    public SendWorkRequest segmentation(MemorySegment header, int maxSegmentBytes) {
        if (!header.isNative() || header.byteSize() > MAX_SHORT) {
            throw new IllegalArgumentException("the header must be native memory of at most " + MAX_SHORT + " bytes");
        }
        UnsignedField.checkShort("maxSegmentBytes", maxSegmentBytes);
        window = null;
        region = null;
        segmentHeader = header;
        SendWorkRequestLayout.SEGMENT_HEADER.set(memory(), segmentHeader.address());
        SendWorkRequestLayout.SEGMENT_HEADER_LENGTH.set(memory(), (int) segmentHeader.byteSize());
        SendWorkRequestLayout.SEGMENT_SIZE.set(memory(), maxSegmentBytes);
        return this;
    }

    /**
     * Empties the request: everything zero as after its creation, without entries in use and without a next one.
     *
     * @return this
     */
    public SendWorkRequest clear() {
        next = null;
        addressHandle = null;
        window = null;
        region = null;
        segmentHeader = null;
        Arrays.fill(elsewhere, false);
        Arrays.fill(pieces, null);
        memory().fill((byte) 0);
        SendWorkRequestLayout.SGE_LIST.set(memory(), memory().address() + SendWorkRequestLayout.ALLOCATED_BYTES);
        return this;
    }

    /**
     * Sets how many scatter-gather entries are in use.
     *
     * @param n the number
     * @return this
     * @throws IndexOutOfBoundsException when there is no room for so many
     */
    public SendWorkRequest sgeCount(int n) {
        SendWorkRequestLayout.SGE_COUNT.set(memory(), Objects.checkIndex(n, maxSges + 1));
        return this;
    }

    /**
     * Sets a scatter-gather entry. The address is not checked: with {@link SendFlags#INLINE} the data is read by this
     * process itself, which a wrong address ends, as it does in C.
     *
     * @param index which
     * @param address where the data lies
     * @param lengthBytes its length
     * @param localKey its key; ignored when the data is sent inline
     * @return this
     * @throws IndexOutOfBoundsException when there is no such entry
     */
    public SendWorkRequest sge(int index, long address, int lengthBytes, int localKey) {
        long base =
                SendWorkRequestLayout.ALLOCATED_BYTES + Objects.checkIndex(index, maxSges) * ScatterGatherLayout.SIZE;
        elsewhere[index] = false;
        pieces[index] = null;
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
     * @param offset where the data begins in it, in bytes
     * @param lengthBytes its length
     * @return this
     * @throws IndexOutOfBoundsException when there is no such entry, or the piece is not within the region
     */
    public SendWorkRequest sge(int index, MemoryRegion region, long offset, int lengthBytes) {
        Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
        MemorySegment piece = region.memory();
        long begin = region.address();
        sge(index, begin + offset, lengthBytes, region.localKey());
        elsewhere[index] = piece == null || piece.address() != begin;
        pieces[index] = piece;
        return this;
    }

    /**
     * Sets the request that follows in the list that is posted at once. It must not be closed before this one is
     * posted.
     *
     * @param nextOrNull the next, or null at the end
     * @return this
     * @throws IllegalArgumentException when the list would lead back to this request
     */
    public SendWorkRequest next(SendWorkRequest nextOrNull) {
        for (SendWorkRequest request = nextOrNull; request != null; request = request.next) {
            if (request == this) {
                throw new IllegalArgumentException("the list leads back to its beginning");
            }
        }
        next = nextOrNull;
        SendWorkRequestLayout.NEXT.set(
                memory(), next == null ? 0 : next.memory().address());
        return this;
    }

    /**
     * Begins a post of the list: checks that none of its memory was freed, and holds what it names by
     * address: address handles, memory windows and their regions. The caller must call {@link #endPost} afterwards.
     *
     * @param datagrams the domain whose address handles every request must have; null when it needs none
     * @return the list's first request
     * @throws IllegalStateException when memory was freed or one of those was closed; nothing is held then
     * @throws IllegalArgumentException when an address handle is missing, where C would follow any pointer, or belongs
     *     to another domain; or when a request lacks what its opcode reads, or inline data can't be copied; nothing is
     *     held then
     */
    MemorySegment beginPost(ProtectionDomain datagrams) {
        SendWorkRequest request = this;
        try {
            while (request != null) {
                request.hold(datagrams);
                request = request.next;
            }
        } catch (RuntimeException e) {
            release(request);
            throw e;
        }
        SendWorkRequestLayout.clearFailed(memory());
        return memory();
    }

    private void hold(ProtectionDomain datagrams) {
        MemorySegment memory = memory();
        // Reading finds out, too, whether the arena is closed that somebody else owns.
        int opcode = SendWorkRequestLayout.OPCODE.get(memory);
        if (segmentHeader != null && !segmentHeader.scope().isAlive()) {
            throw new IllegalStateException("the memory of a segmentation's header was freed");
        }
        if (window == null && opcode == SendOpcode.BIND_MEMORY_WINDOW) {
            throw new IllegalArgumentException("a request lacks its memory window: set it by bindMemoryWindow(...)");
        }
        if (segmentHeader == null && opcode == SendOpcode.TCP_SEGMENTATION) {
            throw new IllegalArgumentException("a request lacks its header: set it by segmentation(...)");
        }
        if ((SendWorkRequestLayout.FLAGS.get(memory) & SendFlags.INLINE) != 0) {
            checkInline();
        }
        holdNamed(datagrams);
    }

    private void holdNamed(ProtectionDomain datagrams) {
        holdAddress(datagrams);
        try {
            holdWindow();
        } catch (IllegalStateException e) {
            releaseAddress();
            throw e;
        }
    }

    /** Refuses what can't be posted with data of a buffer. */
    void requireInlineAlone() {
        if ((SendWorkRequestLayout.FLAGS.get(memory()) & SendFlags.INLINE) == 0) {
            throw new IllegalArgumentException("data of a buffer is inline data, and the request is not flagged so");
        }
        if (next != null) {
            throw new IllegalArgumentException(
                    "a request with data of a buffer is posted alone, and this one has a next");
        }
    }

    /** Has the first entry name a copy of data, for a device that takes entries only. */
    void stage(ByteBuffer data, int position, int lengthBytes) {
        if (maxSges == 0) {
            throw new IllegalArgumentException("the request has no room for an entry");
        }
        if (staged == null || staged.capacity() < lengthBytes) {
            staged = ByteBuffer.allocateDirect(lengthBytes);
            stagedAddress = MemorySegment.ofBuffer(staged).address();
        }
        staged.put(0, data, position, lengthBytes);
        sgeCount(1).sge(0, stagedAddress, lengthBytes, 0);
    }

    /** As {@link #beginPost}, of a request whose data lies in a buffer, so that its entries don't matter. */
    MemorySegment beginPostOfBuffer(ProtectionDomain datagrams) {
        holdNamed(datagrams);
        SendWorkRequestLayout.clearFailed(memory());
        return memory();
    }

    /** Refuses inline data that the library, which copies it in this process, would crash on. */
    private void checkInline() {
        long sumBytes = 0;
        for (int i = SendWorkRequestLayout.SGE_COUNT.get(memory()) - 1; i >= 0; i--) {
            long base = SendWorkRequestLayout.ALLOCATED_BYTES + i * ScatterGatherLayout.SIZE;
            long lengthBytes = Integer.toUnsignedLong(ScatterGatherLayout.LENGTH.get(memory(), base));
            if (lengthBytes != 0 && (elsewhere[i] || ScatterGatherLayout.ADDRESS.get(memory(), base) == 0)) {
                throw new IllegalArgumentException(
                        "inline data must lie in memory of this process, and entry " + i + " has no address of it");
            }
            if (pieces[i] != null && !pieces[i].scope().isAlive()) {
                throw new IllegalStateException("the memory of the region of entry " + i + " was freed");
            }
            sumBytes += lengthBytes;
        }
        // Drivers compare with the queue pair's limit after adding up in 32 bits.
        if (sumBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("inline data of " + sumBytes + " bytes is more than any queue takes");
        }
    }

    private void holdAddress(ProtectionDomain datagrams) {
        if (addressHandle != null) {
            if (datagrams != null && addressHandle.domain() != datagrams) {
                throw new IllegalArgumentException("the address handle of a datagram belongs to another domain");
            }
            addressHandle.life.enter();
        } else if (datagrams != null) {
            throw new IllegalArgumentException("a request lacks its address: set it by datagram(...)");
        }
    }

    private void holdWindow() {
        if (window != null) {
            window.life.enter();
            try {
                region.life.enter();
            } catch (IllegalStateException e) {
                window.life.exit();
                throw e;
            }
        }
    }

    private void releaseAddress() {
        if (addressHandle != null) {
            addressHandle.life.exit();
        }
    }

    /** Ends what {@link #beginPost} began. */
    void endPost() {
        release(null);
    }

    private void release(SendWorkRequest end) {
        for (SendWorkRequest request = this; request != end; request = request.next) {
            request.releaseAddress();
            if (request.window != null) {
                request.region.life.exit();
                request.window.life.exit();
            }
        }
    }

    /** The exception for a post of this list that failed. */
    PostException failure(String operation, String arguments, int errno, String cure) {
        long failed = SendWorkRequestLayout.failed(memory());
        int index = 0;
        for (SendWorkRequest request = this; request != null; request = request.next) {
            if (request.memory().address() == failed) {
                return PostException.at(
                        index,
                        SendWorkRequestLayout.WORK_REQUEST_ID.get(request.memory()),
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
