package io.rdmanio.lab.streams;

import java.util.Arrays;

/** How long each round trip took. Recording allocates nothing. For one thread. */
final class RoundTripTimes {
    private final long[] nanos;
    private int size;

    RoundTripTimes(int capacity) {
        nanos = new long[capacity];
    }

    void add(long elapsedNanos) {
        nanos[size++] = elapsedNanos;
    }

    /** The shortest time that at least this fraction of the round trips did not exceed; 0 if there were none. */
    long atMost(double fraction) {
        Arrays.sort(nanos, 0, size);
        return size == 0 ? 0 : nanos[Math.max(0, (int) Math.ceil(fraction * size) - 1)];
    }
}
