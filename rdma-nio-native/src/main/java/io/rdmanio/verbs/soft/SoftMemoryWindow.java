package io.rdmanio.verbs.soft;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.MemoryWindow;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.MemorySegment;

/**
 * A memory window: a slot of the key table, in which there is a key while the window is bound. Peers never map the memory of
 * a window: what they do with it goes through this process, so that nothing happens to the memory any more as soon as
 * the window is closed or bound to something else.
 *
 * <p>Thread safety: all methods may be called by any thread. What it is bound to is guarded by this; {@code remoteKey} is what the
 * program believes, and the program's business.
 */
final class SoftMemoryWindow implements MemoryWindowHandle {
    private static final String BIND_MW = "ibv_bind_mw";
    private static final int TAG_BITS = 8;
    private static final int ALLOWED = SharedMemory.REMOTE | AccessFlags.ZERO_BASED;

    private final SoftProtectionDomain domain;
    private final KeyTable keys;
    private final MemoryWindowType type;
    private final long reference;
    private volatile int remoteKey;

    private int value;
    private Key bound;
    private SoftMemoryRegion region;
    private boolean closed;

    private SoftMemoryWindow(SoftProtectionDomain domain, MemoryWindowType type, int value) {
        this.domain = domain;
        this.keys = domain.keys();
        this.type = type;
        this.value = value;
        this.remoteKey = value;
        this.reference = keys.enlist(this);
    }

    /**
     * Makes a window that is not bound.
     *
     * @param domain its domain
     * @param type how it will be bound
     * @return the window
     * @throws VerbsException when no key is left
     */
    static SoftMemoryWindow allocate(SoftProtectionDomain domain, MemoryWindowType type) throws VerbsException {
        return new SoftMemoryWindow(domain, type, domain.keys().take("ibv_alloc_mw"));
    }

    /**
     * What a work request wants to bind.
     *
     * @param window the window, by any number
     * @param newKey the key that it shall have
     * @param region the region, by any number
     * @param address where it shall begin
     * @param lengthBytes how long it shall be; 0 for a window of type 1 that shall not be bound
     * @param accessFlags what peers shall be allowed
     */
    record Bind(long window, int newKey, long region, long address, long lengthBytes, int accessFlags) {}

    /**
     * Executes a bind. Does not block.
     *
     * @param domain the domain of the queue pair whose turn it is
     * @param queuePair its number
     * @param bind what it shall do
     * @return false when it is refused, and nothing has changed
     */
    static boolean bind(SoftProtectionDomain domain, int queuePair, Bind bind) {
        return domain.keys().enlisted(bind.window) instanceof SoftMemoryWindow window
                && window.domain == domain
                && window.bind(queuePair, bind);
    }

    /**
     * Executes the invalidation of a window's key, at this end or for the peer. Does not block.
     *
     * @param domain the domain of the queue pair whose turn it is
     * @param queuePair its number: a window of type 2 is bound to the queue pair that bound it
     * @param key any number
     * @return false when it is the key of no such window, and nothing has changed
     */
    static boolean invalidate(SoftProtectionDomain domain, int queuePair, int key) {
        Key found = domain.keys().remote(key);
        return found != null
                && found.domain == domain
                && found.queuePair == queuePair
                && found.owner instanceof SoftMemoryWindow window
                && window.unbind(found);
    }

    private synchronized boolean bind(int queuePair, Bind bind) {
        boolean sameWindow = bind.newKey >>> TAG_BITS == value >>> TAG_BITS;
        if (closed || !sameWindow || bind.newKey == value) {
            return false;
        }
        if (type == MemoryWindowType.TYPE_1 && bind.lengthBytes == 0) {
            unbindNow();
            value = bind.newKey;
            return true;
        }
        boolean suits = type == MemoryWindowType.TYPE_1
                ? (bind.accessFlags & AccessFlags.ZERO_BASED) == 0
                : bound == null && bind.lengthBytes != 0;
        if (!suits || !(keys.enlisted(bind.region) instanceof SoftMemoryRegion newRegion)) {
            return false;
        }
        Key regionKey = newRegion.bind();
        if (regionKey == null) {
            return false;
        }
        if (!isWithin(regionKey, bind)) {
            newRegion.unbound();
            return false;
        }
        unbindNow();
        region = newRegion;
        value = bind.newKey;
        bound = key(queuePair, bind, regionKey);
        keys.open(bound);
        return true;
    }

