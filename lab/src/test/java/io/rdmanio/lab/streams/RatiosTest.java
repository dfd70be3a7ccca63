package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.assertj.core.api.Assertions;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class RatiosTest {
    private static final Offset<Double> EXACT = Assertions.within(1e-12);

    @Test
    void ratio_isTheMedianOfThePairs_notTheRatioOfTheMedians() {
        Ratios ratios = new Ratios(new double[] {10, 20, 40}, new double[] {40, 10, 10});
        assertThat(ratios.ratio()).isEqualTo(0.5, EXACT); // of 4, 0.5 and 0.25
        assertThat(ratios.tcp()).isEqualTo(20, EXACT);
        assertThat(ratios.soft()).isEqualTo(10, EXACT);
        assertThat(ratios.pairs()).isEqualTo(3);
    }

    @Test
    void quartiles_lieBetweenTheNearestPairs() {
        Ratios ratios = new Ratios(new double[] {1, 1, 1, 1}, new double[] {4, 1, 3, 2});
        assertThat(ratios.lowQuartile()).isEqualTo(1.75, EXACT);
        assertThat(ratios.ratio()).isEqualTo(2.5, EXACT);
        assertThat(ratios.highQuartile()).isEqualTo(3.25, EXACT);
    }

    @Test
    void onePair_isItsOwnMiddleHalf() {
        Ratios ratios = new Ratios(new double[] {4}, new double[] {1});
        assertThat(ratios.lowQuartile()).isEqualTo(0.25, EXACT);
        assertThat(ratios.highQuartile()).isEqualTo(0.25, EXACT);
    }

    @Test
    void turnsWithoutNeighbours_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Ratios(new double[0], new double[0]));
        assertThatIllegalArgumentException().isThrownBy(() -> new Ratios(new double[2], new double[1]));
    }

    @Test
    void limit_countsItsOwnValueAsKept() {
        assertThat(Limit.atMost(0.5).kept(0.5)).isTrue();
        assertThat(Limit.atMost(0.5).kept(0.51)).isFalse();
        assertThat(Limit.atLeast(4).kept(4)).isTrue();
        assertThat(Limit.atLeast(4).kept(3.9)).isFalse();
        assertThat(Limit.none().kept(1e9)).isTrue();
    }

    @Test
    void limit_isMissedByWhatIsNoNumber() {
        assertThat(Limit.atMost(0.5).kept(Double.NaN)).isFalse();
        assertThat(Limit.atLeast(0.5).kept(Double.NaN)).isFalse();
    }
}
