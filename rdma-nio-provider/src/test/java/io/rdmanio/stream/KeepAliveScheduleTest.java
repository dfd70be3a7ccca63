package io.rdmanio.stream;

import static io.rdmanio.stream.KeepAliveSchedule.Action.GIVE_UP;
import static io.rdmanio.stream.KeepAliveSchedule.Action.PROBE;
import static io.rdmanio.stream.KeepAliveSchedule.Action.WAIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.stream.KeepAliveSchedule.Step;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class KeepAliveScheduleTest {
    private final KeepAliveSchedule schedule = new KeepAliveSchedule(new KeepAlive(true, 10, 2, 3));

    private Step after(long silentMillis, boolean awaitsAnswer) {
        return schedule.next(TimeUnit.MILLISECONDS.toNanos(silentMillis), awaitsAnswer);
    }

    private static Step step(KeepAliveSchedule.Action action, long nextLookMillis) {
        return new Step(action, TimeUnit.MILLISECONDS.toNanos(nextLookMillis));
    }

    @Test
    void signOfLife_notLongAgo_isWaitedBehindForTheRestOfTheTime() {
        assertThat(after(0, false)).isEqualTo(step(WAIT, 10_000));
        assertThat(after(9_999, true)).isEqualTo(step(WAIT, 1));
    }

    @Test
    void silence_isProbedAndGivenUpAfterTheCount() {
        assertThat(after(10_000, false)).isEqualTo(step(PROBE, 2_000));
        assertThat(after(12_000, true)).isEqualTo(step(PROBE, 2_000));
        assertThat(after(14_000, true)).isEqualTo(step(PROBE, 2_000));
        assertThat(after(16_000, true).action()).isEqualTo(GIVE_UP);
    }

    @Test
    void answer_isTheBeginningOfANewCount() {
        after(10_000, false);
        after(12_000, true);
        after(14_000, true);
        assertThat(after(1_000, false)).isEqualTo(step(WAIT, 9_000));
        assertThat(after(10_000, false).action()).isEqualTo(PROBE);
        assertThat(after(12_000, true).action()).isEqualTo(PROBE);
        assertThat(after(14_000, true).action()).isEqualTo(PROBE);
        assertThat(after(16_000, true).action()).isEqualTo(GIVE_UP);
    }

    /** A probe that can't be posted, for nothing may be yet, is not one that goes unanswered. */
    @Test
    void silence_withoutAProbeUnderWay_isNotCounted() {
        for (int i = 0; i < 10; i++) {
            assertThat(after(10_000 + 2_000 * i, false)).isEqualTo(step(PROBE, 2_000));
        }
    }
}
