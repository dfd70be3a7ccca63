package io.rdmanio.lab.streams;

import java.util.List;

/**
 * The lines of the table, in their order. A turn takes some tens of milliseconds at least: in one of two milliseconds it is
 * measured how long two processes take that had nothing to do before to get a processor each. Stateless.
 */
final class Lines {
    private static final int KIB = 1024;
    private static final int SMALL_BYTES = 64;
    private static final Limit NO_SLOWER = Limit.atMost(1);
    private static final List<String> POLLING_OFF = List.of("-Dio.rdmanio.busyPoll=false");

    private Lines() {}

    /** All that there are. */
    static List<Line> all() {
        Limit eighth = Limit.atMost(1.0 / 8);
        Limit third = Limit.atMost(1.0 / 3);
        Limit half = Limit.atMost(1.0 / 2);
        return List.of(
                roundTrips("ping-64", false, SMALL_BYTES, 20_000, List.of(), eighth),
                roundTrips("ping-16k", false, 16 * KIB, 10_000, List.of(), third),
                roundTrips("ping-64k", false, 64 * KIB, 5_000, List.of(), half),
                roundTrips("waiting-64", true, SMALL_BYTES, 20_000, List.of(), eighth),
                roundTrips("waiting-16k", true, 16 * KIB, 10_000, List.of(), third),
                roundTrips("waiting-64k", true, 64 * KIB, 5_000, List.of(), half),
                roundTrips("nopoll-ping-64", false, SMALL_BYTES, 10_000, POLLING_OFF, NO_SLOWER),
                roundTrips("nopoll-ping-16k", false, 16 * KIB, 5_000, POLLING_OFF, NO_SLOWER),
                roundTrips("nopoll-ping-64k", false, 64 * KIB, 2_000, POLLING_OFF, NO_SLOWER),
                roundTrips("nopoll-waiting-64", true, SMALL_BYTES, 10_000, POLLING_OFF, NO_SLOWER),
                roundTrips("nopoll-waiting-16k", true, 16 * KIB, 5_000, POLLING_OFF, NO_SLOWER),
                roundTrips("nopoll-waiting-64k", true, 64 * KIB, 2_000, POLLING_OFF, NO_SLOWER),
                underLoad("load-ping-64", false),
                underLoad("load-waiting-64", true),
                stream("stream-64k", false, 64 * KIB, 5_000, 4),
                stream("stream-1k", false, KIB, 150_000, 2.5),
                stream("waiting-stream-64k", true, 64 * KIB, 5_000, 4),
                stream("waiting-stream-1k", true, KIB, 150_000, 2.5),
                connections("connections-64", 64, 250),
                connections("connections-1000", 1_000, 40),
                connecting("connect-64", 64),
                connecting("connect-1000", 1_000),
                new Line(
                        "idle-1000", open(1_000, false), "idle", 1, List.of(), Line.Conditions.IDLE, false, List.of()));
    }

    private static String open(int connections, boolean waiting) {
        return "open " + connections + (waiting ? " waiting" : " selecting");
    }

    private static String size(int bytes) {
        return bytes < KIB ? bytes + " B" : bytes / KIB + " KiB";
    }

    private static String mode(boolean waiting) {
        return waiting ? ", blocking" : ", selectors";
    }

    private static Line roundTrips(
            String name, boolean waiting, int bytes, int count, List<String> softOptions, Limit limit) {
        return new Line(
                name,
                open(1, waiting),
                "exchange " + bytes + " " + count,
                count,
                softOptions,
                Line.Conditions.QUIET,
                true,
                List.of(
                        Measure.time("round trip of " + size(bytes) + mode(waiting), limit),
                        Measure.medianRoundTrip(Limit.none()),
                        Measure.processorTime(Limit.none())));
    }

    private static Line underLoad(String name, boolean waiting) {
        int count = 300;
        return new Line(
                name,
                open(1, waiting),
                "exchange " + SMALL_BYTES + " " + count,
                count,
                List.of(),
                Line.Conditions.LOADED,
                false,
                List.of(
                        Measure.time("round trip of 64 B" + mode(waiting), Limit.none()),
                        Measure.medianRoundTrip(NO_SLOWER),
                        Measure.p99RoundTrip(NO_SLOWER)));
    }

    private static Line stream(String name, boolean waiting, int bytes, int count, double limit) {
        return new Line(
                name,
                open(1, waiting),
                "stream " + bytes + " " + count,
                count,
                List.of(),
                Line.Conditions.QUIET,
                true,
                List.of(
                        Measure.bytesPerSecond("writes of " + size(bytes) + mode(waiting), bytes, Limit.atLeast(limit)),
                        Measure.processorTime(NO_SLOWER)));
    }

    private static Line connections(String name, int connections, int roundTrips) {
        return new Line(
                name,
                open(connections, false),
                "exchange " + SMALL_BYTES + " " + roundTrips,
                connections * roundTrips,
                List.of(),
                Line.Conditions.QUIET,
                true,
                List.of(
                        Measure.operationsPerSecond("round trips of 64 B", Limit.atLeast(2)),
                        Measure.processorTime(NO_SLOWER)));
    }

    private static Line connecting(String name, int connections) {
        return new Line(
                name,
                "",
                open(connections, false),
                connections,
                List.of(),
                Line.Conditions.QUIET,
                false,
                List.of(Measure.time("connect and accept, each", NO_SLOWER), Measure.processorTime(Limit.none())));
    }
}
