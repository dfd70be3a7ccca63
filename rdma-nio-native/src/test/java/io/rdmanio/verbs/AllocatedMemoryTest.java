package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory that is allocated with its region, over an engine that has no memory of its own. */
@ExtendWith(LeakCheck.class)
class AllocatedMemoryTest {
    private final FakeEngine fake = new FakeEngine();
    private OpenDeviceContext device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws VerbsException {
        device = VerbsAccess.get().newEngine(fake).open("fake0");
        domain = device.allocateProtectionDomain();
    }

    @AfterEach
    void close() throws VerbsException {
        device.close();
    }

    @Test
    void memory_isZeroAlignedAndFreedWithItsRegion() throws VerbsException {
        MemoryRegion region = domain.allocateMemory(100, AccessFlags.LOCAL_WRITE);
        MemorySegment memory = region.memory();
        assertThat(memory.byteSize()).isEqualTo(100).isEqualTo(region.lengthBytes());
        assertThat(memory.address()).isEqualTo(region.address());
        assertThat(memory.address() % MemoryFile.PAGE_BYTES).isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 99)).isZero();
        memory.set(ValueLayout.JAVA_BYTE, 99, (byte) 1);
        region.close();
        region.close();
        assertThat(memory.scope().isAlive()).isFalse();
    }

    @Test
    void domain_freesWhatWasAllocatedInIt() throws VerbsException {
        MemorySegment memory = domain.allocateMemory(8, 0).memory();
        domain.close();
        assertThat(memory.scope().isAlive()).isFalse();
        assertThatThrownBy(() -> domain.allocateMemory(8, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void reregistration_isThatOfTheRegion() throws VerbsException {
        MemoryRegion region = domain.allocateMemory(8, 0);
        region.reregister(ReregisterFlags.ACCESS, null, null, AccessFlags.LOCAL_WRITE);
        assertThat(fake.journal).containsExactly("reregister 4 0 1");
        assertThat(region.memory().scope().isAlive()).isTrue();
        region.close();
    }

    @Test
    void lengthThatIsNone_isRefused() {
        assertThatThrownBy(() -> domain.allocateMemory(0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> domain.allocateMemory(-1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void lengthThatNobodyHas_isAnError() {
        assertThatThrownBy(() -> domain.allocateMemory(Long.MAX_VALUE / 2, 0))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errorName()).isEqualTo("ENOMEM"));
    }
}
