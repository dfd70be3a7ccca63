package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory that one end of a pair owns and the other reaches. */
@Timeout(60)
@ExtendWith(LeakCheck.class)
class ImportsTest {
    private static final int PAGE = 4096;
    private static final int READ_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private MemoryEnd owner;
    private MemoryEnd user;

    @BeforeEach
    void connect() throws IOException, ProtocolException {
        MemoryEnd[] ends = MemoryEnd.connect();
        owner = ends[0];
        user = ends[1];
    }

    @AfterEach
    void disconnect() throws IOException {
        user.close();
        owner.close();
        assertThat(owner.keys.allocations().count()).as("allocations left").isZero();
        assertThat(owner.exports.lentCount()).isZero();
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("/memfd:rdmanio");
        assertThat(owner.end).isCompletedWithValue(null);
        assertThat(user.end).isCompletedWithValue(null);
    }

    private RemoteKey lookUp(MemoryRegionHandle region) {
        return user.lookUp(region.remoteKey(), owner.domain.number());
    }

    private static long mappings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("/memfd:rdmanio-memory")).count();
        }
    }

    @Test
    void allocatedMemory_isReachedByTheOtherEnd() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(2 * PAGE, READ_WRITE);
        RemoteKey key = lookUp(memory.region());
        assertThat(key.address).isEqualTo(memory.memory().address());
        assertThat(key.lengthBytes).isEqualTo(2 * PAGE);
        assertThat(key.permits(AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE))
                .isTrue();
        assertThat(key.permits(AccessFlags.REMOTE_ATOMIC)).isFalse();
        assertThat(key.isCurrent()).isTrue();
        key.memory().set(ValueLayout.JAVA_LONG, key.offset(key.address + PAGE + 8), 42);
        assertThat(memory.memory().get(ValueLayout.JAVA_LONG, PAGE + 8)).isEqualTo(42);
        memory.region().destroy();
    }

    @Test
    void bounds_areThoseOfTheRegionWhateverIsAsked() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(100, READ_WRITE);
        RemoteKey key = lookUp(memory.region());
        assertThat(key.contains(key.address, 100)).isTrue();
        assertThat(key.contains(key.address + 100, 0)).isTrue();
        assertThat(key.contains(key.address, 101)).isFalse();
        assertThat(key.contains(key.address - 1, 1)).isFalse();
        assertThat(key.contains(key.address + 99, 2)).isFalse();
        assertThat(key.contains(key.address, -1)).isFalse();
        assertThat(key.contains(key.address, Long.MIN_VALUE)).isFalse();
        assertThat(key.contains(Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
        assertThat(key.contains(Long.MIN_VALUE, 1)).isFalse();
        assertThat(key.contains(-1, 2)).isFalse();
        assertThat(key.memory().byteSize()).isEqualTo(100);
        memory.region().destroy();
    }

    @Test
    void memoryThatPeersOnlyRead_canNotBeWrittenThroughItsDescriptor() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
        RemoteKey key = lookUp(memory.region());
        memory.memory().set(ValueLayout.JAVA_INT, 0, 7);
        assertThat(key.memory().get(ValueLayout.JAVA_INT, 0)).isEqualTo(7);
        assertThat(key.memory().isReadOnly()).isTrue();
        memory.region().destroy();
    }

    @Test
    void pieceOfAllocatedMemory_isReachedAtItsPlace() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(4 * PAGE, READ_WRITE);
        MemorySegment piece = memory.memory().asSlice(PAGE + 24, PAGE);
        long chosen = 0x7000_0000L + piece.address() % PAGE;
        MemoryRegionHandle region = owner.domain.registerMemory(piece, chosen, READ_WRITE);
        RemoteKey key = lookUp(region);
        assertThat(key.address).isEqualTo(chosen);
        assertThat(key.lengthBytes).isEqualTo(PAGE);
        key.memory().set(ValueLayout.JAVA_LONG, key.offset(chosen + 8), 42);
        assertThat(piece.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        region.destroy();
        memory.region().destroy();
    }

    @Test
    void pieceOutlivesTheRegionItWasAllocatedWith() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        MemoryRegionHandle region = owner.domain.registerMemory(memory.memory().asSlice(8, 8), READ_WRITE);
        memory.region().destroy();
        assertThatThrownBy(() -> memory.memory().get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        RemoteKey key = lookUp(region);
        key.memory().set(ValueLayout.JAVA_LONG, 0, 42);
        Key own = owner.keys.local(region.localKey());
        assertThat(own.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        region.destroy();
    }

    @Test
    void foreignMemory_isKnownButNotMapped() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegionHandle region = owner.domain.registerMemory(arena.allocate(PAGE), READ_WRITE);
            RemoteKey key = lookUp(region);
            assertThat(key.memory()).isNull();
            assertThat(key.lengthBytes).isEqualTo(PAGE);
            assertThat(key.permits(AccessFlags.REMOTE_WRITE)).isTrue();
            region.destroy();
            assertThat(key.isCurrent()).isFalse();
            assertThat(lookUp(region)).isSameAs(RemoteKey.REFUSED);
        }
    }

    @Test
    void keyThatIsNotForThePeer_isRefused() throws IOException {
        AllocatedMemory others = owner.otherDomain.allocateMemory(PAGE, READ_WRITE);
        AllocatedMemory local = owner.domain.allocateMemory(PAGE, AccessFlags.LOCAL_WRITE);
        assertThat(lookUp(others.region())).isSameAs(RemoteKey.REFUSED);
        assertThat(lookUp(local.region())).isSameAs(RemoteKey.REFUSED);
        for (int key : new int[] {0, -1, 1, 0x1_0000, others.region().remoteKey() ^ 1}) {
            assertThat(user.lookUp(key, owner.domain.number())).isSameAs(RemoteKey.REFUSED);
        }
        assertThat(RemoteKey.REFUSED.permits(AccessFlags.REMOTE_READ)).isFalse();
        assertThat(RemoteKey.REFUSED.isCurrent()).isTrue();
        others.region().destroy();
        local.region().destroy();
    }

    @Test
    void keyRefusedToOneQueuePair_isGrantedToAnotherOfItsDomain() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        int key = memory.region().remoteKey();
        // Of a queue pair that is not connected, as one is that was closed while the question was under way.
        int closed = MemoryEnd.QUEUE_PAIR + 1;
        assertThat(user.lookUp(key, closed, owner.domain.number())).isSameAs(RemoteKey.REFUSED);
        assertThat(lookUp(memory.region()).memory()).isNotNull();
        memory.region().destroy();
    }

    @Test
    void keyRefusedToAQueuePair_isAskedForAgainWhenItIsConnectedAnew() throws IOException {
        int key = 0x1_0001;
        assertThat(user.lookUp(key, owner.domain.number())).isSameAs(RemoteKey.REFUSED);
        user.imports.attached(MemoryEnd.QUEUE_PAIR + 1);
        assertThat(user.imports.find(key, MemoryEnd.QUEUE_PAIR, owner.domain.number()))
                .isSameAs(RemoteKey.REFUSED);
        user.imports.attached(MemoryEnd.QUEUE_PAIR);
        assertThat(user.imports.find(key, MemoryEnd.QUEUE_PAIR, owner.domain.number()))
                .isNull();
    }

    @Test
    void keyGivenOutAfterItWasRefused_isAskedForAgainThoughTheRefusalComesLater() throws Exception {
        int key = 0x1_0001;
        CompletableFuture<Void> known = new CompletableFuture<>();
        user.handling.lock();
        try {
            user.imports.resolve(key, MemoryEnd.QUEUE_PAIR, owner.domain.number(), () -> known.complete(null));
            while (owner.sentCount.get() == 0) {
                Thread.sleep(1);
            }
            owner.keys.epochs().advance(KeyTable.slot(key));
        } finally {
            user.handling.unlock();
        }
        known.get(10, TimeUnit.SECONDS);
        assertThat(user.imports.find(key, MemoryEnd.QUEUE_PAIR, owner.domain.number()))
                .isNull();
    }

    @Test
    void find_ofAnotherDomainDoesNotUseWhatIsKnown() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        RemoteKey key = lookUp(memory.region());
        assertThat(user.imports.find(key.value, MemoryEnd.QUEUE_PAIR, owner.otherDomain.number()))
                .isNull();
        assertThat(user.imports.find(key.value, MemoryEnd.QUEUE_PAIR, owner.domain.number()))
                .isSameAs(key);
        memory.region().destroy();
    }

    @Test
    void resolve_ofOneKeyByManyQueuePairsOfADomainAsksOnce() throws Exception {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        AtomicInteger known = new AtomicInteger();
        CompletableFuture<Void> all = new CompletableFuture<>();
        owner.handling.lock();
        try {
            for (int i = 0; i < 10; i++) {
                int queuePair = MemoryEnd.QUEUE_PAIR + i;
                user.imports.resolve(memory.region().remoteKey(), queuePair, owner.domain.number(), () -> {
                    if (known.incrementAndGet() == 10) {
                        all.complete(null);
                    }
                });
            }
        } finally {
            owner.handling.unlock();
        }
        all.get(10, TimeUnit.SECONDS);
        assertThat(user.sentCount).hasValue(1);
        memory.region().destroy();
    }

    @Test
    void resolve_ofAKeyThatIsRefusedToWhoAskedFirst_isForTheOthersToAskAgain() throws Exception {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        int key = memory.region().remoteKey();
        int closed = MemoryEnd.QUEUE_PAIR + 1;
        CompletableFuture<Void> known = new CompletableFuture<>();
        owner.handling.lock();
        try {
            user.imports.resolve(key, closed, owner.domain.number(), () -> {});
            user.imports.resolve(key, MemoryEnd.QUEUE_PAIR, owner.domain.number(), () -> known.complete(null));
        } finally {
            owner.handling.unlock();
        }
        known.get(10, TimeUnit.SECONDS);
        assertThat(user.imports.find(key, MemoryEnd.QUEUE_PAIR, owner.domain.number()))
                .isNull();
        assertThat(lookUp(memory.region()).memory()).isNotNull();
        memory.region().destroy();
    }

    @Test
    void deregister_unmapsAtTheOtherEndBeforeItReturns() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        RemoteKey key = lookUp(memory.region());
        assertThat(mappings()).isEqualTo(2);
        memory.region().destroy();
        assertThat(mappings()).isZero();
        assertThat(key.isCurrent()).isFalse();
        assertThatThrownBy(() -> key.memory().get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        assertThat(lookUp(memory.region())).isSameAs(RemoteKey.REFUSED);
    }

    @Test
    void deregister_doesNotWaitForEverNorFreeForAPeerThatIsHeldUp() throws Exception {
        AllocatedMemory first = owner.domain.allocateMemory(PAGE, READ_WRITE);
        AllocatedMemory second = owner.domain.allocateMemory(PAGE, READ_WRITE);
        RemoteKey key = lookUp(first.region());
        lookUp(second.region());
        user.handling.lock();
        try {
            long before = System.nanoTime();
            first.region().destroy();
            Duration waited = Duration.ofNanos(System.nanoTime() - before);
            assertThat(waited).isBetween(Duration.ofMillis(900), Duration.ofSeconds(10));
            before = System.nanoTime();
            second.region().destroy();
            assertThat(Duration.ofNanos(System.nanoTime() - before))
                    .as("a peer that was waited for in vain is not waited for again")
                    .isLessThan(Duration.ofMillis(900));
            assertThat(owner.keys.allocations().count()).isEqualTo(2);
            // Not allowed, but possible for a peer that was stopped in the middle: it touches nobody else's memory.
            assertThat(key.isCurrent()).isFalse();
            key.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        } finally {
            user.handling.unlock();
        }
        awaitAllocations(0);
        AllocatedMemory third = owner.domain.allocateMemory(PAGE, READ_WRITE);
        lookUp(third.region());
        assertThat(owner.exports.isLate()).isFalse();
        third.region().destroy();
        assertThat(owner.keys.allocations().count()).isZero();
    }

    private void awaitAllocations(int count) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (owner.keys.allocations().count() != count && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        assertThat(owner.keys.allocations().count()).isEqualTo(count);
    }

    @Test
    void deathOfThePeer_endsTheWaitAndFreesTheMemory() throws Exception {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        lookUp(memory.region());
        user.handling.lock();
        try {
            CompletableFuture<Void> destroyed = CompletableFuture.runAsync(() -> {
                try {
                    memory.region().destroy();
                } catch (VerbsException e) {
                    throw new AssertionError(e);
                }
            });
            Thread.sleep(50);
            assertThat(destroyed).isNotDone();
            user.hangUp();
            destroyed.get(10, TimeUnit.SECONDS);
            awaitAllocations(0);
        } finally {
            user.handling.unlock();
        }
    }

    @Test
    void resolve_afterTheEndDoesNothing() throws IOException {
        AllocatedMemory memory = owner.domain.allocateMemory(PAGE, READ_WRITE);
        RemoteKey key = lookUp(memory.region());
        user.endNow();
        assertThatThrownBy(() -> key.memory().get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        int sent = user.sentCount.get();
        user.imports.resolve(5, MemoryEnd.QUEUE_PAIR, 1, () -> {
            throw new AssertionError("there is nobody to answer");
        });
        assertThat(user.sentCount).hasValue(sent);
        user.socket.close();
        memory.region().destroy();
    }
}
