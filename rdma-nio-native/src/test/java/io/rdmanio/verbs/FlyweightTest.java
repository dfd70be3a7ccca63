package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Work requests and completions against the bytes that C reads and writes. */
@ExtendWith(LeakCheck.class)
class FlyweightTest {
    private static final ValueLayout.OfInt NETWORK_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    @Test
    void sendWorkRequest_isLaidOutAsInC() {
        try (SendWorkRequest next = new SendWorkRequest(0);
                SendWorkRequest request = new SendWorkRequest(2)) {
            assertThat(request.workRequestId(0x1122334455667788L)
                            .opcode(SendOpcode.WRITE_WITH_IMM)
                            .flags(SendFlags.SIGNALED | SendFlags.INLINE)
                            .immediateData(0x01020304)
                            .remote(0x1000, 0x2000)
                            .sgeCount(2)
                            .sge(0, 0x3000, 10, 20)
                            .sge(1, 0x4000, 30, 40)
                            .next(next))
                    .isSameAs(request);
            MemorySegment memory = request.memory();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1122334455667788L);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8))
                    .isEqualTo(next.memory().address());
            assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(memory.address() + 144);
            assertThat(memory.get(ValueLayout.JAVA_INT, 24)).isEqualTo(2);
            assertThat(memory.get(ValueLayout.JAVA_INT, 28)).isEqualTo(1);
            assertThat(memory.get(ValueLayout.JAVA_INT, 32)).isEqualTo(2 | 8);
            assertThat(memory.get(NETWORK_INT, 36)).isEqualTo(0x01020304);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 40)).isEqualTo(0x1000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 48)).isEqualTo(0x2000);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 160)).isEqualTo(0x4000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 168)).isEqualTo(30);
            assertThat(memory.get(ValueLayout.JAVA_INT, 172)).isEqualTo(40);
            request.next(null);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isZero();
        }
    }

    @Test
    void targets_areLaidOutAsInCAndShareMemory() {
        try (SendWorkRequest request = new SendWorkRequest(1)) {
            MemorySegment memory = request.memory();
            request.atomic(0x1000, 0x20, 0x30, 0x40);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 40)).isEqualTo(0x1000);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 48)).isEqualTo(0x30);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 56)).isEqualTo(0x40);
            assertThat(memory.get(ValueLayout.JAVA_INT, 64)).isEqualTo(0x20);
            request.remote(0x5000, 0x60);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 40)).isEqualTo(0x5000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 48)).isEqualTo(0x60);
            request.xrc(0x70);
            assertThat(memory.get(ValueLayout.JAVA_INT, 72)).isEqualTo(0x70);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment header = arena.allocate(54);
                request.segmentation(header, 1460);
                assertThat(memory.get(ValueLayout.JAVA_LONG, 80)).isEqualTo(header.address());
                assertThat(memory.get(ValueLayout.JAVA_SHORT, 88)).isEqualTo((short) 54);
                assertThat(memory.get(ValueLayout.JAVA_SHORT, 90)).isEqualTo((short) 1460);
                assertThat(request.beginPost(null)).isSameAs(memory);
                request.endPost();
            }
            assertThatThrownBy(() -> request.beginPost(null)).hasMessageContaining("header was freed");
            request.clear();
            assertThat(request.beginPost(null)).isSameAs(memory);
            request.endPost();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(memory.address() + 144);
            memory.set(ValueLayout.JAVA_LONG, 16, 0);
            assertThat(memory.mismatch(Arena.global().allocate(memory.byteSize())))
                    .isEqualTo(-1);
        }
    }

    @Test
    void listThatLeadsBack_isRefused() {
        try (SendWorkRequest first = new SendWorkRequest(0);
                SendWorkRequest second = new SendWorkRequest(0);
                ReceiveWorkRequest receive = new ReceiveWorkRequest(0)) {
            first.next(second);
            assertThatThrownBy(() -> second.next(first)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> second.next(second)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> receive.next(receive)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void listWithMemoryOfAClosedArena_isRefused() {
        try (SendWorkRequest first = new SendWorkRequest(1);
                ReceiveWorkRequest receive = new ReceiveWorkRequest(1)) {
            try (Arena arena = Arena.ofConfined()) {
                first.next(new SendWorkRequest(arena, 1));
                receive.next(new ReceiveWorkRequest(arena, 1));
            }
            assertThatThrownBy(() -> first.beginPost(null)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(receive::checkedList).isInstanceOf(IllegalStateException.class);
        }
        HandleKind.SEND_WORK_REQUEST.closed(); // those of the arena, whose owner did not close them
        HandleKind.RECEIVE_WORK_REQUEST.closed();
    }

    @Test
    void failedPost_tellsWhichRequest() {
        try (SendWorkRequest first = new SendWorkRequest(0).workRequestId(10);
                SendWorkRequest second = new SendWorkRequest(0).workRequestId(11)) {
            first.next(second);
            MemorySegment list = first.beginPost(null);
            first.endPost();
            assertThat(SendWorkRequestLayout.failed(list)).isZero();
            PostException unplaced = first.failure("ibv_post_send", "queuePair=1", Errno.EINVAL, "");
            assertThat(unplaced.failedIndex()).isEqualTo(-1);
            assertThat(unplaced.getMessage()).doesNotContain("workRequestId");
            list.set(
                    ValueLayout.JAVA_LONG,
                    SendWorkRequestLayout.FAILED_OFFSET,
                    second.memory().address());
            PostException placed = first.failure("ibv_post_send", "queuePair=1", Errno.EINVAL, "Cure.");
            assertThat(placed.failedIndex()).isEqualTo(1);
            assertThat(placed.failedWorkRequestId()).isEqualTo(11);
            assertThat(placed).hasMessageContaining("request 1 of the list, workRequestId=11");
        }
    }

    @Test
    void receiveWorkRequest_isLaidOutAsInC() {
        try (ReceiveWorkRequest next = new ReceiveWorkRequest(1);
                ReceiveWorkRequest request = new ReceiveWorkRequest(1)) {
            request.workRequestId(5).sgeCount(1).sge(0, 0x3000, 10, 20).next(next);
            MemorySegment memory = request.memory();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8))
                    .isEqualTo(next.memory().address());
            assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(memory.address() + 48);
            assertThat(memory.get(ValueLayout.JAVA_INT, 24)).isEqualTo(1);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 48)).isEqualTo(0x3000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 56)).isEqualTo(10);
            assertThat(memory.get(ValueLayout.JAVA_INT, 60)).isEqualTo(20);
        }
    }

    @Test
    void workCompletions_areReadAsInC() {
        try (WorkCompletions completions = new WorkCompletions(2)) {
            MemorySegment second = completions.memory().asSlice(48);
            second.set(ValueLayout.JAVA_LONG, 0, 99);
            second.set(ValueLayout.JAVA_INT, 8, 5);
            second.set(ValueLayout.JAVA_INT, 12, 129);
            second.set(ValueLayout.JAVA_INT, 16, 3);
            second.set(ValueLayout.JAVA_INT, 20, 1000);
            second.set(NETWORK_INT, 24, 0x0a0b0c0d);
            second.set(ValueLayout.JAVA_INT, 28, 17);
            second.set(ValueLayout.JAVA_INT, 32, 18);
            second.set(ValueLayout.JAVA_INT, 36, 3);
            second.set(ValueLayout.JAVA_SHORT, 40, (short) 0xFFFE);
            second.set(ValueLayout.JAVA_SHORT, 42, (short) 0xFFFD);
            second.set(ValueLayout.JAVA_BYTE, 44, (byte) 0xFC);
            second.set(ValueLayout.JAVA_BYTE, 45, (byte) 0xFB);
            assertThat(completions.workRequestId(1)).isEqualTo(99);
            assertThat(completions.succeeded(1)).isFalse();
            assertThat(WorkCompletionStatus.of(completions.status(1))).isEqualTo(WorkCompletionStatus.FLUSHED);
            assertThat(completions.opcode(1)).isEqualTo(WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM);
            assertThat(WorkCompletionOpcode.isReceive(completions.opcode(1))).isTrue();
            assertThat(completions.vendorError(1)).isEqualTo(3);
            assertThat(completions.lengthBytes(1)).isEqualTo(1000);
            assertThat(completions.hasImmediate(1)).isTrue();
            assertThat(completions.immediateData(1)).isEqualTo(0x0a0b0c0d);
            assertThat(completions.queuePairNumber(1)).isEqualTo(17);
            assertThat(completions.invalidatedKey(1)).isEqualTo(second.get(ValueLayout.JAVA_INT, 24));
            assertThat(completions.sourceQueuePairNumber(1)).isEqualTo(18);
            assertThat(completions.hasGlobalRouteHeader(1)).isTrue();
            assertThat(completions.partitionKeyIndex(1)).isEqualTo(0xFFFE);
            assertThat(completions.sourceLocalId(1)).isEqualTo(0xFFFD);
            assertThat(completions.serviceLevel(1)).isEqualTo(0xFC);
            assertThat(completions.destinationPathBits(1)).isEqualTo(0xFB);
            assertThat(completions.hasGlobalRouteHeader(0)).isFalse();
            assertThat(completions.succeeded(0)).isTrue();
            assertThatThrownBy(() -> completions.status(2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void bounds_areChecked() {
        assertThatThrownBy(() -> new WorkCompletions(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SendWorkRequest(-1)).isInstanceOf(IllegalArgumentException.class);
        try (SendWorkRequest request = new SendWorkRequest(1)) {
            assertThatThrownBy(() -> request.sgeCount(2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> request.sge(1, 0, 0, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void inlineData_isCheckedBeforeTheLibraryCopiesIt() {
        try (SendWorkRequest request = new SendWorkRequest(2);
                Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(8).address();
            request.flags(SendFlags.INLINE).sgeCount(1).sge(0, address, -1, 0);
            assertThatThrownBy(() -> request.beginPost(null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("inline data of 4294967295 bytes is more than any queue takes");
            request.sgeCount(2).sge(0, address, 1 << 31, 0).sge(1, address, (1 << 31) + 8, 0);
            assertThatThrownBy(() -> request.beginPost(null)).isInstanceOf(IllegalArgumentException.class);
            request.sge(0, address, 8, 0).sge(1, 0, 1, 0);
            assertThatThrownBy(() -> request.beginPost(null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("entry 1 has no address");
            request.sge(1, 0, 0, 0);
            request.beginPost(null);
            request.endPost();
            // Entries that are not in use and requests without the flag are no business of the library's.
            request.sge(1, 0, 1, 0).sgeCount(1);
            request.beginPost(null);
            request.endPost();
            request.sgeCount(2).flags(0).sge(0, address, -1, 0);
            request.beginPost(null);
            request.endPost();
        }
    }

    @Test
    void inlineDataOfARegion_isRefusedWhenItsMemoryWasFreed() throws VerbsException {
        try (OpenDeviceContext device =
                        VerbsAccess.get().newEngine(new FakeEngine()).open("fake0");
                SendWorkRequest request = new SendWorkRequest(1)) {
            try (Arena arena = Arena.ofConfined()) {
                MemoryRegion region = device.allocateProtectionDomain().registerMemory(arena.allocate(8), 0);
                request.flags(SendFlags.INLINE).sgeCount(1).sge(0, region, 0, 8);
                request.beginPost(null);
                request.endPost();
                region.close();
            }
            assertThatThrownBy(() -> request.beginPost(null))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the memory of the region of entry 0 was freed");
            request.clear().beginPost(null);
            request.endPost();
        }
    }

    @Test
    void opcode_isOneOfThoseThereAre() {
        try (SendWorkRequest request = new SendWorkRequest(0)) {
            for (int opcode : new int[] {Integer.MIN_VALUE, -1, 11, Integer.MAX_VALUE}) {
                assertThatThrownBy(() -> request.opcode(opcode)).isInstanceOf(IllegalArgumentException.class);
            }
            request.opcode(SendOpcode.TCP_SEGMENTATION);
            assertThatThrownBy(() -> request.beginPost(null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("lacks its header");
        }
    }

    @Test
    void useAfterClose_isRefused() {
        SendWorkRequest request = new SendWorkRequest(1);
        assertThat(OpenHandles.describe()).isEqualTo("SendWorkRequest: 1");
        request.close();
        request.close();
        assertThatThrownBy(() -> request.workRequestId(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this SendWorkRequest is closed");
    }

    @Test
    void listWithAClosedRequest_isRefused() {
        try (SendWorkRequest first = new SendWorkRequest(1)) {
            SendWorkRequest second = new SendWorkRequest(1);
            first.next(second);
            second.close();
            assertThatThrownBy(() -> first.beginPost(null)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void givenArena_isLeftToItsOwner() {
        try (Arena arena = Arena.ofConfined()) {
            ReceiveWorkRequest request = new ReceiveWorkRequest(arena, 1);
            MemorySegment memory = request.memory();
            request.close();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isZero();
        }
    }
}
