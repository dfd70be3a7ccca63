package io.rdmanio.lab.streams;

/**
 * What one turn of a transport took. Immutable.
 *
 * @param operations how many it stands for
 * @param nanos from the client's beginning to the end of both sides
 * @param medianNanos what half of its round trips took at most; 0 if it has none
 * @param p99Nanos what 99 of 100 took at most
 * @param ranNanos how long all threads of both processes ran
 * @param allocatedBytes what the threads of both processes allocated
 */
record Turn(int operations, long nanos, long medianNanos, long p99Nanos, long ranNanos, long allocatedBytes) {
    double nanosEach() {
        return (double) nanos / operations;
    }

    double ranNanosEach() {
        return (double) ranNanos / operations;
    }

    double perSecond() {
        return 1e9 * operations / nanos;
    }
}
