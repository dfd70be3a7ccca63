package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
            assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(memory.address() + 128);
            assertThat(memory.get(ValueLayout.JAVA_INT, 24)).isEqualTo(2);
            assertThat(memory.get(ValueLayout.JAVA_INT, 28)).isEqualTo(1);
            assertThat(memory.get(ValueLayout.JAVA_INT, 32)).isEqualTo(2 | 8);
            assertThat(memory.get(NETWORK_INT, 36)).isEqualTo(0x01020304);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 40)).isEqualTo(0x1000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 48)).isEqualTo(0x2000);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 144)).isEqualTo(0x4000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 152)).isEqualTo(30);
            assertThat(memory.get(ValueLayout.JAVA_INT, 156)).isEqualTo(40);
            request.next(null);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isZero();
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
            assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(memory.address() + 32);
            assertThat(memory.get(ValueLayout.JAVA_INT, 24)).isEqualTo(1);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 32)).isEqualTo(0x3000);
            assertThat(memory.get(ValueLayout.JAVA_INT, 40)).isEqualTo(10);
            assertThat(memory.get(ValueLayout.JAVA_INT, 44)).isEqualTo(20);
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
            second.set(ValueLayout.JAVA_INT, 36, 2);
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
            assertThatThrownBy(first::beginPost).isInstanceOf(IllegalStateException.class);
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
