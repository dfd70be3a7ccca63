package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Deregistering while the peer writes: whatever it was in the middle of, nothing arrives afterwards. */
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
        int writesCutShort = 0;
        for (int round = 0; round < ROUNDS; round++) {
            MemoryRegionHandle region = owner.domain.registerMemory(memory, READ_WRITE);
            RemoteKey key = user.lookUp(region.remoteKey(), owner.domain.number());
            CompletableFuture<Boolean> writing =
                    CompletableFuture.supplyAsync(() -> writeUntilStopped(key, start), writers);
            start.arriveAndAwaitAdvance();
            spin(round % 50);
            region.destroy();
            memory.fill((byte) 0);
            spin(50);
            assertThat(memory.mismatch(ZEROS)).as("round " + round).isEqualTo(-1);
            writesCutShort += writing.get(10, TimeUnit.SECONDS) ? 1 : 0;
        }
        allocated.region().destroy();
        // It says how much the rounds are worth; either outcome is right in each.
        System.out.println("RevocationRaceTest: " + writesCutShort + " of " + ROUNDS + " ended inside an access");
    }

    private static byte[] ones() {
        byte[] ones = new byte[BYTES];
        Arrays.fill(ones, (byte) 1);
        return ones;
    }

    /** True when an access found the memory unmapped, false when the epoch told first. */
    private static boolean writeUntilStopped(RemoteKey key, Phaser start) {
        start.arriveAndAwaitAdvance();
        while (key.isCurrent()) {
            try {
                MemorySegment.copy(ONES, 0, key.memory(), 0, BYTES);
                key.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            } catch (IllegalStateException e) {
                return true;
            }
        }
        return false;
    }

    private static void spin(int microseconds) {
        long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(microseconds);
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Test
    void deathOfThePair_meetsAccessesWithAnException() throws Exception {
        AllocatedMemory allocated = owner.domain.allocateMemory(BYTES, READ_WRITE);
        RemoteKey key = user.lookUp(allocated.region().remoteKey(), owner.domain.number());
        Phaser start = new Phaser(2);
        CompletableFuture<Boolean> writing =
                CompletableFuture.supplyAsync(() -> writeUntilStopped(key, start), writers);
        start.arriveAndAwaitAdvance();
        spin(1_000);
        user.endNow();
        assertThat(writing.get(10, TimeUnit.SECONDS)).isTrue();
        user.socket.close();
        allocated.region().destroy();
    }
}
