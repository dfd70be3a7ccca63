package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PairsTest {
    private static List<Turn> turns(int operations, long... allocated) {
        return LongStream.of(allocated)
                .mapToObj(bytes -> new Turn(operations, 1, 1, 1, 1, bytes))
                .toList();
    }

    @Test
    void steadyBytes_leavesOutWhatIsAllocatedOnce() {
        assertThat(Pairs.steadyBytes(turns(2_500, 800, 0, 0, 40, 0))).isZero();
    }

    @Test
    void steadyBytes_findsWhatIsAllocatedNowAndThen() {
        assertThat(Pairs.steadyBytes(turns(1_000, 0, 0, 24, 0, 0, 0, 24, 0, 0, 0, 24, 0, 0)))
                .isEqualTo(24);
    }

    @Test
    void steadyBytes_ofFewTurns_areThoseOfAll() {
        assertThat(Pairs.steadyBytes(turns(100, 8, 16))).isEqualTo(24);
    }
}
