package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/**
 * What came out when a program in C and its twin in Java took short turns, in changing order, so that whatever else slows
 * the machine down meets both. What counts is the median of the ratios of neighbours. Immutable.
 */
final class Turns {
    private static final int STEADY_OPERATIONS = 5_000;

    private final double[] cNanos;
    private final double[] javaNanos;
    private final double[] ratios;
    private final long steadyBytes;

    /** A measurement: its command is given this often to each, and stands for so many operations. */
    record Plan(String title, String command, int operations, int turns) {}

    private Turns(Plan plan, Team.Report[] c, Team.Report[] java) {
        cNanos = nanos(plan, c);
        javaNanos = nanos(plan, java);
        ratios = new double[plan.turns];
        Arrays.setAll(ratios, i -> javaNanos[i] / cNanos[i]);
        steadyBytes = steadyBytes(plan, java);
    }

    static void printHead() {
        System.out.printf(
                "%-40s %6s %11s %11s %8s %17s %10s%n",
                "operation", "turns", "C ns", "Java ns", "Java/C", "middle half", "Java B/5k");
    }

    /** Lets both take their turns, and prints the row. */
    static Turns take(Plan plan, Team c, Team java) throws IOException {
        Team.Report[] ofC = new Team.Report[plan.turns];
        Team.Report[] ofJava = new Team.Report[plan.turns];
        for (int i = 0; i < plan.turns; i++) {
            if (i % 2 == 0) {
                ofC[i] = c.obey(plan.command);
            }
            ofJava[i] = java.obey(plan.command);
            if (i % 2 != 0) {
                ofC[i] = c.obey(plan.command);
            }
        }
        Turns turns = new Turns(plan, ofC, ofJava);
        turns.print(plan);
        return turns;
    }

    /** The median of Java's time divided by C's. */
    double ratio() {
        return quantile(ratios, 0.5);
    }

    /** The lower quartile of the same, which a machine that has other things to do does not change as much. */
    double lowRatio() {
        return quantile(ratios, 0.25);
    }

    /** The median of what Java takes longer than C. */
    double differenceNanos() {
        double[] differences = new double[cNanos.length];
        Arrays.setAll(differences, i -> javaNanos[i] - cNanos[i]);
        return quantile(differences, 0.5);
    }

    /**
     * What Java allocates when its compilers have done their work: the least over so many turns in a row as make 5,000
     * operations. Code that allocates for messages, however few of them, does so in all of these.
     */
    long steadyBytes() {
        return steadyBytes;
    }

    private static long steadyBytes(Plan plan, Team.Report[] java) {
        int window = Math.min(plan.turns, (STEADY_OPERATIONS + plan.operations - 1) / plan.operations);
        long least = Long.MAX_VALUE;
        for (int i = 0; i + window <= plan.turns; i++) {
            least = Math.min(
                    least,
                    Arrays.stream(java, i, i + window)
                            .mapToLong(Team.Report::bytes)
                            .sum());
        }
        return least;
    }

    private static double[] nanos(Plan plan, Team.Report[] reports) {
        return Arrays.stream(reports)
                .mapToDouble(report -> (double) report.nanos() / plan.operations)
                .toArray();
    }

    private void print(Plan plan) {
        System.out.printf(
                Locale.ROOT,
                "%-40s %6d %11.1f %11.1f %8.3f %8.3f ..%6.3f %10d%n",
                plan.title,
                plan.turns,
                quantile(cNanos, 0.5),
                quantile(javaNanos, 0.5),
                ratio(),
                quantile(ratios, 0.25),
                quantile(ratios, 0.75),
                steadyBytes);
    }

    private static double quantile(double[] values, double fraction) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) (fraction * (sorted.length - 1))];
    }
}
