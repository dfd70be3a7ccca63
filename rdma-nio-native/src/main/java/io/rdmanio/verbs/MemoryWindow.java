package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;

/**
 * A memory window ({@code struct ibv_mw}): a piece of a memory region that peers may reach by a key of its own, which
 * can be given and withdrawn faster than memory is registered. It is bound by {@link #bind} or by
 * {@link SendWorkRequest#bindMemoryWindow}, as its type says, and no longer bound when it is bound anew, closed, or
 * (type 2) its key invalidated by {@link SendOpcode#LOCAL_INVALIDATE} or by the peer's
 * {@link SendOpcode#SEND_WITH_INVALIDATE}.
 *
 * <p>Close it before the region and the queue pair that it is bound to. Thread-safe; who else uses the key is the
 * caller's business.
 */
public final class MemoryWindow implements AutoCloseable {
    private static final int TAG_MASK = 0xFF;

    final MemoryWindowHandle handle;
    final Lifecycle life;
    private final ProtectionDomain domain;
    private final MemoryWindowType type;

    MemoryWindow(ProtectionDomain domain, MemoryWindowHandle handle, MemoryWindowType type) {
        this.domain = domain;
        this.handle = handle;
        this.type = type;
        this.life = new Lifecycle(HandleKind.MEMORY_WINDOW, handle::destroy, domain.life);
    }

    /**
     * How it is bound.
     *
     * @return the type it was allocated with
     */
    public MemoryWindowType type() {
        return type;
    }

    /**
     * The domain it was allocated from.
     *
     * @return the domain
     */
    public ProtectionDomain domain() {
        return domain;
    }

    /**
     * The key that peers need. {@link #bind} changes it; that of a window of type 2 changes by {@link #setRemoteKey}.
     *
     * @return rkey
     * @throws IllegalStateException after close
     */
    public int remoteKey() {
        life.enter();
        try {
            return handle.remoteKey();
        } finally {
            life.exit();
        }
    }

    /**
     * The key to bind a window of type 2 under: the present one with the next tag, of 256 (ibv_inc_rkey(3)). A device
     * refuses the present tag, so that an old key does not reach the new memory.
     *
     * @return a key for {@link SendWorkRequest#bindMemoryWindow}
     * @throws IllegalStateException after close
     */
    public int nextRemoteKey() {
        return nextRemoteKey(remoteKey());
    }

    /**
     * A key with the next tag (ibv_inc_rkey(3)).
     *
     * @param remoteKey a key
     * @return the key whose lowest byte is one more, 0 after 255
     */
    public static int nextRemoteKey(int remoteKey) {
        return (remoteKey & ~TAG_MASK) | ((remoteKey + 1) & TAG_MASK);
    }

    /**
     * Notes the key that the window has now, as a C program writes {@code mw->rkey}: after a work request has bound it
     * under a key, since the driver tells the device which window to bind by its present key; or the former key, after
     * a {@link #bind} whose completion tells of failure.
     *
     * @param remoteKey the key
     * @throws IllegalStateException after close
     */
    public void setRemoteKey(int remoteKey) {
        life.enter();
        try {
            handle.setRemoteKey(remoteKey);
        } finally {
            life.exit();
        }
    }

    /**
     * Posts a bind of this window, of type 1, to a piece of a region (ibv_bind_mw(3)). The window has its new key at
     * once; it may be sent to the peer by the same queue pair, which keeps the order, or by other ways after the bind's
     * completion. Does not block; a system call in software drivers.
     *
     * @param pair where it is posted: a queue pair of the same device, of type RC, UC or XRC_SEND
     * @param workRequestId what its completion carries
     * @param flags bits of {@link SendFlags}: SIGNALED, FENCE
     * @param region what it is bound to, of the same domain, registered with {@link AccessFlags#MEMORY_WINDOW_BIND}
     * @param address where it begins, as {@link MemoryRegion#address} counts
     * @param lengthBytes its length; 0 leaves it not bound
     * @param accessFlags what peers may do: REMOTE_READ; REMOTE_WRITE and REMOTE_ATOMIC if the region has LOCAL_WRITE
     * @throws VerbsException when it can't be posted: the arguments don't fit the region ({@code EINVAL}), the send
     *     queue is full ({@code ENOMEM}), or the driver can't ({@code EOPNOTSUPP})
     * @throws IllegalArgumentException when the window is of type 2, the region belongs to another domain, the queue
     *     pair to another device, or the length is negative
     * @throws IllegalStateException after close, of queue pair and region too
     */
    public void bind(
            QueuePair pair,
            long workRequestId,
            int flags,
            MemoryRegion region,
            long address,
            long lengthBytes,
            int accessFlags)
            throws VerbsException {
        if (type != MemoryWindowType.TYPE_1) {
            throw new IllegalArgumentException("a window of type 2 is bound by a work request");
        }
        if (region.domain() != domain) {
            throw new IllegalArgumentException("the region belongs to another protection domain than the window");
        }
        if (pair.context() != domain.context()) {
            throw new IllegalArgumentException("the queue pair belongs to another device than the window");
        }
        if (lengthBytes < 0) {
            throw new IllegalArgumentException("lengthBytes " + lengthBytes + " is negative");
        }
        life.enter();
        try {
            region.life.enter();
            try {
                pair.life.enter();
                try {
                    handle.bind(pair.handle, workRequestId, flags, region.handle, address, lengthBytes, accessFlags);
                } finally {
                    pair.life.exit();
                }
            } finally {
                region.life.exit();
            }
        } finally {
            life.exit();
        }
    }

    /**
     * Deallocates the window (ibv_dealloc_mw(3)), bound or not: its key is dead afterwards. Idempotent; waits for calls
     * in progress. Makes a system call.
     *
     * @throws VerbsException when it fails
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
