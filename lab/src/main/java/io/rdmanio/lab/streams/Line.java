package io.rdmanio.lab.streams;

import java.util.List;

/**
 * A line of the table: commands, and what of their turns is compared. Immutable.
 *
 * @param name what chooses it
 * @param setUp the command that makes the connections; empty if that is what is measured
 * @param order the command that is measured
 * @param operations how many of what the figures are of each command stands for
 * @param tearDown the command behind each measured one; empty if there is none
 * @param softOptions further options of the JVMs over the software device
 * @param loaded whether each processor has other work to do meanwhile
 * @param allocationFree whether the software device's programs may allocate nothing
 * @param measures what is compared
 */
record Line(
        String name,
        String setUp,
        String order,
        int operations,
        String tearDown,
        List<String> softOptions,
        boolean loaded,
        boolean allocationFree,
        List<Measure> measures) {
    private static final int KIB = 1024;
    private static final int SMALL_BYTES = 64;

    /** All that there are, in the order of the table. */
    static List<Line> all() {
        return List.of(
                roundTrips("ping-64", false, SMALL_BYTES, 2_000, 1.0 / 8),
                roundTrips("ping-16k", false, 16 * KIB, 1_000, 1.0 / 3),
                roundTrips("ping-64k", false, 64 * KIB, 500, 1.0 / 2),
                roundTrips("waiting-64", true, SMALL_BYTES, 2_000, 1.0 / 8),
                roundTrips("waiting-16k", true, 16 * KIB, 1_000, 1.0 / 3),
                roundTrips("waiting-64k", true, 64 * KIB, 500, 1.0 / 2));
    }

    private static String open(int connections, boolean waiting) {
        return "open " + connections + (waiting ? " waiting" : " selecting");
    }

    private static String size(int bytes) {
        return bytes < KIB ? bytes + " B" : bytes / KIB + " KiB";
    }

    private static Line roundTrips(String name, boolean waiting, int bytes, int count, double limit) {
        return new Line(
                name,
                open(1, waiting),
                "exchange " + bytes + " " + count,
                count,
                "",
                List.of(),
                false,
                true,
                List.of(
                        Measure.time(
                                "round trip of " + size(bytes) + (waiting ? ", blocking" : ", selectors"),
                                Limit.atMost(limit)),
                        Measure.medianRoundTrip(Limit.none()),
                        Measure.processorTime(Limit.none())));
    }
}
