package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Native memory that flyweights have one after the other. */
class FlyweightBlocksTest {
    private static final int MANY = 1000;

    @Test
    void blocksOfSeveral_haveNothingInCommon() {
        List<MemorySegment> blocks = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            blocks.add(FlyweightBlocks.take(1 + i * 4L).fill((byte) i));
        }
        for (int i = 0; i < MANY; i++) {
            MemorySegment block = blocks.get(i);
            assertThat(block.byteSize()).isGreaterThanOrEqualTo(1 + i * 4L);
            assertThat(block.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) i);
            assertThat(block.get(ValueLayout.JAVA_BYTE, block.byteSize() - 1)).isEqualTo((byte) i);
        }
        blocks.forEach(FlyweightBlocks::giveBack);
    }

    @Test
    void blockThatWasUsed_isZero() {
        MemorySegment block = FlyweightBlocks.take(200).fill((byte) 1);
        FlyweightBlocks.giveBack(block);
        MemorySegment again = FlyweightBlocks.take(200);
        assertThat(again.address()).isEqualTo(block.address());
        assertThat(again.get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThat(again.get(ValueLayout.JAVA_BYTE, again.byteSize() - 1)).isZero();
        FlyweightBlocks.giveBack(again);
    }

    @Test
    void longOnes_areForOthers() {
        assertThat(FlyweightBlocks.suits(4096)).isTrue();
        assertThat(FlyweightBlocks.suits(4097)).isFalse();
    }

    @Test
    void closedTwice_givesItsBlockBackOnce() {
        ReceiveWorkRequest request = new ReceiveWorkRequest(1);
        long address = request.memory().address();
        request.close();
        request.close();
        try (ReceiveWorkRequest second = new ReceiveWorkRequest(1);
                ReceiveWorkRequest third = new ReceiveWorkRequest(1)) {
            assertThat(second.memory().address()).isEqualTo(address);
            assertThat(third.memory().address()).isNotEqualTo(address);
        }
    }
}
