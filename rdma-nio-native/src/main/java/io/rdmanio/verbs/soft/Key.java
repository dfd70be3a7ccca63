package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;

/**
 * What a key of this host stands for: a piece of memory, and what may be done with it. Whoever finds one in the
 * {@link KeyTable} may use it as long as he holds the claim of a queue pair of its domain that he took before he looked.
 *
 * <p>Thread safety: immutable once it is open, but for {@link #importers}, which guard themselves.
 */
final class Key {
    /** The key itself. */
    final int value;
    /** The domain whose queue pairs may use it. */
    final SoftProtectionDomain domain;
    /** The region or the window that it belongs to. */
    final Object owner;
    /** The address by which requests name the first byte. */
    final long address;
    /** How many bytes there are. */
    final long lengthBytes;
    /** Bits of {@link io.rdmanio.verbs.AccessFlags}. */
    final int accessFlags;
    /** The number of the one queue pair that may use it, or 0 for all of the domain. */
    final int queuePair;
    /** The epoch of its slot while it is open; written before it is. */
    int epoch;
    /** Which peers have its memory mapped. */
    final Importers importers = new Importers();

    private final KeyMemory memory;

    /**
     * Makes a key.
     *
     * @param value the key
     * @param owner whose it is: a {@link SoftMemoryRegion} or a {@link SoftMemoryWindow}
     * @param domain whose queue pairs may use it
     * @param address the address of the first byte in requests
     * @param accessFlags what may be done
     * @param queuePair the one queue pair that may use it, or 0
     * @param memory where it lies
     */
    Key(
            int value,
            Object owner,
            SoftProtectionDomain domain,
            long address,
            int accessFlags,
            int queuePair,
            KeyMemory memory) {
        this.value = value;
        this.owner = owner;
        this.domain = domain;
        this.address = address;
        this.accessFlags = accessFlags;
        this.queuePair = queuePair;
        this.memory = memory;
        this.lengthBytes = memory.segment().byteSize();
    }

    /**
     * Whether a piece lies in the memory.
     *
     * @param from where it begins, as requests name it
     * @param bytes how long it is, whatever a peer says
     * @return true when all of it does
     */
    boolean contains(long from, long bytes) {
        long offset = from - address;
        return offset >= 0 && bytes >= 0 && bytes <= lengthBytes && offset <= lengthBytes - bytes;
    }

    /**
     * Whether all of these may be done.
     *
     * @param wantedFlags bits of {@link io.rdmanio.verbs.AccessFlags}
     * @return true when they may
     */
    boolean permits(int wantedFlags) {
        return (accessFlags & wantedFlags) == wantedFlags;
    }

    /**
     * Whether the memory is still allocated, as far as that is known: a program that frees memory which is registered
     * gets errors for it, and its process lives on.
     *
     * @return false when it was freed
     */
    boolean isAlive() {
        return memory.scope().isAlive();
    }

    /**
     * The memory, for all threads. An access throws IllegalStateException when it was freed, if that can be known.
     *
     * @return all of it, in a process-wide or shared scope
     */
    MemorySegment memory() {
        return memory.segment();
    }

    /**
     * What other processes can map to reach the memory.
     *
     * @return the file; null when they can't
     */
    SharedMemory shared() {
        return memory.shared();
    }

    /**
     * A piece of the memory for the key of a window; it holds no use of what shares the memory, since the region outlives
     * its windows.
     *
     * @param from where it begins, as requests name it
     * @param bytes how long it is; the key {@link #contains} it
     * @return the piece
     */
    KeyMemory piece(long from, long bytes) {
        return memory.piece(offset(from), bytes);
    }

    /** Ends the key's use of memory. */
    void releaseMemory() {
        memory.release();
    }

    /**
     * Where in {@link #memory} a piece lies that it {@link #contains}.
     *
     * @param from where it begins, as requests name it
     * @return the offset
     */
    long offset(long from) {
        return from - address;
    }
}
