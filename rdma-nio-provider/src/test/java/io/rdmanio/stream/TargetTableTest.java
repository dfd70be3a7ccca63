package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.stream.PeerParameters.BufferHalf;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import org.junit.jupiter.api.Test;

class TargetTableTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(TargetTable.LENGTH_BYTES, 8);
    private final TargetTable table = new TargetTable(memory, new BufferHalf(1000, 7, 100));

    private MemorySegment entry(int index) {
        return memory.asSlice((long) index * TargetTable.ENTRY_BYTES, TargetTable.ENTRY_BYTES);
    }

    private void offer(int index, long address, int key, int lengthBytes, boolean swap) {
        TargetTable.encodeEntry(memory, (long) index * TargetTable.ENTRY_BYTES, address, key, lengthBytes, swap);
    }

    @Test
    void advance_goesOnToTheOtherHalfWhenOneIsFull() throws ProtocolException {
        table.advance(60);
        assertThat(table.address()).isEqualTo(1060);
        assertThat(table.length()).isEqualTo(40);
        table.advance(40);
        assertThat(table.length()).as("nothing offered").isZero();

        offer(1, 2000, 8, 50, false);
        table.offered();
        assertThat(table.address()).isEqualTo(2000);
        assertThat(table.key()).isEqualTo(8);
        assertThat(table.length()).isEqualTo(50);
    }

    @Test
    void offered_withoutANewEntryChangesNothing() throws ProtocolException {
        offer(1, 2000, 8, 50, false);
        table.offered();
        table.offered();
        table.advance(100);
        table.advance(50);
        assertThat(table.length()).isZero();
    }

    @Test
    void offered_refusesWhatCannotBe() {
        offer(1, 2000, 8, -1, false);
        assertThatThrownBy(table::offered).isInstanceOf(ProtocolException.class);
    }

    @Test
    void offered_refusesToReplaceAHalfInUse() throws ProtocolException {
        offer(1, 2000, 8, 50, false);
        table.offered();
        offer(0, 3000, 9, 50, false);
        assertThatThrownBy(table::offered).isInstanceOf(ProtocolException.class).hasMessageContaining("not yet full");
    }

    @Test
    void encodeEntry_swapsForAPeerOfTheOtherByteOrder() {
        offer(0, 0x0102030405060708L, 0x0a0b0c0d, 0x00010000, false);
        offer(1, 0x0807060504030201L, 0x0d0c0b0a, 0x00000100, true);
        assertThat(entry(0).mismatch(entry(1))).isEqualTo(-1);
    }
}
