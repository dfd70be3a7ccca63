package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoundTripTimesTest {
    @Test
    void atMost_isTheLeastTimeThatSoManyKept() {
        RoundTripTimes times = new RoundTripTimes(200);
        for (int i = 200; i > 0; i--) {
            times.add(i);
        }
        assertThat(times.atMost(0.5)).isEqualTo(100);
        assertThat(times.atMost(0.99)).isEqualTo(198);
        assertThat(times.atMost(1)).isEqualTo(200);
    }

    @Test
    void atMost_countsOnlyWhatWasRecorded() {
        RoundTripTimes times = new RoundTripTimes(1_000);
        assertThat(times.atMost(0.5)).isZero();
        times.add(7);
        assertThat(times.atMost(0.5)).isEqualTo(7);
    }
}
