package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;

/**
 * Copies between memory that keys of a queue pair's domain name and memory that both sides of its connection share, piece
 * by piece, and each piece under a key that is checked just before. Memory that the program freed under its key gives
 * what a wrong key gives.
 *
 * <p>Thread safety: immutable; the methods are called by whoever holds a claim of the queue pair, for which
 * deregistering waits.
 */
final class LocalMemory {
    private static final long LOW = 0xFFFF_FFFFL;

    private final KeyTable keys;
    private final SoftProtectionDomain domain;
    private final int queuePairNumber;

    LocalMemory(KeyTable keys, SoftProtectionDomain domain, int queuePairNumber) {
        this.keys = keys;
        this.domain = domain;
        this.queuePairNumber = queuePairNumber;
    }

    /**
     * What a key stands for, if it is good for an access.
     *
     * @param key the key
     * @param address where the access begins
     * @param lengthBytes how long it is
     * @param access the rights that are needed, bits of {@link io.rdmanio.verbs.AccessFlags}
     * @return the key; null when it is not
     */
    Key find(int key, long address, long lengthBytes, int access) {
        return permitted(keys.local(key), address, lengthBytes, access);
    }

    /** The same for a key that a peer names, which may be that of a memory window. */
    Key findRemote(int key, long address, long lengthBytes, int access) {
        return permitted(keys.remote(key), address, lengthBytes, access);
    }

    private Key permitted(Key found, long address, long lengthBytes, int access) {
        return found != null
                        && found.domain == domain
                        && (found.queuePair == 0 || found.queuePair == queuePairNumber)
                        && found.permits(access)
                        && found.contains(address, lengthBytes)
                        && found.isAlive()
                ? found
                : null;
    }

    /**
     * Whether the keys of all entries are good for an access.
     *
     * @param words the entries, pairs of words
     * @param base where they begin
     * @param count how many
     * @param access the rights that are needed
     */
    boolean permits(long[] words, int base, int count, int access) {
        for (int i = 0; i < count; i++) {
            long lengthAndKey = words[base + 2 * i + 1];
            long entryBytes = lengthAndKey & LOW;
            if (entryBytes != 0
                    && find((int) (lengthAndKey >>> Integer.SIZE), words[base + 2 * i], entryBytes, access) == null) {
                return false;
            }
        }
        return true;
    }

    /**
     * Copies from entries, or into them.
     *
     * @param words the entries, pairs of words
     * @param base where they begin
     * @param count how many
     * @param skip how many of their bytes to pass over
     * @param other the other memory
     * @param otherOffset where in it
     * @param lengthBytes how many bytes
     * @param access 0 to copy from the entries; the right to write to them otherwise
     * @return false when a key does not permit it, or the entries are too short
     */
    boolean copy(
            long[] words,
            int base,
            int count,
            long skip,
            MemorySegment other,
            long otherOffset,
            long lengthBytes,
            int access) {
        long toSkip = skip;
        long left = lengthBytes;
        long at = otherOffset;
        for (int i = 0; i < count && left > 0; i++) {
            long lengthAndKey = words[base + 2 * i + 1];
            long entryBytes = lengthAndKey & LOW;
            if (toSkip >= entryBytes) {
                toSkip -= entryBytes;
                continue;
            }
            long piece = Math.min(entryBytes - toSkip, left);
            long address = words[base + 2 * i] + toSkip;
            Key key = find((int) (lengthAndKey >>> Integer.SIZE), address, piece, access);
            if (key == null || !copyPiece(key, address, other, at, piece, access == 0)) {
                return false;
            }
            toSkip = 0;
            at += piece;
            left -= piece;
        }
        return left == 0;
    }

    /** Copies between the memory of a key, which permits it, and other memory; false when the key's was freed. */
    static boolean copyPiece(
            Key key, long address, MemorySegment other, long otherOffset, long bytes, boolean fromKey) {
        try {
            if (fromKey) {
                MemorySegment.copy(key.memory(), key.offset(address), other, otherOffset, bytes);
            } else {
                MemorySegment.copy(other, otherOffset, key.memory(), key.offset(address), bytes);
            }
            return true;
        } catch (IllegalStateException e) {
            if (key.isAlive()) {
                throw e; // Not what the program freed.
            }
            return false;
        }
    }

    /** Copies from entries without keys: inline data, whose memory is the caller's as long as it posts. */
    static void copyInline(
            long[] words, int base, int count, long skip, MemorySegment other, long otherOffset, long lengthBytes) {
        long toSkip = skip;
        long left = lengthBytes;
        long at = otherOffset;
        for (int i = 0; i < count && left > 0; i++) {
            long entryBytes = words[base + 2 * i + 1] & LOW;
            if (toSkip >= entryBytes) {
                toSkip -= entryBytes;
                continue;
            }
            long piece = Math.min(entryBytes - toSkip, left);
            MemorySegment.copy(ProcessMemory.ALL, words[base + 2 * i] + toSkip, other, at, piece);
            toSkip = 0;
            at += piece;
            left -= piece;
        }
    }
}
