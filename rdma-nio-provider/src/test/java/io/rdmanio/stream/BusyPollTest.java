package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When a thread looks again before it sleeps, and when it doesn't. */
class BusyPollTest {
    private static final int PROCESSORS = 4;
    private static final long BUDGET_NANOS = 1000;
    private static final long FOR_EVER = Long.MAX_VALUE;

    /** As many as the host's threads that want to run. */
    private final AtomicInteger runnable = new AtomicInteger(1);

    private final FreeProcessors processors = new FreeProcessors(PROCESSORS, runnable::get);
    private final BusyPoll poll = new BusyPoll(BUDGET_NANOS, processors);

    private boolean begins() {
        return poll.begin(System.nanoTime(), FOR_EVER);
    }

    /** How often it is not tried before it is; then it is in vain, or not. */
    private int skippedBefore(boolean found) {
        int skipped = 0;
        while (!begins()) {
            skipped++;
        }
        poll.end(found);
        return skipped;
    }

    @ParameterizedTest
    @CsvSource({"true, 100000", "TRUE, 100000", "false, 0", "False, 0", "0, 0", "7, 7000", "1000000, 1000000000"})
    void property_saysHowLongToLook(String value, long nanos) {
        assertThat(BusyPoll.budgetNanos(value)).isEqualTo(nanos);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "yes", "-1", "1000001", "50us", "1e3", "99999999999999999999"})
    void propertyThatSaysNothing_isRefused(String value) {
        assertThatThrownBy(() -> BusyPoll.budgetNanos(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("io.rdmanio.busyPoll=" + value + ":");
    }

    @Test
    void withoutABudget_nobodyLooks() {
        assertThat(new BusyPoll(0, processors).begin(System.nanoTime(), FOR_EVER))
                .isFalse();
    }

    @Test
    void looksThatFindSomething_goOnForEver() {
        for (int i = 0; i < 1000; i++) {
            assertThat(skippedBefore(true)).isZero();
        }
    }

    @Test
    void looksInVain_becomeEverRarerUntilOnePays() {
        for (int i = 0; i < 4; i++) {
            assertThat(skippedBefore(false)).isZero();
        }
        for (int skipped = 1; skipped <= 64; skipped *= 2) {
            assertThat(skippedBefore(false)).isEqualTo(skipped);
        }
        assertThat(skippedBefore(false)).as("no rarer than that").isEqualTo(64);
        assertThat(skippedBefore(true)).isEqualTo(64);
        assertThat(skippedBefore(false)).isZero();
    }

    @Test
    void look_endsWithItsBudgetOrWithTheSleepItIsFor() {
        long now = System.nanoTime();
        assertThat(poll.begin(now, FOR_EVER)).isTrue();
        while (poll.goesOn()) {
            assertThat(System.nanoTime() - now).isLessThan(TimeUnit.SECONDS.toNanos(20));
        }
        assertThat(System.nanoTime() - now).isGreaterThanOrEqualTo(BUDGET_NANOS);
        poll.end(true);

        BusyPoll patient = new BusyPoll(TimeUnit.DAYS.toNanos(1), processors);
        assertThat(patient.begin(System.nanoTime(), 10)).isTrue();
        now = System.nanoTime();
        while (patient.goesOn()) {
            assertThat(System.nanoTime() - now).isLessThan(TimeUnit.SECONDS.toNanos(20));
        }
        patient.end(true);
    }

    @Test
    void oneProcessor_isAlwaysLeftToOthers() {
        for (int i = 1; i < PROCESSORS; i++) {
            assertThat(processors.take(System.nanoTime())).isTrue();
        }
        assertThat(begins()).isFalse();
        processors.giveBack();
        assertThat(begins()).isTrue();
        assertThat(processors.take(System.nanoTime())).isFalse();
        poll.end(true);
        assertThat(processors.take(System.nanoTime())).isTrue();
        assertThat(new FreeProcessors(1, runnable::get).take(System.nanoTime())).isFalse();
    }

    @Test
    void manyThreads_neverTakeMoreThanThereAre() throws Exception {
        AtomicInteger busy = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Thread[] threads = new Thread[2 * PROCESSORS];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                for (int round = 0; round < 5000; round++) {
                    if (processors.take(System.nanoTime())) {
                        most.accumulateAndGet(busy.incrementAndGet(), Math::max);
                        busy.decrementAndGet();
                        processors.giveBack();
                    }
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(most.get()).isPositive().isLessThan(PROCESSORS);
    }

    @Test
    void crowdedHost_isLeftAloneAndLookedAtNowAndThen() {
        long now = System.nanoTime();
        runnable.set(PROCESSORS + 1);
        assertThat(take(now)).as("full for a moment").isTrue();
        assertThat(take(now + FreeProcessors.CROWDED_SAMPLE_NANOS - 1)).isTrue();
        now += FreeProcessors.CROWDED_SAMPLE_NANOS;
        assertThat(take(now)).isFalse();
        runnable.set(PROCESSORS);
        assertThat(take(now + FreeProcessors.CROWDED_SAMPLE_NANOS - 1)).isFalse();
        now += FreeProcessors.CROWDED_SAMPLE_NANOS;
        assertThat(take(now)).isTrue();
        runnable.set(PROCESSORS + 1);
        assertThat(take(now + FreeProcessors.SAMPLE_NANOS - 1)).isTrue();
        now += FreeProcessors.SAMPLE_NANOS;
        assertThat(take(now)).as("full for a moment").isTrue();
        assertThat(take(now + FreeProcessors.CROWDED_SAMPLE_NANOS)).isFalse();
    }

    private boolean take(long nanos) {
        boolean taken = processors.take(nanos);
        if (taken) {
            processors.giveBack();
        }
        return taken;
    }

    @Test
    void virtualThread_neverLooks() throws Exception {
        CompletableFuture<Boolean> virtual = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> virtual.complete(begins()));
        assertThat(virtual.get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(begins()).isTrue();
        poll.end(true);
    }
}
