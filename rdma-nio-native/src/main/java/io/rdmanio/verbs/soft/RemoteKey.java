package io.rdmanio.verbs.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/**
 * What a key of the peer stands for, as the peer told. Three kinds: the memory is mapped here and {@link #memory} is there;
 * only the peer can reach it ({@code memory} is null); or there is nothing that this domain may reach
 * ({@link #REFUSED}, which permits nothing).
 *
 * <p>Whoever uses one has the send claim of a queue pair that its process pair knows as a sender, and has found
 * {@link #isCurrent} to hold under the same claim: for that claim {@link #unmap} waits before it unmaps anything. So no
 * thread is in the middle of an access then, which the JVM would interrupt.
 *
 * <p>Thread safety: immutable, but that it ends.
 */
final class RemoteKey {
    /** Stands for nothing: no access is permitted. */
    static final RemoteKey REFUSED = new RemoteKey();

    /** The key itself. */
    final int value;
    /** The peer's domain to whose queue pairs it was told. */
    final int peerDomain;
    /** The epoch of its slot for which this holds. */
    final int epoch;
    /** The address by which requests name the first byte. */
    final long address;
    /** How many bytes there are. */
    final long lengthBytes;
    /** Bits of {@link io.rdmanio.verbs.AccessFlags}. */
    final int accessFlags;

    private final MemorySegment memory;
    /** The same, if it is not too long for a buffer; null otherwise. */
    private final ByteBuffer buffer;

    private final Arena arena;
    private final MemorySegment peerEpochs;
    /** Not current any more, whatever the peer's epochs say, which may be a lie or the zeros of a dead pair. */
    private volatile boolean ended;

    private RemoteKey() {
        value = 0;
        peerDomain = 0;
        epoch = 0;
        address = 0;
        lengthBytes = 0;
        accessFlags = 0;
        memory = null;
        buffer = null;
        arena = null;
        peerEpochs = null;
    }

    /** A key whose memory only the peer can reach. */
    RemoteKey(ControlMessage.Foreign message, int peerDomain, MemorySegment peerEpochs) {
        this.value = message.key();
        this.peerDomain = peerDomain;
        this.epoch = message.epoch();
        this.address = message.address();
        this.lengthBytes = message.lengthBytes();
        this.accessFlags = message.accessFlags();
        this.memory = null;
        this.buffer = null;
        this.arena = null;
        this.peerEpochs = peerEpochs;
    }

    /**
     * A key whose memory is mapped, or null if it could not be.
     *
     * @param arena whose end unmaps it; null with the memory
     */
    RemoteKey(
            ControlMessage.Export message,
            int peerDomain,
            MemorySegment peerEpochs,
            MemorySegment memory,
            Arena arena) {
        this.value = message.key();
        this.peerDomain = peerDomain;
        this.epoch = message.epoch();
        this.address = message.address();
        this.lengthBytes = message.lengthBytes();
        this.accessFlags = message.accessFlags();
        this.memory = memory;
        this.buffer = memory != null && memory.byteSize() <= Integer.MAX_VALUE ? memory.asByteBuffer() : null;
        this.arena = arena;
        this.peerEpochs = peerEpochs;
    }

    /**
     * Whether the peer still means this by the key; what is read or written by a caller that gets true may still come
     * too late for the peer, who then finds the memory unmapped a little later.
     *
     * @return false when the key must be resolved anew
     */
    boolean isCurrent() {
        return peerEpochs == null || (!ended && EpochPage.get(peerEpochs, KeyTable.slot(value)) == epoch);
    }

    /**
     * Whether a piece lies in the memory.
     *
     * @param from where it begins, as requests name it
     * @param bytes how long it is
     * @return true when all of it does
     */
    boolean contains(long from, long bytes) {
        long offset = from - address;
        return offset >= 0 && bytes >= 0 && bytes <= lengthBytes && offset <= lengthBytes - bytes;
    }

    /**
     * Whether all of these may be done.
     *
     * @param wantedFlags bits of {@link io.rdmanio.verbs.AccessFlags}, at least one
     * @return true when they may
     */
    boolean permits(int wantedFlags) {
        return (accessFlags & wantedFlags) == wantedFlags;
    }

    /**
     * The memory.
     *
     * @return all of it, writable if a right to write is permitted; null when only the peer can reach it
     */
    MemorySegment memory() {
        return memory;
    }

    /**
     * The memory for accesses at a position, as whoever has a buffer makes them.
     *
     * @return all of it; null when only the peer can reach it, or it is longer than a buffer can be
     */
    ByteBuffer buffer() {
        return buffer;
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

    /**
     * Unmaps the memory, if there is any, once nobody is in the middle of an access to it any more. The caller has taken
     * the key from where others find it.
     *
     * @param quiesce waits until every access by keys of a domain of the peer's is over that had begun
     */
    void unmap(IntConsumer quiesce) {
        ended = true;
        if (arena != null) {
            quiesce.accept(peerDomain);
            arena.close();
        }
    }
}
