package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Compares {@link VerbsSpeed} with its twin in C. Both run at the same time and get the same short commands in turn, in
 * changing order, so that whatever else slows the machine down meets both; what counts is the median, over all turns, of
 * Java's time divided by C's, beside which stand the quartiles, and the bytes that Java allocates for 5,000
 * operations. Prints a table; ends with a failure if a limit is passed.
 */
public final class SpeedComparison {
    private static final String USAGE = "SpeedComparison -x C-PROGRAM -a ADDRESS [-q] [-l PERCENT]";
    private static final int DEFAULT_LIMIT_PERCENT = 105;
    private static final int STEADY_OPERATIONS = 5_000;
    private static final double MAX_POLL_DIFFERENCE_NANOS = 15;

    private final String program;
    private final String address;
    private final boolean quick;
    private final List<String> failures = new ArrayList<>();

    private SpeedComparison(String program, String address, boolean quick) {
        this.program = program;
        this.address = address;
        this.quick = quick;
    }

    /** A measurement: its command is given this often, and stands for so many operations. */
    private record Plan(String title, String command, int operations, int turns) {}

    /** What one side did. */
    private static final class Side {
        private final Contestant contestant;
        private final double[] nanos;
        private final long[] bytes;

        Side(Contestant contestant, int turns) {
            this.contestant = contestant;
            nanos = new double[turns];
            bytes = new long[turns];
        }

        void take(Plan plan, int turn) throws IOException {
            Contestant.Report report = contestant.obey(plan.command);
            nanos[turn] = (double) report.nanos() / plan.operations;
            bytes[turn] = report.bytes();
        }
    }

    /**
     * What Java allocates when its compilers have done their work: the least over so many turns in a row as make 5,000
     * round trips, 10,000 messages. Code that allocates for messages, however few of them, does so in all of these.
     */
    private static long steadyBytes(Plan plan, Side java) {
        int window = Math.min(plan.turns, (STEADY_OPERATIONS + plan.operations - 1) / plan.operations);
        long least = Long.MAX_VALUE;
        for (int i = 0; i + window <= plan.turns; i++) {
            least = Math.min(least, Arrays.stream(java.bytes, i, i + window).sum());
        }
        return least;
    }

    public static void main(String[] args) throws IOException {
        CommandLine line = new CommandLine(args, "x:a:ql:", USAGE);
        double limit = line.number('l', DEFAULT_LIMIT_PERCENT, 1, 10_000) / 100.0;
        SpeedComparison comparison = new SpeedComparison(line.text('x'), line.text('a'), line.has('q'));
        System.out.printf(
                "%-40s %6s %11s %11s %8s %17s %10s%n",
                "operation", "turns", "C ns", "Java ns", "Java/C", "middle half", "Java B/5k");
        comparison.poll(limit);
        comparison.events(limit);
        if (!comparison.failures.isEmpty()) {
            throw new IllegalStateException("missed: " + String.join("; ", comparison.failures));
        }
        System.out.println("KEPT all limits");
    }

    private List<String> c(String... arguments) {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(arguments));
        return command;
    }

    /** A JVM as a program in production has it, with both compilers. */
    private static List<String> java(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), VerbsSpeed.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private void poll(double limit) throws IOException {
        try (Contestant c = new Contestant(c("loop", address));
                Contestant java = new Contestant(java("loop", address))) {
            warmUp(c, java, "ping 10000", quick ? 2 : 4);
            measure(
                    c,
                    java,
                    new Plan("64 B round trip, one thread, polling", "ping 250", 250, quick ? 60 : 400),
                    limit);
            warmUp(c, java, "poll 500000", 3);
            measurePoll(c, java, new Plan("poll of an empty queue", "poll 200000", 200_000, quick ? 30 : 200));
        }
    }

    private void events(double limit) throws IOException {
        try (Contestant cServer = new Contestant(c("serve", address));
                Contestant javaServer = new Contestant(java("serve", address));
                Contestant c = new Contestant(c("connect", address, cServer.awaitPort()));
                Contestant java = new Contestant(java("connect", address, javaServer.awaitPort()))) {
            warmUp(c, java, "ping 10000", quick ? 2 : 4);
            measure(
                    c,
                    java,
                    new Plan("64 B round trip, two processes, events", "ping 150", 150, quick ? 80 : 300),
                    limit);
        }
    }

    private static void warmUp(Contestant c, Contestant java, String command, int times) throws IOException {
        c.obey(command);
        for (int i = 0; i < times; i++) {
            java.obey(command);
        }
    }

    private void measure(Contestant c, Contestant java, Plan plan, double limit) throws IOException {
        Side cSide = new Side(c, plan.turns);
        Side javaSide = new Side(java, plan.turns);
        double ratio = compare(plan, cSide, javaSide);
        if (ratio > limit) {
            failures.add(String.format(Locale.ROOT, "%s: Java/C is %.3f, more than %.2f", plan.title, ratio, limit));
        }
        checkBytes(plan, javaSide);
    }

    private void checkBytes(Plan plan, Side java) {
        long bytes = steadyBytes(plan, java);
        if (bytes != 0) {
            failures.add(plan.title + ": Java allocated " + bytes + " bytes");
        }
    }

    private void measurePoll(Contestant c, Contestant java, Plan plan) throws IOException {
        Side cSide = new Side(c, plan.turns);
        Side javaSide = new Side(java, plan.turns);
        compare(plan, cSide, javaSide);
        double[] differences = new double[plan.turns];
        Arrays.setAll(differences, i -> javaSide.nanos[i] - cSide.nanos[i]);
        double difference = quantile(differences, 0.5);
        System.out.printf(Locale.ROOT, "%-40s %30.1f%n", "  Java minus C", difference);
        if (!quick && difference > MAX_POLL_DIFFERENCE_NANOS) {
            failures.add(String.format(Locale.ROOT, "%s: Java takes %.1f ns more than C", plan.title, difference));
        }
        checkBytes(plan, javaSide);
    }

    /** Lets both take their turns, prints the row, and returns the median of the ratios. */
    private static double compare(Plan plan, Side c, Side java) throws IOException {
        double[] ratios = new double[plan.turns];
        for (int i = 0; i < plan.turns; i++) {
            Side first = i % 2 == 0 ? c : java;
            first.take(plan, i);
            (first == c ? java : c).take(plan, i);
            ratios[i] = java.nanos[i] / c.nanos[i];
        }
        System.out.printf(
                Locale.ROOT,
                "%-40s %6d %11.1f %11.1f %8.3f %8.3f ..%6.3f %10d%n",
                plan.title,
                plan.turns,
                quantile(c.nanos, 0.5),
                quantile(java.nanos, 0.5),
                quantile(ratios, 0.5),
                quantile(ratios, 0.25),
                quantile(ratios, 0.75),
                steadyBytes(plan, java));
        return quantile(ratios, 0.5);
    }

    private static double quantile(double[] values, double fraction) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) (fraction * (sorted.length - 1))];
    }
}
