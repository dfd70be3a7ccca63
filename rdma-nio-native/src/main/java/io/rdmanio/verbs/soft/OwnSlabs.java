package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.linux.SystemCallException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.TreeMap;

/**
 * The memory of a pair through which this process receives: slabs, each a memfd that the peer maps too, divided into
 * areas of whole pages. Slabs are address space only; pages are taken when an area is allocated, so that want of memory
 * is an exception there and no signal later, and stay with the slab until none of its areas is in use. What a crowd of
 * connections needed is given back when the crowd has gone; the slabs remain, which are few since each is larger than
 * the one before.
 *
 * <p>An area that the peer knew of is not used again before the peer has said that it writes there no more.
 *
 * <p>Thread safety: all methods may be called by any thread; everything is guarded by this. The peer hears of slabs in
 * the order of their numbers, since it is told under the same lock.
 */
final class OwnSlabs {
    /** Tells the peer of a new slab. */
    interface Announcement {
        /**
         * Tells.
         *
         * @param message the slab, whose descriptor may be closed afterwards
         */
        void announce(ControlMessage.Slab message);
    }

    /** Seals by which both ends know that the memory will be there whenever they touch it. */
    static final int SEALS = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW | MemoryFile.SEAL_SEAL;

    /** How many slabs there are at most. */
    static final int MAX_SLABS = 64;

    /** How large a slab is at most, unless one area needs more. */
    static final long MAX_SLAB_BYTES = 64L << 20;

    private static final Logger LOG = System.getLogger(OwnSlabs.class.getName());
    private static final long FIRST_SLAB_BYTES = 1L << 20;
    /** Pages are taken from the system for some areas at a time, which is a system call. */
    private static final long RESERVED_AT_ONCE = 1 << 18;

    private static final long PAGE = MemoryFile.PAGE_BYTES;

    private final RevocableMappings mappings;
    private final long maxSlabBytes;
    // Guarded by this.
    private final List<OwnSlab> slabs = new ArrayList<>();
    private final Map<Spot, Retired> retired = new HashMap<>();
    private MemoryFile first;
    private boolean closed;
    // End of what this guards.

    private record Spot(int slab, long offset) {}

    private record Retired(Place place, Runnable whenFree) {}

    /** A slab. */
    private static final class OwnSlab {
        final MemoryFile file;
        final MemorySegment memory;
        /** Where it is free, and how long. */
        final TreeMap<Long, Long> free = new TreeMap<>();
        /** Up to where its pages are taken from the system; never less than where the last free piece begins. */
        long reservedBytes;

        OwnSlab(MemoryFile file, MemorySegment memory) {
            this.file = file;
            this.memory = memory;
            free.put(0L, memory.byteSize());
        }
    }

    /**
     * Makes the first slab, at whose beginning the header has its place.
     *
     * @param mappings where the slabs are mapped
     * @throws IOException when no memory or descriptor is left
     */
    OwnSlabs(RevocableMappings mappings) throws IOException {
        this(mappings, MAX_SLAB_BYTES);
    }

    /** With slabs of another size, for tests. */
    OwnSlabs(RevocableMappings mappings, long maxSlabBytes) throws IOException {
        this.mappings = mappings;
        this.maxSlabBytes = maxSlabBytes;
        OwnSlab slab = add(FIRST_SLAB_BYTES);
        first = slab.file;
        try {
            take(slab, wholePages(PairHeader.BYTES));
        } catch (IOException e) {
            first.close();
            throw e;
        }
    }

    private static long wholePages(long bytes) {
        return Math.ceilDiv(bytes, PAGE) * PAGE;
    }

