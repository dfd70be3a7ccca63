package io.rdmanio.verbs.spi;

import java.lang.foreign.MemorySegment;

/**
 * Memory that was allocated and registered in one step, and is freed when the region is destroyed.
 *
 * @param region the region
 * @param memory the memory, all zeros, which begins with a page; no longer accessible when the region is destroyed
 */
public record AllocatedMemory(MemoryRegionHandle region, MemorySegment memory) {}
