package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.ReceivedMessage;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Keys, their slots and their epochs. */
@Timeout(60)
@ExtendWith(LeakCheck.class)
class KeyTableTest {
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
        keys.close();
        arena.close();
    }

    private MemoryRegionHandle register() throws VerbsException {
        return domain.registerMemory(arena.allocate(8), AccessFlags.LOCAL_WRITE);
    }

    @Test
    void slots_areUsedAgainAsLateAsPossible() throws VerbsException {
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            MemoryRegionHandle region = register();
            assertThat(seen.add(KeyTable.slot(region.localKey()))).isTrue();
            region.destroy();
        }
    }

    @Test
    void keys_areNever0AndRunOutWithAnError() throws VerbsException {
        List<MemoryRegionHandle> regions = new ArrayList<>();
        MemorySegment memory = arena.allocate(8);
        for (int i = 1; i < KeyTable.SLOTS; i++) {
            MemoryRegionHandle region = domain.registerMemory(memory, 0);
            assertThat(region.localKey()).isNotZero().isEqualTo(region.remoteKey());
            regions.add(region);
        }
        assertThatThrownBy(() -> domain.registerMemory(memory, 0)).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.errorName()).isEqualTo("ENOMEM");
            assertThat(e).hasMessageContaining("65535 keys");
        });
        assertThatThrownBy(() -> domain.allocateMemory(8, AccessFlags.REMOTE_READ))
                .isInstanceOf(VerbsException.class);
        assertThat(keys.allocations().count()).isZero();
        for (MemoryRegionHandle region : regions) {
            region.destroy();
        }
        register().destroy();
    }

    @Test
    void key_isFoundWhileItIsOpenAndByNoOtherNumber() throws VerbsException {
        MemoryRegionHandle region = register();
        int key = region.localKey();
        assertThat(keys.local(key)).isSameAs(keys.remote(key)).isNotNull();
        assertThat(keys.local(key).domain).isSameAs(domain);
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            assertThat(keys.local(key ^ 1 << bit)).isNull();
        }
        assertThat(keys.local(0)).isNull();
        region.destroy();
        assertThat(keys.local(key)).isNull();
    }

    @Test
    void epoch_changesWithEveryChangeOfASlot() throws Exception {
        MemoryRegionHandle region = register();
        int slot = KeyTable.slot(region.localKey());
        Key key = keys.local(region.localKey());
        RevocableMappings mappings = new RevocableMappings();
        try (MemoryFile file = copyOfDescriptor()) {
            MemorySegment peers = EpochPage.map(file, mappings);
            assertThat(peers.isReadOnly()).isTrue();
            assertThat(EpochPage.get(peers, slot)).isEqualTo(key.epoch).isEqualTo(1);
            region.destroy();
            assertThat(EpochPage.get(peers, slot)).isEqualTo(2);
            assertThat(EpochPage.get(peers, slot + 1)).isZero();
        } finally {
            mappings.revoke();
        }
    }

    private MemoryFile copyOfDescriptor() throws IOException {
        var sockets = MemoryEnd.sockets();
        var message = new ReceivedMessage();
        MemorySegment letter = arena.allocate(1);
        try (var from = sockets[0];
                var to = sockets[1]) {
            from.send(letter, keys.epochs().fileDescriptor());
            to.receive(letter, message);
        }
        return MemoryFile.fromDescriptor(message.takeDescriptor(0));
    }

    @Test
    void epochs_canNotBeWrittenByPeers() throws IOException {
        try (MemoryFile file = copyOfDescriptor();
                Arena mapping = Arena.ofShared()) {
            assertThatThrownBy(() -> file.map(0, EpochPage.BYTES, true, mapping))
                    .hasMessageContaining("EPERM");
        }
    }

    @Test
    void pageOfAPeer_isRefusedUnlessItIsSealedAndComplete() throws Exception {
        int seals = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW;
        RevocableMappings mappings = new RevocableMappings();
        for (long bytes : new long[] {0, EpochPage.BYTES - 1, EpochPage.BYTES + 1}) {
            try (MemoryFile file = MemoryFile.create("rdmanio-test", bytes)) {
                file.addSeals(seals);
                assertThatThrownBy(() -> EpochPage.map(file, mappings)).isInstanceOf(ProtocolException.class);
            }
        }
        try (MemoryFile file = MemoryFile.create("rdmanio-test", EpochPage.BYTES)) {
            assertThatThrownBy(() -> EpochPage.map(file, mappings)).isInstanceOf(ProtocolException.class);
            file.addSeals(seals);
            assertThat(EpochPage.map(file, mappings).get(ValueLayout.JAVA_INT, EpochPage.BYTES - 4))
                    .isZero();
        } finally {
            mappings.revoke();
        }
    }
}