    private OwnSlab add(long bytes) throws IOException {
        MemoryFile file = MemoryFile.create("rdmanio-slab", bytes);
        try {
            file.addSeals(SEALS);
            MemorySegment memory = mappings.map(file, 0, bytes, true);
            OwnSlab slab = new OwnSlab(file, memory);
            slabs.add(slab);
            return slab;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /**
     * The header's memory.
     *
     * @return the beginning of slab 0
     */
    synchronized MemorySegment header() {
        return slabs.getFirst().memory.asSlice(0, PairHeader.BYTES);
    }

    /**
     * The first slab as the peer is told of it.
     *
     * @return its file
     */
    synchronized MemoryFile first() {
        return first;
    }

    /**
     * Allocates an area.
     *
     * @param bytes how long
     * @param announcement how the peer hears of a new slab
     * @return the area, zeroed
     * @throws IOException when no memory or descriptor is left, or there are too many slabs
     * @throws IllegalStateException after close
     */
    synchronized Place allocate(long bytes, Announcement announcement) throws IOException {
        if (closed) {
            throw new IllegalStateException("the slabs are closed");
        }
        long length = wholePages(bytes);
        for (int i = 0; i < slabs.size(); i++) {
            long offset = take(slabs.get(i), length);
            if (offset >= 0) {
                return place(i, offset, bytes, length);
            }
        }
        if (slabs.size() == MAX_SLABS) {
            throw Errno.exception("a slab beyond " + MAX_SLABS + " for one peer", Errno.ENOMEM);
        }
        long doubled = Math.min(2 * slabs.getLast().memory.byteSize(), maxSlabBytes);
        OwnSlab slab = add(Math.max(doubled, length));
        int index = slabs.size() - 1;
        announcement.announce(new ControlMessage.Slab(index, slab.memory.byteSize(), slab.file.fileDescriptor()));
        return place(index, take(slab, length), bytes, length);
    }

    /** Takes the first free piece that is long enough, and its pages if nobody had them before; -1 when there is none. */
    private static long take(OwnSlab slab, long length) throws IOException {
        long offset = firstFit(slab.free, length);
        if (offset >= 0) {
            if (offset + length > slab.reservedBytes) {
                long steps = Math.ceilDiv(offset + length, RESERVED_AT_ONCE);
                long end = Math.min(steps * RESERVED_AT_ONCE, slab.memory.byteSize());
                slab.file.reserve(slab.reservedBytes, end - slab.reservedBytes);
                slab.reservedBytes = end;
            }
            long left = slab.free.remove(offset) - length;
            if (left > 0) {
                slab.free.put(offset + length, left);
            }
        }
        return offset;
    }

    private static long firstFit(Map<Long, Long> free, long length) {
        for (Entry<Long, Long> piece : free.entrySet()) {
            if (piece.getValue() >= length) {
                return piece.getKey();
            }
        }
        return -1;
    }

    private Place place(int index, long offset, long bytes, long length) {
        MemorySegment memory = slabs.get(index).memory;
        memory.asSlice(offset, length).fill((byte) 0);
        return new Place(index, offset, memory.asSlice(offset, bytes));
    }

    /**
     * Frees an area of which the peer never heard.
     *
     * @param place the area
     */
    synchronized void free(Place place) {
        OwnSlab slab = slabs.get(place.slab());
        TreeMap<Long, Long> free = slab.free;
        long offset = place.offset();
        long length = wholePages(place.memory().byteSize());
        Entry<Long, Long> before = free.floorEntry(offset);
        if (before != null && before.getKey() + before.getValue() > offset) {
            throw new IllegalStateException("freed twice: " + place);
        }
        if (before != null && before.getKey() + before.getValue() == offset) {
            offset = before.getKey();
            length += before.getValue();
        }
        Long after = free.remove(offset + length);
        long whole = after == null ? length : length + after;
        free.put(offset, whole);
        // Never the first, which has the header.
        if (whole == slab.memory.byteSize() && !closed) {
            slab.reservedBytes = 0;
            giveBack(slab.file, whole);
        }
    }

    private static void giveBack(MemoryFile file, long bytes) {
        try {
            file.giveBack(0, bytes);
        } catch (SystemCallException e) {
            LOG.log(Level.WARNING, "the memory of a slab that is not used stays", e);
        }
    }

    /**
     * Gives up an area that the peer knows.
     *
     * @param place the area, to be freed by {@link #release}
     * @param whenFree run when it is, or the slabs are closed; perhaps at once
     */
    void retire(Place place, Runnable whenFree) {
        if (!retireUnlessClosed(place, whenFree)) {
            whenFree.run();
        }
    }

    private synchronized boolean retireUnlessClosed(Place place, Runnable whenFree) {
        if (closed) {
            return false;
        }
        Retired other = retired.put(new Spot(place.slab(), place.offset()), new Retired(place, whenFree));
        if (other != null) {
            throw new IllegalStateException("retired twice: " + place);
        }
        return true;
    }

    /**
     * The peer lets go of an area.
     *
     * @param slab the number of the slab, as the peer says
     * @param offset where the area begins, as the peer says
     * @throws ProtocolException when the peer was not asked to
     */
    void release(int slab, long offset) throws ProtocolException {
        Retired released;
        synchronized (this) {
            released = retired.remove(new Spot(slab, offset));
            if (released == null) {
                throw new ProtocolException(
                        "the peer lets go of an area that it was not asked to: " + slab + "+" + offset);
            }
            free(released.place);
        }
        released.whenFree.run();
    }

    /**
     * How many areas wait for the peer to let go of them.
     *
     * @return the number
     */
    synchronized int retiredCount() {
        return retired.size();
    }

    /** Closes the descriptors; the memory goes with the mappings. Whoever waits for the peer to let go waits no longer. */
    void close() {
        List<Retired> left;
        synchronized (this) {
            closed = true;
            slabs.forEach(slab -> slab.file.close());
            left = new ArrayList<>(retired.values());
            retired.clear();
        }
        left.forEach(each -> each.whenFree.run());
    }
}
