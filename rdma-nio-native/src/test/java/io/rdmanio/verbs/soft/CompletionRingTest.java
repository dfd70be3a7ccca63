package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CompletionRingTest {
    private static final int BATCH = 40;

    private final MemorySegment memory = Arena.ofAuto().allocate(BATCH * WorkCompletionLayout.SIZE, 8);

    private static boolean push(CompletionRing ring, SendQueue sender, int id) {
        return ring.push(sender, id, id, id, id, id, id, id, id);
    }

    private int idOf(int index) {
        long base = index * WorkCompletionLayout.SIZE;
        int id = (int) WorkCompletionLayout.WORK_REQUEST_ID.get(memory, base);
        assertThat(WorkCompletionLayout.STATUS.get(memory, base)).isEqualTo(id);
        assertThat(WorkCompletionLayout.FLAGS.get(memory, base)).isEqualTo(id);
        return id;
    }

    /** However it grows and is resized while completions come and go: the same as a queue of so many. */
    @Test
    void ring_isAQueueOfItsCapacity() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int capacity = 1 + random.nextInt(100);
            CompletionRing ring = new CompletionRing(capacity, 1 + random.nextInt(4));
            Deque<Integer> expected = new ArrayDeque<>();
            for (int id = 0; id < 500; id++) {
                if (random.nextInt(100) == 0) {
                    int resized = 1 + random.nextInt(100);
                    boolean fits = expected.size() <= resized;
                    assertThat(ring.resize(resized)).as("seed %d", seed).isEqualTo(fits);
                    capacity = fits ? resized : capacity;
                }
                assertThat(ring.capacity()).isEqualTo(capacity);
                boolean fits = expected.size() < capacity;
                assertThat(push(ring, null, id)).as("seed %d", seed).isEqualTo(fits);
                if (fits) {
                    expected.add(id);
                }
                if (random.nextInt(12) == 0) {
                    int taken = ring.take(memory, 0, 1 + random.nextInt(BATCH));
                    for (int i = 0; i < taken; i++) {
                        assertThat(idOf(i)).as("seed %d", seed).isEqualTo(expected.remove());
                    }
                }
                assertThat(ring.isEmpty()).as("seed %d", seed).isEqualTo(expected.isEmpty());
            }
        }
    }

    /** A send queue gets a slot back once for each of its completions, whichever slots of the ring it was in. */
    @Test
    void slots_areGivenBackAcrossGrowth() {
        SendQueue sends = new SendQueue(8, 1, 0);
        CompletionRing ring = new CompletionRing(8, 1);
        for (int position = 0; position < 8; position++) {
            assertThat(sends.hasRoom()).isTrue();
            sends.pass();
            sends.signaled(position);
            assertThat(push(ring, sends, position)).isTrue();
        }
        assertThat(sends.hasRoom()).isFalse();
        assertThat(ring.take(memory, 0, 3)).isEqualTo(3);
        for (int position = 8; position < 11; position++) {
            assertThat(sends.hasRoom()).isTrue();
            sends.pass();
            sends.signaled(position);
            assertThat(push(ring, sends, position)).isTrue();
        }
        assertThat(sends.hasRoom()).isFalse();
    }

    /** One thread adds, so that the ring grows again and again, while another takes. */
    @Test
    void ring_growsWhileSomebodyTakes() throws InterruptedException {
        int count = 3000;
        for (int round = 0; round < 20; round++) {
            CompletionRing ring = new CompletionRing(count, 1);
            Thread pusher = Thread.startVirtualThread(() -> {
                for (int id = 0; id < count; id++) {
                    push(ring, null, id);
                }
            });
            int next = 0;
            long deadline = System.nanoTime() + 20_000_000_000L;
            while (next < count) {
                int taken = ring.take(memory, 0, BATCH);
                for (int i = 0; i < taken; i++) {
                    assertThat(idOf(i)).isEqualTo(next++);
                }
                assertThat(System.nanoTime()).isLessThan(deadline);
            }
            pusher.join();
            assertThat(ring.isEmpty()).isTrue();
        }
    }
}
