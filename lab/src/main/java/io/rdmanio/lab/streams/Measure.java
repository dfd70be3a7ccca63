package io.rdmanio.lab.streams;

import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * A figure of a turn that is compared. Immutable.
 *
 * @param title what it is of
 * @param figure takes it from a turn
 * @param format writes it, with its unit
 * @param limit what the software device's may be, divided by TCP's
 */
record Measure(String title, ToDoubleFunction<Turn> figure, DoubleFunction<String> format, Limit limit) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MEGA = 1e6;
    private static final double KILO = 1e3;

    static Measure time(String title, Limit limit) {
        return new Measure(title, Turn::nanosEach, Measure::duration, limit);
    }

    static Measure medianRoundTrip(Limit limit) {
        return new Measure("half of the round trips, at most", Turn::medianNanos, Measure::duration, limit);
    }

    static Measure p99RoundTrip(Limit limit) {
        return new Measure("99 of 100 round trips, at most", Turn::p99Nanos, Measure::duration, limit);
    }

    static Measure processorTime(Limit limit) {
        return new Measure("processor time of both, each", Turn::ranNanosEach, Measure::duration, limit);
    }

    static Measure operationsPerSecond(String title, Limit limit) {
        return new Measure(
                title, Turn::perSecond, value -> String.format(Locale.ROOT, "%.1f k/s", value / KILO), limit);
    }

    static Measure bytesPerSecond(String title, int bytesEach, Limit limit) {
        return new Measure(
                title,
                turn -> turn.perSecond() * bytesEach,
                value -> String.format(Locale.ROOT, "%.0f MB/s", value / MEGA),
                limit);
    }

    private static String duration(double nanos) {
        return nanos < NANOS_PER_MILLI
                ? String.format(Locale.ROOT, "%.2f us", nanos / NANOS_PER_MICRO)
                : String.format(Locale.ROOT, "%.2f ms", nanos / NANOS_PER_MILLI);
    }

    /** The median over turns of one transport. */
    double median(List<Turn> turns) {
        return compare(turns, turns).soft();
    }

    /** Compares the turns with the same index. */
    Ratios compare(List<Turn> tcp, List<Turn> soft) {
        return new Ratios(
                tcp.stream().mapToDouble(figure).toArray(),
                soft.stream().mapToDouble(figure).toArray());
    }
}