    private boolean isWithin(Key regionKey, Bind bind) {
        boolean writes = (bind.accessFlags & SharedMemory.REMOTE_WRITES) != 0;
        return regionKey.domain == domain
                && (bind.accessFlags & ~ALLOWED) == 0
                && regionKey.permits(AccessFlags.MEMORY_WINDOW_BIND)
                && !regionKey.permits(AccessFlags.ZERO_BASED)
                && (!writes || regionKey.permits(AccessFlags.LOCAL_WRITE))
                && regionKey.contains(bind.address, bind.lengthBytes);
    }

    private Key key(int queuePair, Bind bind, Key regionKey) {
        boolean zeroBased = (bind.accessFlags & AccessFlags.ZERO_BASED) != 0;
        return new Key(
                bind.newKey,
                this,
                domain,
                zeroBased ? 0 : bind.address,
                bind.accessFlags,
                type == MemoryWindowType.TYPE_2 ? queuePair : 0,
                regionKey.piece(bind.address, bind.lengthBytes));
    }

    private synchronized boolean unbind(Key expected) {
        if (type != MemoryWindowType.TYPE_2 || bound != expected) {
            return false;
        }
        unbindNow();
        return true;
    }

    private void unbindNow() {
        if (bound != null) {
            keys.withdraw(bound);
            bound = null;
            region.unbound();
            region = null;
        }
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    @Override
    public void setRemoteKey(int remoteKey) {
        this.remoteKey = remoteKey;
    }

    @Override
    public long reference() {
        return reference;
    }

    @Override
    public void bind(
            QueuePairHandle pair,
            long workRequestId,
            int flags,
            MemoryRegionHandle boundRegion,
            long address,
            long lengthBytes,
            int accessFlags)
            throws VerbsException {
        int next = MemoryWindow.nextRemoteKey(remoteKey);
        int errno;
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment request = frame.cleared(SendWorkRequestLayout.ALLOCATED_BYTES);
            SendWorkRequestLayout.WORK_REQUEST_ID.set(request, workRequestId);
            SendWorkRequestLayout.OPCODE.set(request, SendOpcode.BIND_MEMORY_WINDOW);
            SendWorkRequestLayout.FLAGS.set(request, flags);
            SendWorkRequestLayout.BIND_WINDOW.set(request, reference);
            SendWorkRequestLayout.BIND_KEY.set(request, next);
            SendWorkRequestLayout.BIND_REGION.set(request, boundRegion.reference());
            SendWorkRequestLayout.BIND_ADDRESS.set(request, address);
            SendWorkRequestLayout.BIND_LENGTH.set(request, lengthBytes);
            SendWorkRequestLayout.BIND_ACCESS.set(request, accessFlags);
            errno = pair.postSend(request);
        }
        if (errno != 0) {
            throw new VerbsException(
                    BIND_MW,
                    "queuePair=" + pair.number() + ", length=" + lengthBytes + ", access=0x"
                            + Integer.toHexString(accessFlags),
                    errno,
                    "");
        }
        remoteKey = next;
    }

    @Override
    public void destroy() {
        synchronized (this) {
            closed = true;
            unbindNow();
        }
        keys.strike(reference);
        // The slot is free for others when nobody is in the middle of an access by the key.
        domain.quiesce();
        keys.give(KeyTable.slot(value));
    }
}
