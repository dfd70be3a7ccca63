package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A send work request ({@code struct ibv_send_wr}) with its scatter-gather entries, in native memory: prepared once,
 * posted many times by {@link QueuePair#postSend}. The queue pair copies what it needs, so the request may be changed
 * and posted again as soon as the post returned (the data it points to may not, unless it was sent inline). The setters
 * return the request itself and allocate nothing.
 *
 * <p>Not thread-safe: for one thread at a time.
 */
public final class SendWorkRequest implements AutoCloseable {
    private final int maxSges;
    private final OwnMemory memory;
    // Keeps the memory of the list reachable.
    private SendWorkRequest next;
    // What a bind names by address; both null for any other request.
    private MemoryWindow window;
    private MemoryRegion region;

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
        this.memory = new OwnMemory(
                arena, SendWorkRequestLayout.SIZE + maxSges * ScatterGatherLayout.SIZE, HandleKind.SEND_WORK_REQUEST);
        SendWorkRequestLayout.SGE_LIST.set(memory(), memory().address() + SendWorkRequestLayout.SIZE);
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
     * @throws IllegalArgumentException when it is BIND_MEMORY_WINDOW: {@link #bindMemoryWindow} sets that
     */
    public SendWorkRequest opcode(int opcode) {
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
     * Sets the immediate data of an operation that has any.
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
     * Sets the peer's memory of a read or write.
     *
     * @param address where it begins
     * @param rkey its key
     * @return this
     */
    public SendWorkRequest remote(long address, int rkey) {
        SendWorkRequestLayout.REMOTE_ADDRESS.set(memory(), address);
        SendWorkRequestLayout.REMOTE_KEY.set(memory(), rkey);
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
     * Sets a scatter-gather entry.
     *
     * @param index which
     * @param address where the data lies
     * @param lengthBytes its length
     * @param localKey its key; ignored when the data is sent inline
     * @return this
     * @throws IndexOutOfBoundsException when there is no such entry
     */
    public SendWorkRequest sge(int index, long address, int lengthBytes, int localKey) {
        long base = SendWorkRequestLayout.SIZE + Objects.checkIndex(index, maxSges) * ScatterGatherLayout.SIZE;
        ScatterGatherLayout.ADDRESS.set(memory(), base, address);
        ScatterGatherLayout.LENGTH.set(memory(), base, lengthBytes);
        ScatterGatherLayout.LOCAL_KEY.set(memory(), base, localKey);
        return this;
    }

    /**
     * Sets the request that follows in the list that is posted at once. It must not be closed before this one is
     * posted.
     *
     * @param nextOrNull the next, or null at the end
     * @return this
     */
    public SendWorkRequest next(SendWorkRequest nextOrNull) {
        next = nextOrNull;
        SendWorkRequestLayout.NEXT.set(
                memory(), next == null ? 0 : next.memory().address());
        return this;
    }

    /**
     * Begins a post of the list: checks that none of its memory was freed, and keeps open what it names by address, until
     * {@link #endPost}.
     */
    MemorySegment beginPost() {
        for (SendWorkRequest request = this; request != null; request = request.next) {
            try {
                request.enterParts();
            } catch (IllegalStateException e) {
                endPost(request);
                throw e;
            }
        }
        return memory();
    }

    /** Ends a post that was begun. */
    void endPost() {
        endPost(null);
    }

    private void endPost(SendWorkRequest end) {
        for (SendWorkRequest request = this; request != end; request = request.next) {
            if (request.window != null) {
                request.region.life.exit();
                request.window.life.exit();
            }
        }
    }

    private void enterParts() {
        memory();
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

    /** Frees the memory, unless it lies in a given arena. Idempotent. */
    @Override
    public void close() {
        memory.close();
    }
}
