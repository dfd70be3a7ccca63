package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class MappedPagesTest {
    private static final long PAGE = MemoryFile.PAGE_BYTES;

    @Test
    void populate_acceptsMemoryAndLeavesItAsItIs() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(3 * PAGE + 5, 1);
            memory.fill((byte) 7);
            assertThat(MappedPages.populate(memory.address(), memory.byteSize(), true))
                    .isTrue();
            assertThat(MappedPages.populate(memory.address() + PAGE - 1, 2, false))
                    .isTrue();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 3 * PAGE + 4)).isEqualTo((byte) 7);
        }
    }

    @Test
    void populate_refusesWhatIsNotMappedOrNotWritable() throws IOException {
        long nowhere = 64;
        assumeFalse(MappedPages.populate(nowhere, 8, false), "this kernel can't tell");
        try (Arena arena = Arena.ofConfined();
                MemoryFile file = MemoryFile.create("rdmanio-test", 2 * PAGE)) {
            long mapped = file.map(0, 2 * PAGE, false, arena).address();
            assertThat(MappedPages.populate(mapped, 2 * PAGE, false)).isTrue();
            assertThat(MappedPages.populate(mapped, 2 * PAGE, true)).isFalse();
        }
    }

    @Test
    void populate_refusesPagesBehindTheEndOfAFile() throws IOException {
        assumeFalse(MappedPages.populate(64, 8, false), "this kernel can't tell");
        try (Arena arena = Arena.ofConfined();
                MemoryFile file = MemoryFile.create("rdmanio-test", PAGE)) {
            long mapped = file.map(0, 2 * PAGE, true, arena).address();
            assertThat(MappedPages.populate(mapped, PAGE, true)).isTrue();
            assertThat(MappedPages.populate(mapped, PAGE + 1, true)).isFalse();
        }
    }
}
