package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Numbers of things. */
class SlotTableTest {
    private static final int MOST = 64;

    private final SlotTable<String> table = new SlotTable<>(MOST);

    @Test
    void add_givesEachItsOwnNumberUpToTheLimit() {
        Set<Integer> slots = new HashSet<>();
        for (int i = 0; i < MOST; i++) {
            int slot = table.add("thing " + i);
            assertThat(slots.add(slot)).isTrue();
            assertThat(slot).isBetween(0, MOST - 1);
            assertThat(table.get(slot)).isEqualTo("thing " + i);
        }
        assertThat(table.add("one too many")).isEqualTo(-1);
        assertThat(table.limit()).isEqualTo(MOST);
    }

    @Test
    void remove_makesRoomAndFindsNothingTwice() {
        for (int i = 0; i < MOST; i++) {
            int ignored = table.add("thing");
        }
        assertThat(table.remove(17)).isEqualTo("thing");
        assertThat(table.remove(17)).isNull();
        assertThat(table.get(17)).isNull();
        assertThat(table.add("another")).isEqualTo(17);
        assertThat(table.add("one too many")).isEqualTo(-1);
    }

    @Test
    void number_restsBeforeItIsUsedAgain() {
        int first = table.add("thing");
        table.remove(first);
        for (int i = 0; i < 8; i++) {
            int slot = table.add("other");
            assertThat(slot).isNotEqualTo(first);
            table.remove(slot);
        }
    }

    @Test
    void get_ofAnyNumber_isHarmless() {
        assertThat(table.get(-1)).isNull();
        assertThat(table.get(MOST)).isNull();
        assertThat(table.get(Integer.MAX_VALUE)).isNull();
        assertThat(table.get(Integer.MIN_VALUE)).isNull();
    }
}
