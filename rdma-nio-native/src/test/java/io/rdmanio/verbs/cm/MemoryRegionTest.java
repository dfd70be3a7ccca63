package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.Without;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ways to register memory, and what peers may not do with it, on a real device. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class MemoryRegionTest {
    private static final int PAGE = 4096;
    private static final long CHOSEN = 0x5_0000_0000L;
    private static final int READ_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private static WorkCompletionStatus write(ConnectedPair pair, long address, int key, int length)
            throws IOException {
        pair.client.pair.postSend(pair.client
                .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, length)
                .remote(address, key));
        return pair.client.awaitCompletion().status();
    }

    /** A message that was sent after a write arrives after it, on every transport. */
    private static void awaitArrival(ConnectedPair pair) throws IOException {
        pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, 0, 0, 1));
        assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    @Needs(Feature.CHOSEN_ADDRESSES)
    void memoryUnderAnotherAddress_isReachedByIt() throws IOException {
        try (ConnectedPair pair = new ConnectedPair();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(2 * PAGE, PAGE);
            try (MemoryRegion region = pair.server.domain.registerMemory(memory, CHOSEN, READ_WRITE)) {
                assertThat(region.address()).isEqualTo(CHOSEN);
                assertThat(region.lengthBytes()).isEqualTo(2 * PAGE);
                assertThat(region.memory()).isSameAs(memory);
                pair.client.memory.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
                assertThat(write(pair, CHOSEN + PAGE + 8, region.remoteKey(), 8))
                        .isEqualTo(WorkCompletionStatus.SUCCESS);
                awaitArrival(pair);
                assertThat(memory.get(ValueLayout.JAVA_LONG, PAGE + 8)).isEqualTo(0x1122334455667788L);
                assertThat(write(pair, memory.address(), region.remoteKey(), 8))
                        .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            }
        }
    }

    @Test
    void optionalFlags_areTakenByEveryDevice() throws IOException {
        try (ConnectedPair pair = new ConnectedPair();
                Arena arena = Arena.ofShared();
                MemoryRegion region = pair.server.domain.registerMemory(
                        arena.allocate(PAGE, PAGE), READ_WRITE | AccessFlags.RELAXED_ORDERING)) {
            assertThat(write(pair, region.address(), region.remoteKey(), 8)).isEqualTo(WorkCompletionStatus.SUCCESS);
            awaitArrival(pair);
        }
    }

    @Test
    void allocatedMemory_isWrittenByThePeerAndFreedWithItsRegion() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            MemoryRegion region = pair.server.domain.allocateMemory(PAGE + 8, READ_WRITE);
            MemorySegment memory = region.memory();
            assertThat(memory.byteSize()).isEqualTo(PAGE + 8);
            assertThat(memory.get(ValueLayout.JAVA_LONG, PAGE)).isZero();
            pair.client.memory.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
            assertThat(write(pair, region.address() + PAGE, region.remoteKey(), 8))
                    .isEqualTo(WorkCompletionStatus.SUCCESS);
            awaitArrival(pair);
            assertThat(memory.get(ValueLayout.JAVA_LONG, PAGE)).isEqualTo(0x1122334455667788L);
            region.close();
            assertThat(memory.scope().isAlive()).isFalse();
        }
    }

    @Test
    void registerMemory_underAnotherAddressRefusesBadArguments() throws IOException {
        try (ConnectedPair pair = new ConnectedPair();
                Arena arena = Arena.ofConfined()) {
            ProtectionDomain domain = pair.client.domain;
            MemorySegment memory = arena.allocate(PAGE, PAGE);
            assertThatThrownBy(() -> domain.registerMemory(MemorySegment.ofArray(new byte[8]), CHOSEN, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.registerMemory(memory, CHOSEN, AccessFlags.REMOTE_WRITE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.errorName()).isEqualTo("EINVAL");
                        assertThat(e).hasMessageContaining("iova=0x500000000");
                    });
            ProtectionDomain closed = pair.client.id.device().allocateProtectionDomain();
            closed.close();
            assertThatThrownBy(() -> closed.registerMemory(memory, CHOSEN, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void dmaBuf_isRefusedByADeviceWithoutThem() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            ProtectionDomain domain = pair.client.domain;
            assertThatThrownBy(() -> domain.registerDmaBuf(-1, 0, PAGE, 0, AccessFlags.LOCAL_WRITE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_reg_dmabuf_mr");
                        assertThat(e.errorName()).isEqualTo("EOPNOTSUPP");
                        assertThat(e).hasMessageContaining("fd=-1, offset=0, length=4096");
                    });
            assertThatThrownBy(() -> domain.registerDmaBuf(0, -1, PAGE, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.registerDmaBuf(0, 0, 0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Needs(Feature.REREGISTRATION)
    void reregister_changesWhatPeersReach() throws IOException {
        try (ConnectedPair pair = new ConnectedPair();
                Arena arena = Arena.ofShared();
                MemoryRegion region = pair.server.domain.registerMemory(
                        arena.allocate(PAGE, PAGE), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)) {
            MemorySegment other = arena.allocate(2 * PAGE, PAGE);
            region.reregister(ReregisterFlags.ACCESS | ReregisterFlags.TRANSLATION, null, other, READ_WRITE);
            assertThat(region.address()).isEqualTo(other.address());
            assertThat(region.lengthBytes()).isEqualTo(2 * PAGE);
            pair.client.memory.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
            assertThat(write(pair, other.address() + PAGE, region.remoteKey(), 8))
                    .isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(other.get(ValueLayout.JAVA_LONG, PAGE)).isEqualTo(0x1122334455667788L);
            region.reregister(ReregisterFlags.ACCESS, null, null, AccessFlags.LOCAL_WRITE);
            assertThat(write(pair, other.address(), region.remoteKey(), 8))
                    .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    @Without(Feature.REREGISTRATION)
    void reregister_byADriverWithoutItSaysWhatIsLeft() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            MemoryRegion region = pair.client.region;
            assertThatThrownBy(() -> region.reregister(ReregisterFlags.ACCESS, null, null, READ_WRITE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_rereg_mr");
                        assertThat(e.errorName()).isEqualTo("EOPNOTSUPP");
                        assertThat(e).hasMessageContaining("IBV_REREG_MR_ERR_CMD");
                    });
            // As the function's result has it, though nothing was changed.
            assertThat(region.isValid()).isFalse();
            assertThatThrownBy(() -> region.reregister(ReregisterFlags.ACCESS, null, null, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @Needs(Feature.REMOTE_COMPLETION)
    void write_thePeerDoesNotAllowFails() throws IOException {
        for (Violation violation : Violation.values()) {
            try (ConnectedPair pair = new ConnectedPair();
                    Arena arena = Arena.ofShared();
                    MemoryRegion readable = pair.server.domain.registerMemory(
                            arena.allocate(PAGE, PAGE), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
                    ProtectionDomain other = pair.server.id.device().allocateProtectionDomain();
                    MemoryRegion foreign = other.registerMemory(arena.allocate(PAGE, PAGE), READ_WRITE)) {
                MemoryRegion open = pair.server.region;
                WorkCompletionStatus status = switch (violation) {
                    case BEYOND_THE_END -> write(pair, open.address() + open.lengthBytes() - 4, open.remoteKey(), 8);
                    case BEFORE_THE_BEGINNING -> write(pair, open.address() - 8, open.remoteKey(), 8);
                    case NO_RIGHT_TO_WRITE -> write(pair, readable.address(), readable.remoteKey(), 8);
                    case ANOTHER_DOMAIN -> write(pair, foreign.address(), foreign.remoteKey(), 8);
                    case DEAD_KEY -> write(pair, readable.address(), deadKey(pair, readable.memory()), 8);
                };
                assertThat(status).as(violation.name()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                // The queue pair is in ERROR now: what was posted is flushed.
                assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
                // So is that of the peer, who has refused.
                assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
            }
        }
    }

    /** A key whose region is closed. */
    private static int deadKey(ConnectedPair pair, MemorySegment memory) throws IOException {
        try (MemoryRegion region = pair.server.domain.registerMemory(memory, READ_WRITE)) {
            return region.remoteKey();
        }
    }

    /** What a peer may not do. */
    private enum Violation {
        BEYOND_THE_END,
        BEFORE_THE_BEGINNING,
        NO_RIGHT_TO_WRITE,
        ANOTHER_DOMAIN,
        DEAD_KEY
    }
}
