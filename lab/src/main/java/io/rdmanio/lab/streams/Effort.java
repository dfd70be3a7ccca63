package io.rdmanio.lab.streams;

/**
 * How much time a run takes. Immutable.
 *
 * @param warmUpNanos what each team works at least before it is measured; up to twenty times as long while that makes it faster
 * @param warmUpTurns how many turns that is at least, as far as there is time
 * @param measuredNanos what both together work while they are
 * @param leastTurns how many turns each is measured for at least
 * @param idleMillis how long nothing is done where that is measured
 */
record Effort(long warmUpNanos, int warmUpTurns, long measuredNanos, int leastTurns, int idleMillis) {
    private static final long NANOS_PER_MILLI = 1_000_000;

    static Effort whole() {
        return new Effort(1_000 * NANOS_PER_MILLI, 40, 5_000 * NANOS_PER_MILLI, 8, 10_000);
    }

    static Effort quick() {
        return new Effort(350 * NANOS_PER_MILLI, 4, 700 * NANOS_PER_MILLI, 4, 2_000);
    }
}
