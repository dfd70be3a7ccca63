package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HalfLengthTest {
    private static final long QUICK = HalfLength.QUICK_NANOS;
    private static final long SLOW = HalfLength.SLOW_NANOS;

    private final HalfLength length = new HalfLength(4096, 48 << 10);

    @Test
    void nextHalf_growsWithTrafficUpToTheLongest() {
        assertThat(length.nextBytes()).isEqualTo(4096);
        length.filled(4096, QUICK);
        assertThat(length.nextBytes()).isEqualTo(16 << 10);
        length.filled(4096, 0);
        assertThat(length.nextBytes()).as("of the second of the first two").isEqualTo(16 << 10);
        length.filled(16 << 10, 0);
        assertThat(length.nextBytes()).isEqualTo(48 << 10);
        length.filled(48 << 10, 0);
        assertThat(length.nextBytes()).isEqualTo(48 << 10);
        assertThat(length.longestBytes()).isEqualTo(48 << 10);
        assertThat(length.shortestBytes()).isEqualTo(4096);
    }

    @Test
    void nextHalf_staysAsItIsInBetween() {
        length.filled(16 << 10, QUICK + 1);
        assertThat(length.nextBytes()).isEqualTo(16 << 10);
        length.filled(16 << 10, SLOW - 1);
        assertThat(length.nextBytes()).isEqualTo(16 << 10);
    }

    @Test
    void nextHalf_isShortAgainWhenTrafficIsLow() {
        length.filled(48 << 10, SLOW);
        assertThat(length.nextBytes()).isEqualTo(4096);
    }

    @Test
    void nextHalf_isNeverLongerThanTheIntegersReach() {
        HalfLength large = new HalfLength(4096, Integer.MAX_VALUE);
        large.filled(1 << 30, 0);
        assertThat(large.nextBytes()).isEqualTo(Integer.MAX_VALUE);
    }
}
