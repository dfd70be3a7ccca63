package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Deregistering while the peer writes: whatever it was in the middle of, nothing arrives afterwards, and no thread is
 * disturbed by it.
 */
@Timeout(120)
@ExtendWith(LeakCheck.class)
class RevocationRaceTest {
    private static final int ROUNDS = 300;
    private static final int BYTES = 64 * 1024;
    private static final int READ_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
    private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[BYTES]);
    private static final MemorySegment ONES = MemorySegment.ofArray(ones());

    private final ExecutorService writers = Executors.newFixedThreadPool(1);
    private MemoryEnd owner;
    private MemoryEnd user;

    @BeforeEach
    void connect() throws Exception {
        MemoryEnd[] ends = MemoryEnd.connect();
        owner = ends[0];
        user = ends[1];
    }

    @AfterEach
    void disconnect() throws Exception {
        writers.shutdown();
        assertThat(writers.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        user.close();
        owner.close();
    }

    @Test
    void deregister_letsNoWriteArriveAfterwards() throws Exception {
        AllocatedMemory allocated = owner.domain.allocateMemory(BYTES, READ_WRITE);
        MemorySegment memory = allocated.memory();
        Phaser start = new Phaser(2);
        for (int round = 0; round < ROUNDS; round++) {
            MemoryRegionHandle region = owner.domain.registerMemory(memory, READ_WRITE);
            RemoteKey key = user.lookUp(region.remoteKey(), owner.domain.number());
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> writeUntilItEnds(key, start), writers);
            start.arriveAndAwaitAdvance();
            spin(round % 50);
            region.destroy();
            memory.fill((byte) 0);
            spin(50);
            assertThat(memory.mismatch(ZEROS)).as("round " + round).isEqualTo(-1);
            writing.get(10, TimeUnit.SECONDS);
        }
        allocated.region().destroy();
    }

    private static byte[] ones() {
        byte[] ones = new byte[BYTES];
        Arrays.fill(ones, (byte) 1);
        return ones;
    }

    /** As a queue pair does: each access under the claim under which the key was found to be current. */
    private void writeUntilItEnds(RemoteKey key, Phaser start) {
        start.arriveAndAwaitAdvance();
        boolean current = true;
        while (current) {
            user.using.acquire();
            try {
                current = key.isCurrent();
                if (current) {
                    MemorySegment.copy(ONES, 0, key.memory(), 0, BYTES);
                    key.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
                }
            } finally {
                user.using.release();
            }
        }
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    private static void spin(int microseconds) {
        long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(microseconds);
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Test
    void deathOfThePair_waitsForTheAccess() throws Exception {
        AllocatedMemory allocated = owner.domain.allocateMemory(BYTES, READ_WRITE);
        RemoteKey key = user.lookUp(allocated.region().remoteKey(), owner.domain.number());
        Phaser start = new Phaser(2);
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> writeUntilItEnds(key, start), writers);
        start.arriveAndAwaitAdvance();
        spin(1_000);
        user.endNow();
        writing.get(10, TimeUnit.SECONDS);
        assertThatThrownBy(() -> key.memory().get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        user.socket.close();
        allocated.region().destroy();
    }
}
