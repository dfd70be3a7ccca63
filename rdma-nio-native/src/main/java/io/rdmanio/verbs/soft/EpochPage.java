package io.rdmanio.verbs.soft;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.linux.SystemCallException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * How often what each slot of a key table stands for has changed: an int per slot, written by its owner alone and mapped by
 * every peer, who thereby sees without a message that a key it knows is no longer good. The file is sealed so that
 * nobody else can write to it.
 *
 * <p>Thread safety: epochs may be read by any thread; {@link #advance} of one slot is called by one thread at a time.
 */
final class EpochPage implements AutoCloseable {
    /** The size of the file. */
    static final long BYTES = (long) KeyTable.SLOTS * Integer.BYTES;

    private static final int SIZE_SEALS = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW;

    private final MemoryFile file;
    private final RevocableMappings mappings = new RevocableMappings();
    private final MemorySegment epochs;

    EpochPage() throws IOException {
        file = MemoryFile.create("rdmanio-epochs", BYTES);
        try {
            file.reserve(0, BYTES);
            epochs = mappings.map(file, 0, BYTES, true);
            file.addSeals(SIZE_SEALS | MemoryFile.SEAL_FUTURE_WRITE | MemoryFile.SEAL_SEAL);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * Maps the page of a peer, whatever it sent instead.
     *
     * @param file the file, which stays the caller's
     * @param mappings where it is mapped
     * @return the epochs, read-only
     * @throws ProtocolException when it is no such page
     * @throws SystemCallException when it can't be mapped
     */
    static MemorySegment map(MemoryFile file, RevocableMappings mappings)
            throws ProtocolException, SystemCallException {
        // In this order: a file that isn't sealed may have another size when it is mapped.
        if (!file.isSealed(SIZE_SEALS) || file.sizeBytes() != BYTES) {
            throw new ProtocolException("the page of epochs is not sealed, or has not " + BYTES + " bytes");
        }
        return mappings.map(file, 0, BYTES, false);
    }

    /**
     * Reads an epoch.
     *
     * @param epochs a page of this process or of a peer
     * @param slot the slot
     * @return the epoch; what is read after it is not older
     */
    static int get(MemorySegment epochs, int slot) {
        return SharedWords.getAcquire(epochs, (long) slot * Integer.BYTES);
    }

    /**
     * The present epoch of a slot.
     *
     * @param slot the slot
     * @return its number
     */
    int get(int slot) {
        return get(epochs, slot);
    }

    /**
     * Begins a new epoch of a slot; everybody sees that before he sees anything that happens afterwards.
     *
     * @param slot the slot
     * @return its number
     */
    int advance(int slot) {
        int next = get(slot) + 1;
        SharedWords.setRelease(epochs, (long) slot * Integer.BYTES, next);
        VarHandle.fullFence();
        return next;
    }

    /**
     * The descriptor, to be sent to peers.
     *
     * @return its number
     */
    int fileDescriptor() {
        return file.fileDescriptor();
    }

    /** Closes it and lets the memory go; whoever advances an epoch afterwards tells nobody. Idempotent. */
    @Override
    public void close() {
        file.close();
        mappings.revoke();
    }
}
