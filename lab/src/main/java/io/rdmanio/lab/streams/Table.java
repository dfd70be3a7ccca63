package io.rdmanio.lab.streams;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What is printed, and what of it is not as it should be. For one thread. */
final class Table {
    private final boolean lenient;
    private final List<String> missed = new ArrayList<>();

    /**
     * Prints the head.
     *
     * @param lenient whether the better quartile is held against a limit instead of the median, since other work disturbs
     *     it less
     */
    Table(boolean lenient) {
        this.lenient = lenient;
        print("line", "", "pairs", "TCP", "soft", "soft/TCP", "middle half", "limit", true);
    }

    /** Prints what is compared, and holds it against its limit. */
    void add(Line line, Measure measure, Ratios ratios) {
        double judged = judged(measure.limit(), ratios);
        boolean kept = measure.limit().kept(judged);
        print(
                line.name(),
                measure.title(),
                Integer.toString(ratios.pairs()),
                measure.format().apply(ratios.tcp()),
                measure.format().apply(ratios.soft()),
                String.format(Locale.ROOT, "%.3f", ratios.ratio()),
                String.format(Locale.ROOT, "%.3f .. %.3f", ratios.lowQuartile(), ratios.highQuartile()),
                measure.limit().toString(),
                kept);
        if (!kept) {
            miss(
                    line,
                    String.format(
                            Locale.ROOT, "%s: soft/TCP is %.3f, not %s", measure.title(), judged, measure.limit()));
        }
    }

    private double judged(Limit limit, Ratios ratios) {
        if (!lenient) {
            return ratios.ratio();
        }
        return limit.sense() == Limit.Sense.AT_LEAST ? ratios.highQuartile() : ratios.lowQuartile();
    }

    /** Prints what there is no limit for. */
    void tell(Line line, String title, String tcp, String soft) {
        print(line.name(), title, "", tcp, soft, "", "", "", true);
    }

    /** Prints what must be zero over the software device, whatever it is over TCP. */
    void addZero(Line line, String title, long tcp, long soft) {
        print(line.name(), title, "", Long.toString(tcp), Long.toString(soft), "", "", "0", soft == 0);
        if (soft != 0) {
            miss(line, title + ": " + soft + ", not 0");
        }
    }

    /**
     * Prints bytes; there must be less than one for each operation, which is what timers and the JVM allocate meanwhile, once
     * there was time for the compilers, which a quick run does not take.
     */
    void addAllocations(Line line, long tcp, long soft) {
        String title = "bytes allocated for 5,000";
        if (lenient) {
            tell(line, title, Long.toString(tcp), Long.toString(soft));
            return;
        }
        boolean kept = soft < Pairs.STEADY_OPERATIONS;
        print(line.name(), title, "", Long.toString(tcp), Long.toString(soft), "", "", "< 1 each", kept);
        if (!kept) {
            miss(line, title + ": " + soft + ", a byte for each or more");
        }
    }

    /** Notes what is not as it should be. */
    void miss(Line line, String what) {
        missed.add(line.name() + ": " + what);
    }

    private static void print(
            String line,
            String title,
            String pairs,
            String tcp,
            String soft,
            String ratio,
            String middleHalf,
            String limit,
            boolean kept) {
        System.out.printf(
                "%-20s %-34s %5s %11s %11s %8s  %-16s %-8s %s%n",
                line, title, pairs, tcp, soft, ratio, middleHalf, limit, kept ? "" : "MISSED");
    }

    /** Prints what is not as it should be; returns whether there is nothing. */
    boolean judge() {
        if (missed.isEmpty()) {
            System.out.println("KEPT all limits");
            return true;
        }
        System.out.println("MISSED " + missed.size() + " limits:");
        missed.forEach(miss -> System.out.println("  " + miss));
        return false;
    }
}
