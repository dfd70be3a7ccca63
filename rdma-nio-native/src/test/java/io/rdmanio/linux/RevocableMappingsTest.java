package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared memory that is taken back from under those who are using it. */
@Timeout(60)
class RevocableMappingsTest {
    private static final String NAME = "rdmanio-revocable";
    private static final long BYTES = 1 << 20;
    // Sparse: nobody touches it.
    private static final long HUGE_BYTES = 1L << 40;

    private static String maps() throws IOException {
        return Files.readString(Path.of("/proc/self/maps"));
    }

    private static long addressSpaceBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmSize:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new AssertionError("no VmSize");
    }

    @Test
    void revoke_leavesZerosAndNothingShared() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, BYTES)) {
            RevocableMappings others = new RevocableMappings();
            MemorySegment stays = others.map(file, 0, BYTES, true);
            stays.fill((byte) 7);
            RevocableMappings mappings = new RevocableMappings();
            MemorySegment writable = mappings.map(file, 0, BYTES, true);
            MemorySegment readOnly = mappings.map(file, MemoryFile.PAGE_BYTES, 100, false);
            assertThat(writable.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 7);
            assertThat(readOnly.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
            assertThat(readOnly.isReadOnly()).isTrue();
            assertThat(maps().lines().filter(line -> line.contains("/memfd:" + NAME)))
                    .hasSize(3);
            mappings.revoke();
            mappings.revoke();
            assertThat(maps().lines().filter(line -> line.contains("/memfd:" + NAME)))
                    .hasSize(1);
            for (long i = 0; i < BYTES; i += 8) {
                assertThat(writable.get(ValueLayout.JAVA_LONG, i)).isZero();
            }
            assertThat(readOnly.get(ValueLayout.JAVA_BYTE, 99)).isZero();
            writable.fill((byte) 1);
            assertThat(readOnly.get(ValueLayout.JAVA_BYTE, 99)).isZero();
            assertThat(stays.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
            assertThatThrownBy(() -> mappings.map(file, 0, BYTES, true)).isInstanceOf(IllegalStateException.class);
            others.revoke();
        }
        assertThat(maps()).doesNotContain("/memfd:" + NAME);
    }

    @Test
    void revoke_disturbsNobodyInTheMiddleOfAnAccess() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (MemoryFile file = MemoryFile.create(NAME, BYTES)) {
                RevocableMappings mappings = new RevocableMappings();
                MemorySegment memory = mappings.map(file, 0, BYTES, true);
                memory.fill((byte) 7);
                CountDownLatch begun = new CountDownLatch(1);
                AtomicBoolean over = new AtomicBoolean();
                CompletableFuture<Boolean> straggler = CompletableFuture.supplyAsync(() -> {
                    MemorySegment copy = MemorySegment.ofArray(new byte[(int) BYTES]);
                    while (!over.get()) {
                        MemorySegment.copy(memory, 0, copy, 0, BYTES);
                        MemorySegment.copy(copy, 0, memory, 0, BYTES);
                        begun.countDown();
                    }
                    return Thread.currentThread().isInterrupted();
                });
                assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
                mappings.revoke();
                over.set(true);
                assertThat(straggler.get(10, TimeUnit.SECONDS)).isFalse();
            }
        }
    }

    @Test
    void mappings_goWhenNobodyHasThemAnyMore() throws IOException {
        mapAndForget();
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
            System.gc();
            assertThat(maps()).doesNotContain("/memfd:" + NAME);
        });
    }

    private static void mapAndForget() throws IOException {
        try (MemoryFile file = MemoryFile.create(NAME, BYTES)) {
            MemorySegment memory = new RevocableMappings().map(file, 0, BYTES, true);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();
            assertThat(maps()).contains("/memfd:" + NAME);
        }
    }

    @Test
    void addressSpaceThatWasRevoked_doesNotPileUp() throws IOException {
        long before = addressSpaceBytes();
        try (MemoryFile file = MemoryFile.create(NAME, HUGE_BYTES)) {
            for (long bytes = 0; bytes < RevocableMappings.REVOKED_BYTES_BEFORE_COLLECTION; bytes += HUGE_BYTES) {
                mapAndRevoke(file);
            }
        }
        // Without a word from this test.
        Awaitility.await()
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(addressSpaceBytes())
                        .isLessThan(before + RevocableMappings.REVOKED_BYTES_BEFORE_COLLECTION / 2));
    }

    private static void mapAndRevoke(MemoryFile file) {
        RevocableMappings mappings = new RevocableMappings();
        try {
            MemorySegment memory = mappings.map(file, 0, HUGE_BYTES, true);
            assertThat(memory.byteSize()).isEqualTo(HUGE_BYTES);
        } catch (SystemCallException e) {
            Assumptions.abort("a system with little address space: " + e.getMessage());
        }
        mappings.revoke();
    }
}
