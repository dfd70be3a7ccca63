package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.rdmanio.linux.MappedPages;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ReregisterResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What can be registered and how, and what stays afterwards. */
@Timeout(30)
@ExtendWith(LeakCheck.class)
class SoftMemoryRegionTest {
    private static final int PAGE = 4096;
    private static final int READ_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private KeyTable keys;
    private SoftProtectionDomain domain;
    private final Arena arena = Arena.ofShared();

    @BeforeEach
    void open() throws IOException {
        keys = new KeyTable();
        domain = new SoftProtectionDomain(keys, null);
    }

    @AfterEach
    void close() {
        assertThat(keys.allocations().count()).isZero();
        keys.close();
        arena.close();
    }

    private interface Call {
        void run() throws VerbsException;
    }

    private static void assertRefused(String error, String text, Call call) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.errorName()).as(e.getMessage()).isEqualTo(error);
            assertThat(e).hasMessageContaining(text);
        });
    }

    @Test
    void registerMemory_refusesWhatDoesNotFit() {
        MemorySegment memory = arena.allocate(PAGE, PAGE);
        assertRefused("EINVAL", "LOCAL_WRITE", () -> domain.registerMemory(memory, AccessFlags.REMOTE_WRITE));
        assertRefused("EINVAL", "access=0x8", () -> domain.registerMemory(memory, AccessFlags.REMOTE_ATOMIC));
        assertRefused("EINVAL", "unknown", () -> domain.registerMemory(memory, 1 << 15));
        assertRefused("EINVAL", "length", () -> domain.registerMemory(memory.asSlice(0, 0), 0));
        assertRefused("EINVAL", "iova=0x1001", () -> domain.registerMemory(memory, 0x1001, 0));
        assertRefused("EINVAL", "wrap", () -> domain.registerMemory(memory, Long.MAX_VALUE & -PAGE, 0));
        assertRefused("EACCES", "read-only", () -> domain.registerMemory(memory.asReadOnly(), READ_WRITE));
        assertRefused("EINVAL", "no such memory", () -> domain.registerMemory(0, 8, 0));
        assertRefused("EINVAL", "no such memory", () -> domain.registerMemory(8, Long.MAX_VALUE, 0));
        assertRefused("EINVAL", "no such memory", () -> domain.registerMemory(-8, 4, 0));
    }

    @Test
    void registerMemory_refusesMemoryThatIsNotThere() throws IOException {
        assumeFalse(MappedPages.populate(64, 8, false), "this kernel can't tell");
        assertRefused("EFAULT", "not mapped", () -> domain.registerMemory(64, 8, 0));
        try (MemoryFile file = MemoryFile.create("rdmanio-test", PAGE)) {
            long address = file.map(0, PAGE, false, arena).address();
            domain.registerMemory(address, PAGE, AccessFlags.REMOTE_READ).destroy();
            assertRefused("EFAULT", "written", () -> domain.registerMemory(address, PAGE, READ_WRITE));
        }
    }

    @Test
    void registerMemory_takesFlagsThatADeviceMayIgnore() throws VerbsException {
        MemorySegment memory = arena.allocate(PAGE, PAGE).asReadOnly();
        int hints = AccessFlags.RELAXED_ORDERING | AccessFlags.HUGE_PAGES | AccessFlags.ON_DEMAND;
        domain.registerMemory(memory, hints | AccessFlags.REMOTE_READ).destroy();
    }

    @Test
    void zeroBasedRegion_beginsWithAddress0() throws VerbsException {
        MemoryRegionHandle region = domain.registerMemory(arena.allocate(PAGE), AccessFlags.ZERO_BASED);
        Key key = keys.local(region.localKey());
        assertThat(key.contains(0, PAGE)).isTrue();
        assertThat(key.contains(1, PAGE)).isFalse();
        assertThat(key.offset(8)).isEqualTo(8);
        region.destroy();
    }

    @Test
    void key_knowsWhenItsMemoryWasFreed() throws VerbsException {
        MemoryRegionHandle region;
        MemoryRegionHandle confinedRegion;
        try (Arena freed = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            region = domain.registerMemory(freed.allocate(8), READ_WRITE);
            MemorySegment memory = confined.allocate(8);
            confinedRegion = domain.registerMemory(memory, READ_WRITE);
            Key confinedKey = keys.local(confinedRegion.localKey());
            assertThat(confinedKey.isAlive()).isTrue();
            // Whatever thread it belongs to: a device is no thread.
            assertThat(confinedKey.memory().isAccessibleBy(new Thread(() -> {})))
                    .isTrue();
            confinedKey.memory().set(ValueLayout.JAVA_LONG, 0, 42);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        }
        Key key = keys.local(region.localKey());
        assertThat(key.isAlive()).isFalse();
        assertThat(keys.local(confinedRegion.localKey()).isAlive()).isFalse();
        assertThatThrownBy(() -> key.memory().get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        region.destroy();
        confinedRegion.destroy();
    }

    @Test
    void allocatedMemory_isZeroAlignedAndForAllThreads() throws Exception {
        for (int access : new int[] {0, AccessFlags.LOCAL_WRITE, AccessFlags.REMOTE_READ, READ_WRITE}) {
            AllocatedMemory allocated = domain.allocateMemory(PAGE + 1, access);
            MemorySegment memory = allocated.memory();
            assertThat(memory.byteSize()).isEqualTo(PAGE + 1);
            assertThat(memory.address() % PAGE).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, PAGE)).isZero();
            Thread other = Thread.ofVirtual().start(() -> memory.set(ValueLayout.JAVA_BYTE, PAGE, (byte) 1));
            other.join();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, PAGE)).isEqualTo((byte) 1);
            assertThat(keys.local(allocated.region().localKey()).lengthBytes).isEqualTo(PAGE + 1);
            allocated.region().destroy();
            assertThat(memory.scope().isAlive()).isFalse();
        }
    }

    @Test
    void allocateMemory_thatIsRefusedLeavesNothing() {
        assertRefused("EINVAL", "LOCAL_WRITE", () -> domain.allocateMemory(PAGE, AccessFlags.REMOTE_WRITE));
        assertThatThrownBy(() -> domain.allocateMemory(Long.MAX_VALUE / 2, AccessFlags.REMOTE_READ))
                .isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> domain.allocateMemory(Long.MAX_VALUE / 2, 0)).isInstanceOf(VerbsException.class);
    }

    @Test
    void moreRightsThanTheMemoryWasAllocatedWith_areRefused() throws VerbsException {
        int readable = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;
        AllocatedMemory allocated = domain.allocateMemory(PAGE, readable);
        MemorySegment piece = allocated.memory().asSlice(16, 16);
        assertRefused("EACCES", "allocate it with them", () -> domain.registerMemory(piece, READ_WRITE));
        assertThat(allocated.region().reregister(ReregisterFlags.ACCESS, null, (MemorySegment) null, READ_WRITE))
                .isEqualTo(new ReregisterResult(ReregisterError.INPUT, 13));
        domain.registerMemory(piece, readable).destroy();
        allocated.region().destroy();
    }

    @Test
    void reregister_changesWhatIsAskedAndKeepsTheKey() throws Exception {
        MemorySegment first = arena.allocate(PAGE, PAGE);
        MemorySegment second = arena.allocate(2 * PAGE, PAGE);
        MemoryRegionHandle region = domain.registerMemory(first, 0x10_0000, READ_WRITE);
        int key = region.localKey();
        int epoch = keys.local(key).epoch;

        assertThat(region.reregister(ReregisterFlags.ACCESS, null, (MemorySegment) null, AccessFlags.LOCAL_WRITE))
                .isEqualTo(ReregisterResult.DONE);
        assertThat(keys.local(key).accessFlags).isEqualTo(AccessFlags.LOCAL_WRITE);
        assertThat(keys.local(key).address).isEqualTo(0x10_0000);
        assertThat(keys.local(key).epoch).isEqualTo(epoch + 2);

        assertThat(region.reregister(ReregisterFlags.TRANSLATION, null, second, 0))
                .isEqualTo(ReregisterResult.DONE);
        assertThat(keys.local(key).address).isEqualTo(second.address());
        assertThat(keys.local(key).lengthBytes).isEqualTo(2 * PAGE);
        assertThat(keys.local(key).accessFlags).isEqualTo(AccessFlags.LOCAL_WRITE);

        SoftProtectionDomain heir = new SoftProtectionDomain(keys, null);
        assertThat(region.reregister(ReregisterFlags.PROTECTION_DOMAIN, heir, (MemorySegment) null, 0))
                .isEqualTo(ReregisterResult.DONE);
        assertThat(keys.local(key).domain).isSameAs(heir);
        assertThat(keys.local(key).memory().address()).isEqualTo(second.address());

        assertThat(region.reregister(ReregisterFlags.TRANSLATION, null, second.asSlice(0, 0), 0))
                .isEqualTo(new ReregisterResult(ReregisterError.INPUT, 22));
        assertThat(keys.local(key).domain).isSameAs(heir);
        region.destroy();
    }

    @Test
    void allocatedMemory_outlivesAReregistrationToOtherMemory() throws Exception {
        AllocatedMemory allocated = domain.allocateMemory(PAGE, READ_WRITE);
        allocated.region().reregister(ReregisterFlags.TRANSLATION, null, arena.allocate(8), 0);
        allocated.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        assertThat(keys.allocations().count()).isEqualTo(1);
        allocated.region().destroy();
    }

    @Test
    void deregister_waitsForAnAccessOfItsDomain() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        MemoryUser busy = () -> {
            asked.countDown();
            try {
                assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        domain.join(busy);
        MemoryRegionHandle region = domain.registerMemory(arena.allocate(8), 0);
        Thread closer = Thread.ofVirtual().start(() -> {
            try {
                region.destroy();
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(keys.local(region.localKey())).as("before it waits").isNull();
        assertThat(closer.isAlive()).isTrue();
        assertRefused("EBUSY", "1 queue pairs", domain::destroy);
        over.countDown();
        closer.join();
        domain.leave(busy);
        domain.destroy();
    }
}
