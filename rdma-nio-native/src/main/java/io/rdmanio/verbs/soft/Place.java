package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;

/**
 * An area in a slab of this process, through which it receives. Immutable.
 *
 * @param slab the number of the slab
 * @param offset where the area begins, a multiple of 64
 * @param memory the area itself, as long as was asked for and zeroed when it was allocated
 */
record Place(int slab, long offset, MemorySegment memory) {}
