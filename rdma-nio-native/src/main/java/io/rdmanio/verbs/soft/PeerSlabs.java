package io.rdmanio.verbs.soft;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.linux.SystemCallException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The slabs of the peer, mapped here: memory through which the peer receives. Nothing is mapped that could be cut away
 * later, and nothing is read or written outside of what the peer said.
 *
 * <p>Thread safety: slabs are added by the progress thread and used by any.
 */
final class PeerSlabs {
    /** What an area begins at a multiple of. */
    static final long ALIGNMENT = PairHeader.LINE_BYTES;

    private static final long MAX_SLAB_BYTES = 1L << 30;

    private final RevocableMappings mappings;
    private final List<MemorySegment> slabs = new CopyOnWriteArrayList<>();

    /**
     * Begins without any.
     *
     * @param mappings where the slabs are mapped
     */
    PeerSlabs(RevocableMappings mappings) {
        this.mappings = mappings;
    }

    /**
     * Maps a slab.
     *
     * @param index its number, as the peer says
     * @param slabBytes its size, as the peer says
     * @param leastBytes what it must have at least
     * @param descriptor its descriptor, closed by this in any case
     * @return the memory
     * @throws ProtocolException when it is not what it should be
     */
    MemorySegment add(int index, long slabBytes, long leastBytes, int descriptor) throws ProtocolException {
        try (MemoryFile file = MemoryFile.fromDescriptor(descriptor)) {
            if (index != slabs.size() || index >= OwnSlabs.MAX_SLABS) {
                throw new ProtocolException("slab " + index + " after " + slabs.size());
            }
            if (slabBytes < leastBytes || slabBytes > MAX_SLAB_BYTES) {
                throw new ProtocolException("a slab of " + slabBytes + " bytes");
            }
            // The seals first: without them the size means nothing.
            if (!file.isSealed(MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW) || file.sizeBytes() != slabBytes) {
                throw new ProtocolException("a slab that is not sealed, or not as large as it should be");
            }
            MemorySegment memory = mappings.map(file, 0, slabBytes, true);
            slabs.add(memory);
            return memory;
        } catch (SystemCallException e) {
            throw new ProtocolException("a slab that can't be mapped: " + e.getMessage());
        }
    }

    /**
     * Finds an area.
     *
     * @param slab the number of the slab, as the peer says
     * @param offset where the area begins, as the peer says
     * @param bytes how long it is
     * @return the area
     * @throws ProtocolException when there is none, or it lies in the header
     */
    MemorySegment area(int slab, long offset, long bytes) throws ProtocolException {
        if (slab < 0 || slab >= slabs.size()) {
            throw new ProtocolException("an area in slab " + slab + " of " + slabs.size());
        }
        MemorySegment memory = slabs.get(slab);
        long first = slab == 0 ? PairHeader.BYTES : 0;
        boolean inside = offset >= first && bytes > 0 && bytes <= memory.byteSize() - offset;
        if (!inside || offset % ALIGNMENT != 0) {
            throw new ProtocolException(
                    "an area at " + offset + " of " + bytes + " bytes, in a slab of " + memory.byteSize());
        }
        return memory.asSlice(offset, bytes);
    }
}
