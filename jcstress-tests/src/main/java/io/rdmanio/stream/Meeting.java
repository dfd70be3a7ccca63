package io.rdmanio.stream;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where two actors of one state meet before they race. jcstress lines actors up once for many states; of two that take different
 * times, the quicker one would be through with all of them before the other has begun.
 */
final class Meeting {
    private static final int ACTORS = 2;
    private static final int MOST_SPINS = 200;

    private final AtomicInteger there = new AtomicInteger();

    /** Waits for the other, which runs in a thread of its own and comes soon. */
    void await() {
        there.incrementAndGet();
        while (there.get() < ACTORS) {
            Thread.onSpinWait();
        }
    }

    /** The same, and lets some time pass, up to as much as the other takes from its first look to its sleep. */
    void awaitAndLinger() {
        await();
        for (int spins = ThreadLocalRandom.current().nextInt(MOST_SPINS); spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
