package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What the keys of a host stand for. A key is the number of a slot, and beside it 16 random bits, so that a key which is
 * not good any more, or was made up, hardly ever names anything; slots are used again as late as possible. Local and
 * remote key of a region are the same.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code free} is guarded by itself; what a slot stands for is
 * changed by the owner of the region or window that has the slot, one at a time.
 */
final class KeyTable implements AutoCloseable {
    /** How many slots there are; number 0 is never a key's, so that no key is 0. */
    static final int SLOTS = 1 << 16;

    /** The slot whose epoch tells how often this host has stopped listening somewhere. */
    static final int LISTENERS_SLOT = 0;

    /** How long the end of a key waits for peers that have its memory mapped. */
    static final long REVOKE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final System.Logger LOG = System.getLogger(KeyTable.class.getName());
    private static final int SLOT_SHIFT = 16;
    private static final int NONCE_MASK = 0xFFFF;

    private final SecureRandom random = new SecureRandom();
    private final AtomicReferenceArray<Key> keys = new AtomicReferenceArray<>(SLOTS);
    private final char[] free = new char[SLOTS - 1];
    private int freeHead;
    private int freeCount = free.length;
    private final EpochPage epochs;
    private final Allocations allocations = new Allocations();
    private final Map<Long, Object> owners = new ConcurrentHashMap<>();
    private final AtomicLong references = new AtomicLong();

    /**
     * Makes a table.
     *
     * @throws IOException when memory or descriptors for the epochs are short
     */
    KeyTable() throws IOException {
        epochs = new EpochPage();
        for (int i = 0; i < free.length; i++) {
            free[i] = (char) (i + 1);
        }
    }

    /**
     * The slot of a key.
     *
     * @param key any number
     * @return the slot that it names, less than {@link #SLOTS}
     */
    static int slot(int key) {
        return key >>> SLOT_SHIFT;
    }

    /**
     * What a local key stands for. Keys of memory windows are none.
     *
     * @param localKey any number
     * @return the key of a region; null when there is none
     */
    Key local(int localKey) {
        Key key = remote(localKey);
        return key != null && key.owner instanceof SoftMemoryRegion ? key : null;
    }

    /**
     * What a key that a peer names stands for: a region, or a memory window that is bound.
     *
     * @param remoteKey any number
     * @return the key; null when there is none
     */
    Key remote(int remoteKey) {
        Key key = keys.get(slot(remoteKey));
        return key != null && key.value == remoteKey ? key : null;
    }

    /**
     * The memory of this host that peers can map.
     *
     * @return the allocations
     */
    Allocations allocations() {
        return allocations;
    }

    /**
     * The epochs of the slots.
     *
     * @return the page, to be sent to peers
     */
    EpochPage epochs() {
        return epochs;
    }

    /**
     * Takes a slot.
     *
     * @param operation the verb that needs it, for the exception
     * @return a key in it that stands for nothing yet, to be given back by {@link #give}
     * @throws VerbsException when all are in use ({@code ENOMEM})
     */
    int take(String operation) throws VerbsException {
        int slot;
        synchronized (free) {
            if (freeCount == 0) {
                throw new VerbsException(
                        operation, "", Errno.ENOMEM, "All " + free.length + " keys of the device are in use.");
            }
            slot = free[freeHead];
            freeHead = (freeHead + 1) % free.length;
            freeCount--;
        }
        return (slot << SLOT_SHIFT) | (random.nextInt() & NONCE_MASK);
    }

    /**
     * Gives a slot back, which stands for nothing any more.
     *
     * @param slot the slot
     */
    void give(int slot) {
        synchronized (free) {
            free[(freeHead + freeCount) % free.length] = (char) slot;
            freeCount++;
        }
    }

    /**
     * Makes a key stand for something from now on.
     *
     * @param key the key, in a slot that the caller took and that stands for nothing
     */
    void open(Key key) {
        int slot = slot(key.value);
        key.epoch = epochs.advance(slot);
        keys.set(slot, key);
    }

    /**
     * Makes a key stand for nothing. When this returns nobody in this process is in the middle of an access by it, and
     * the peers that have its memory mapped have unmapped it, unless one of them does not answer in time. Then, and in
     * any case, the key's use of memory ends when the last has answered or died. Blocks as long.
     *
     * @param key the key, which is open
     */
    void close(Key key) {
        withdraw(key);
        key.domain.quiesce();
        key.importers.revoke(slot(key.value), key.epoch);
        if (!key.importers.await(REVOKE_TIMEOUT_NANOS)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a peer has not unmapped the memory of key 0x{0}; it and what follows is freed when the peer does,"
                            + " or dies",
                    Integer.toHexString(key.value));
        }
        key.importers.whenNone(key::releaseMemory);
    }

    /**
     * Makes a key of a memory window stand for nothing, without waiting for accesses by it that are under way in this
     * process. Does not block.
     *
     * @param key the key, which is open
     */
    void withdraw(Key key) {
        int slot = slot(key.value);
        keys.set(slot, null);
        epochs.advance(slot);
    }

    /**
     * Gives a region or a window a number by which work requests name it.
     *
     * @param owner the region or window
     * @return the number, not 0 and never used again
     */
    long enlist(Object owner) {
        long reference = references.incrementAndGet();
        owners.put(reference, owner);
        return reference;
    }

    /**
     * Finds a region or a window.
     *
     * @param reference any number
     * @return it; null when there is none, or none any more
     */
    Object enlisted(long reference) {
        return owners.get(reference);
    }

    /**
     * Takes a number back.
     *
     * @param reference the number
     */
    void strike(long reference) {
        owners.remove(reference);
    }

    /** Frees the epochs, when no key is open and no pair is left. */
    @Override
    public void close() {
        epochs.close();
    }
}
