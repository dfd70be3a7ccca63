package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.ResourceLimits;
import io.rdmanio.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    @AfterEach
    void clear() {
        System.clearProperty(MemoryBudget.PROPERTY);
    }

    @Test
    void property_saysHowMuch() throws VerbsException {
        System.setProperty(MemoryBudget.PROPERTY, " 4096 ");
        assertThat(MemoryBudget.ofProcess(true).limitBytes()).isEqualTo(4096);
    }

    @Test
    void propertyThatIsNoNumberOfBytes_isRefusedByName() {
        for (String bad : new String[] {"", "0", "-1", "64m", "99999999999999999999"}) {
            System.setProperty(MemoryBudget.PROPERTY, bad);
            assertThatThrownBy(() -> MemoryBudget.ofProcess(false))
                    .as(bad)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("-D" + MemoryBudget.PROPERTY + "=" + bad);
        }
    }

    @Test
    void withoutProperty_theLimitsOfTheProcessSay() throws VerbsException {
        long unpinned = MemoryBudget.ofProcess(false).limitBytes();
        assertThat(unpinned).isPositive().isLessThanOrEqualTo(ResourceLimits.availableMemoryBytes());
        long lockable = ResourceLimits.lockableMemoryBytes();
        if (lockable >= 0) {
            assertThat(MemoryBudget.ofProcess(true).limitBytes()).isEqualTo(lockable / 2);
        } else {
            assertThat(MemoryBudget.ofProcess(true).limitBytes()).isBetween(unpinned / 2, unpinned * 2);
        }
    }

    @Test
    void growth_leavesAnEighth() {
        MemoryBudget budget = new MemoryBudget(800, "a test's");
        assertThat(budget.tryGrow(700)).isTrue();
        assertThat(budget.tryGrow(1)).isFalse();
        assertThat(budget.tryRegister(100)).isTrue();
        assertThat(budget.tryRegister(1)).isFalse();
        budget.deregistered(300);
        assertThat(budget.tryGrow(200)).isTrue();
        assertThat(budget.registeredBytes()).isEqualTo(700);
    }
}
