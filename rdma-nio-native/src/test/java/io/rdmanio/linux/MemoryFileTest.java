package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class MemoryFileTest {
    private static final long PAGE = MemoryFile.PAGE_BYTES;
    private static final String NAME = "rdmanio-test";

    private List<String> before;

    @BeforeEach
    void listDescriptors() {
        before = OpenDescriptors.list();
    }

    @AfterEach
    void descriptors_areAsBefore() throws IOException {
        assertThat(OpenDescriptors.list()).isEqualTo(before);
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("/memfd:" + NAME);
    }

    private static void assertFails(int errno, ThrowingCall call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno));
    }

    private interface ThrowingCall {
        void run() throws IOException;
    }

    @Test
    void map_twiceShowsTheSameMemory() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, 2 * PAGE);
                Arena arena = Arena.ofShared()) {
            assertThat(file.sizeBytes()).isEqualTo(2 * PAGE);
            file.reserve(0, 2 * PAGE);
            MemorySegment whole = file.map(0, 2 * PAGE, true, arena);
            MemorySegment second = file.map(PAGE, PAGE, false, arena);
            assertThat(whole.byteSize()).isEqualTo(2 * PAGE);
            assertThat(second.isReadOnly()).isTrue();
            whole.set(ValueLayout.JAVA_LONG, PAGE + 8, 0x1234_5678_9abcL);
            assertThat(second.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x1234_5678_9abcL);
            assertThatThrownBy(() -> second.set(ValueLayout.JAVA_LONG, 8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void map_outlivesTheFileAndEndsWithTheArena() throws IOException {
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            try (MemoryFile file = MemoryFile.create(NAME, PAGE)) {
                memory = file.map(0, PAGE, true, arena);
            }
            memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            assertThat(Files.readString(Path.of("/proc/self/maps"))).contains("/memfd:" + NAME);
        }
        MemorySegment stale = memory;
        assertThatThrownBy(() -> stale.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void map_intoAClosedArenaLeavesNothing() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, PAGE)) {
            assertThatThrownBy(() -> file.map(0, PAGE, true, closedArena())).isInstanceOf(IllegalStateException.class);
        }
    }

    private static Arena closedArena() {
        try (Arena arena = Arena.ofShared()) {
            return arena;
        }
    }

    @Test
    void addSeals_bindEverybody() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, PAGE)) {
            assertThat(file.isSealed(MemoryFile.SEAL_SHRINK)).isFalse();
            file.addSeals(MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW);
            assertThat(file.isSealed(MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW))
                    .isTrue();
            assertThat(file.isSealed(MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_SEAL))
                    .isFalse();
            assertFails(Errno.EPERM, () -> file.reserve(PAGE, PAGE));
            file.addSeals(MemoryFile.SEAL_SEAL);
            assertFails(Errno.EPERM, () -> file.addSeals(MemoryFile.SEAL_WRITE));
        }
    }

    @Test
    void futureWriteSeal_letsTheOldMappingWriteAndNoNewOne() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, PAGE);
                Arena arena = Arena.ofShared()) {
            MemorySegment own = file.map(0, PAGE, true, arena);
            file.addSeals(MemoryFile.SEAL_FUTURE_WRITE);
            assertFails(Errno.EPERM, () -> file.map(0, PAGE, true, arena));
            MemorySegment others = file.map(0, PAGE, false, arena);
            own.set(ValueLayout.JAVA_INT, 0, 7);
            assertThat(others.get(ValueLayout.JAVA_INT, 0)).isEqualTo(7);
        }
    }

    @Test
    void create_refusesSizesThatAreNone() {
        assertFails(Errno.EINVAL, () -> MemoryFile.create(NAME, -1));
    }

    @Test
    void fromDescriptor_refusesWhatIsNoMemoryFileAndClosesIt(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "text");
        int descriptor = FileDescriptors.openForReading(file);
        assertFails(Errno.EINVAL, () -> MemoryFile.fromDescriptor(descriptor));
        assertThatThrownBy(() -> FileDescriptors.isNonBlockingAndCloseOnExec(descriptor))
                .hasMessageContaining("EBADF");
    }

    @Test
    void fromDescriptor_refusesHugePages() {
        int descriptor;
        try (CallFrame frame = CallFrame.enter();
                Arena arena = Arena.ofConfined()) {
            long name = arena.allocateFrom("rdmanio-huge").address();
            int hugePages = 4;
            descriptor = (int)
                    Downcall.call(Downcall.libc("memfd_create"), frame, name, MemoryFile.MFD_ALLOW_SEALING | hugePages);
        }
        Assumptions.assumeTrue(descriptor >= 0, "this kernel has no huge pages");
        assertFails(Errno.EINVAL, () -> MemoryFile.fromDescriptor(descriptor));
    }

    @Test
    void use_afterCloseIsRefused() throws IOException {
        MemoryFile file = MemoryFile.create(NAME, PAGE);
        file.close();
        file.close();
        assertThatThrownBy(file::sizeBytes).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(file::seals).isInstanceOf(IllegalStateException.class);
        try (Arena arena = Arena.ofShared()) {
            assertThatThrownBy(() -> file.map(0, PAGE, true, arena)).isInstanceOf(IllegalStateException.class);
        }
    }
}
