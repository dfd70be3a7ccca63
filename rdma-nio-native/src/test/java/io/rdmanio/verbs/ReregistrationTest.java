package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ReregisterError.Remains;
import io.rdmanio.verbs.spi.ReregisterResult;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a region is after its registration was changed, or could not be. */
@ExtendWith(LeakCheck.class)
class ReregistrationTest {
    private final FakeEngine fake = new FakeEngine();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(64);
    private final MemorySegment other = arena.allocate(128);
    private OpenDeviceContext device;
    private ProtectionDomain domain;
    private MemoryRegion region;

    @BeforeEach
    void register() throws VerbsException {
        device = VerbsAccess.get().newEngine(fake).open("fake0");
        domain = device.allocateProtectionDomain();
        region = domain.registerMemory(memory, 0);
    }

    @AfterEach
    void close() throws VerbsException {
        device.close();
        arena.close();
    }

    @Test
    void success_changesWhatWasAskedFor() throws VerbsException {
        region.reregister(ReregisterFlags.ACCESS, null, null, AccessFlags.LOCAL_WRITE);
        assertThat(region.memory()).isSameAs(memory);
        assertThat(region.localKey()).isEqualTo(2);
        assertThat(region.remoteKey()).isEqualTo(-2);
        region.reregister(ReregisterFlags.TRANSLATION, null, other, 0);
        assertThat(region.memory()).isSameAs(other);
        assertThat(region.address()).isEqualTo(other.address());
        assertThat(region.lengthBytes()).isEqualTo(128);
        assertThat(region.domain()).isSameAs(domain);
        assertThat(region.isValid()).isTrue();
        assertThat(fake.journal).containsExactly("reregister 4 0 1", "reregister 1 memory 128 0");
    }

    @Test
    void memoryThatWasFreed_isNotRegistered() {
        MemorySegment freed;
        try (Arena brief = Arena.ofConfined()) {
            freed = brief.allocate(64);
        }
        assertThatThrownBy(() -> domain.registerMemory(freed, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> domain.registerMemory(freed, 0, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> region.reregister(ReregisterFlags.TRANSLATION, null, freed, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("memory that was freed can't be registered");
        assertThat(fake.journal).isEmpty();
    }

    @Test
    void changeOfDomain_movesTheOwnership() throws VerbsException {
        ProtectionDomain heir = device.allocateProtectionDomain();
        region.reregister(ReregisterFlags.PROTECTION_DOMAIN, heir, null, 0);
        assertThat(region.domain()).isSameAs(heir);
        domain.close();
        assertThat(fake.journal).containsExactly("reregister 2 domain 0 0", "destroy domain");
        heir.close();
        assertThat(fake.journal).endsWith("destroy region", "destroy domain");
        assertThatThrownBy(() -> region.reregister(ReregisterFlags.TRANSLATION, null, other, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this MemoryRegion is closed");
    }

    @ParameterizedTest
    @EnumSource
    void failure_tellsWhatRemains(ReregisterError error) throws VerbsException {
        ProtectionDomain heir = device.allocateProtectionDomain();
        fake.reregistration = new ReregisterResult(error, 12);
        assertThatThrownBy(() -> region.reregister(
                        ReregisterFlags.TRANSLATION | ReregisterFlags.PROTECTION_DOMAIN, heir, other, 0))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("ibv_rereg_mr");
                    assertThat(e.errno()).isEqualTo(12);
                    assertThat(e)
                            .hasMessageContaining(error.nativeName())
                            .hasMessageContaining(
                                    switch (error.remains()) {
                                        case OLD -> "as it was";
                                        case NEW -> "as wanted";
                                        case NOTHING -> "not usable";
                                    });
                });
        boolean changed = error.remains() == Remains.NEW;
        assertThat(region.memory()).isSameAs(changed ? other : memory);
        assertThat(region.domain()).isSameAs(changed ? heir : domain);
        assertThat(region.isValid()).isEqualTo(error.remains() != Remains.NOTHING);
        fake.reregistration = ReregisterResult.DONE;
        if (region.isValid()) {
            region.reregister(ReregisterFlags.ACCESS, null, null, 0);
        } else {
            assertThatThrownBy(() -> region.reregister(ReregisterFlags.ACCESS, null, null, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("can only be closed");
        }
        region.close();
        assertThat(fake.journal).endsWith("destroy region");
    }

    @Test
    void badArguments_areRefusedBeforeTheCall() throws VerbsException {
        MemorySegment heap = MemorySegment.ofArray(new byte[8]);
        assertRefused(0, null, null, 0);
        assertRefused(8, null, null, 0);
        assertRefused(ReregisterFlags.ACCESS, domain, null, 0);
        assertRefused(ReregisterFlags.ACCESS, null, other, 0);
        assertRefused(ReregisterFlags.PROTECTION_DOMAIN, null, null, 0);
        assertRefused(ReregisterFlags.TRANSLATION, null, null, 0);
        assertRefused(ReregisterFlags.TRANSLATION, null, other, AccessFlags.LOCAL_WRITE);
        assertRefused(ReregisterFlags.TRANSLATION, null, heap, 0);
        assertRefused(ReregisterFlags.TRANSLATION, null, other.asSlice(0, 0), 0);
        try (OpenDeviceContext stranger = VerbsAccess.get().newEngine(fake).open("fake0")) {
            assertRefused(ReregisterFlags.PROTECTION_DOMAIN, stranger.allocateProtectionDomain(), null, 0);
        }
        assertThat(fake.journal).noneMatch(line -> line.startsWith("reregister"));
        ProtectionDomain closed = device.allocateProtectionDomain();
        closed.close();
        assertThatThrownBy(() -> region.reregister(ReregisterFlags.PROTECTION_DOMAIN, closed, null, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this ProtectionDomain is closed");
    }

    private void assertRefused(int changes, ProtectionDomain newDomain, MemorySegment newMemory, int accessFlags) {
        assertThatThrownBy(() -> region.reregister(changes, newDomain, newMemory, accessFlags))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
