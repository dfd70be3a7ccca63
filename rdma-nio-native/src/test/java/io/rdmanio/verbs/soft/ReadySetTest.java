package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sets of queue pairs in the header of a pair of processes, and its requests for events. */
@Timeout(30)
class ReadySetTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(PairHeader.BYTES, 64);
    private final PairHeader header = new PairHeader(memory);

    private List<Integer> take() {
        List<Integer> taken = new ArrayList<>();
        header.ready().takeAll(taken::add);
        return taken;
    }

    @Test
    void takeAll_givesWhatWasOfferedOnceAndInOrder() {
        for (int slot : new int[] {16_383, 64, 0, 63, 4_096, 64}) {
            header.ready().offer(slot);
        }
        assertThat(header.ready().mayHaveAny()).isTrue();
        assertThat(take()).containsExactly(0, 63, 64, 4_096, 16_383);
        assertThat(header.ready().mayHaveAny()).isFalse();
        assertThat(take()).isEmpty();
    }

    @Test
    void sets_areApart() {
        header.work().offer(7);
        assertThat(take()).isEmpty();
        List<Integer> work = new ArrayList<>();
        header.work().takeAll(work::add);
        assertThat(work).containsExactly(7);
    }

    @Test
    void garbage_givesSlotsThatExist() {
        memory.fill((byte) 0xFF);
        assertThat(new TreeSet<>(take())).hasSize(ReadySet.SLOTS).allMatch(slot -> slot >= 0 && slot < ReadySet.SLOTS);
    }

    @Test
    void offerWork_asksForTheDoorbellOfASleeperOnce() {
        assertThat(header.offerWork(1)).isFalse();
        header.beginSleep();
        assertThat(header.offerWork(2)).isTrue();
        assertThat(header.offerWork(3)).isFalse();
        header.endSleep();
        assertThat(header.offerWork(4)).isFalse();
    }

    @Test
    void disarm_takesTheRequestOnceAndIfItSuits() {
        assertThat(header.disarm(5, true)).isEqualTo(PairHeader.NOBODY);
        header.arm(5, PairHeader.ARMED_SOLICITED, 7);
        assertThat(header.armed(5)).isEqualTo(PairHeader.ARMED_SOLICITED);
        assertThat(header.disarm(5, false)).isEqualTo(PairHeader.NOBODY);
        assertThat(header.disarm(6, true)).isEqualTo(PairHeader.NOBODY);
        assertThat(header.disarm(5, true)).isEqualTo(7);
        assertThat(header.disarm(5, true)).isEqualTo(PairHeader.NOBODY);
        header.arm(5, PairHeader.ARMED, Doorbells.MAX_DOORBELLS - 1);
        assertThat(header.disarm(5, false)).isEqualTo(Doorbells.MAX_DOORBELLS - 1);
        assertThat(header.armed(5)).isEqualTo(PairHeader.NOT_ARMED);
        header.arm(5, PairHeader.ARMED, 7);
        header.arm(5, PairHeader.NOT_ARMED, 7);
        assertThat(header.disarm(5, true)).isEqualTo(PairHeader.NOBODY);
    }

    @Test
    void offersOfManyThreads_areNotLost() throws Exception {
        int threads = 4;
        int rounds = 2_000;
        int[] seen = new int[threads];
        List<Thread> offering = new ArrayList<>();
        // Each thread offers its slot anew when the former offer has been taken.
        AtomicIntegerArray taken = new AtomicIntegerArray(threads);
        for (int i = 0; i < threads; i++) {
            int slot = i;
            offering.add(Thread.ofPlatform().start(() -> {
                for (int round = 0; round < rounds; round++) {
                    header.ready().offer(slot * 65);
                    while (taken.get(slot) == round) {
                        Thread.onSpinWait();
                    }
                }
            }));
        }
        while (Arrays.stream(seen).sum() < threads * rounds) {
            header.ready().takeAll(slot -> {
                seen[slot / 65]++;
                taken.incrementAndGet(slot / 65);
            });
        }
        for (Thread thread : offering) {
            thread.join();
        }
        assertThat(seen).containsOnly(rounds);
    }
}
