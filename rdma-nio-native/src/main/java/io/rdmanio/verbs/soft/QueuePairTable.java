package io.rdmanio.verbs.soft;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The queue pairs of a host by their numbers: 24 bits, unique in the process, never 0 or 1 (the special queue pairs of
 * InfiniBand), and reused only when all the others have been used since. Thread-safe.
 */
final class QueuePairTable {
    private static final int FIRST = 2;
    private static final int NUMBERS = (1 << 24) - FIRST;
    // Of the process, so that a number is not met again soon by a peer when a host is closed and another one opened.
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final Map<Integer, SoftQueuePair> queuePairs = new ConcurrentHashMap<>();

    /**
     * Gives a queue pair a number.
     *
     * @param queuePair the queue pair
     * @return its number
     */
    int add(SoftQueuePair queuePair) {
        while (true) {
            int number = FIRST + Integer.remainderUnsigned(NEXT.getAndIncrement(), NUMBERS);
            if (queuePairs.putIfAbsent(number, queuePair) == null) {
                return number;
            }
        }
    }

    /**
     * Finds a queue pair.
     *
     * @param number its number, whatever a peer says it is
     * @return the queue pair, or null
     */
    SoftQueuePair find(int number) {
        return queuePairs.get(number);
    }

    /**
     * Takes a queue pair out.
     *
     * @param number its number
     */
    void remove(int number) {
        queuePairs.remove(number);
    }
}
