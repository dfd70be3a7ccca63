package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

class MeasureTest {
    private static final Turn TURN = new Turn(1_000, 20_000_000, 18_000, 90_000, 30_000_000, 0);
    private static final Turn FASTER = new Turn(1_000, 5_000_000, 4_000, 10_000, 60_000_000, 0);

    private static void expect(Measure measure, String tcp, double ratio) {
        assertThat(measure.format().apply(measure.figure().applyAsDouble(TURN))).isEqualTo(tcp);
        assertThat(measure.compare(List.of(TURN), List.of(FASTER)).ratio()).isEqualTo(ratio, Assertions.within(1e-9));
    }

    @Test
    void figures_areThoseOfOneOperation() {
        expect(Measure.time("", Limit.none()), "20.00 us", 0.25);
        expect(Measure.processorTime(Limit.none()), "30.00 us", 2);
        expect(Measure.operationsPerSecond("", Limit.none()), "50.0 k/s", 4);
        expect(Measure.bytesPerSecond("", 1_024, Limit.none()), "51 MB/s", 4);
    }

    @Test
    void roundTrips_areComparedByTheirQuantiles() {
        expect(Measure.medianRoundTrip(Limit.none()), "18.00 us", 4.0 / 18);
        expect(Measure.p99RoundTrip(Limit.none()), "90.00 us", 1.0 / 9);
    }

    @Test
    void lines_haveNamesOfTheirOwn_andOrdersThatTheProgramKnows() {
        assertThat(Lines.all()).extracting(Line::name).doesNotHaveDuplicates();
        assertThat(Lines.all().stream()
                        .map(line -> line.order().split(" ", 2)[0])
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("exchange", "stream", "open", "idle");
    }
}
