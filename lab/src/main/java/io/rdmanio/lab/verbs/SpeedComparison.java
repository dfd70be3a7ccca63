package io.rdmanio.lab.verbs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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

    public static void main(String[] args) throws IOException {
        CommandLine line = new CommandLine(args, "x:a:ql:", USAGE);
        double limit = line.number('l', DEFAULT_LIMIT_PERCENT, 1, 10_000) / 100.0;
        SpeedComparison comparison = new SpeedComparison(line.text('x'), line.text('a'), line.has('q'));
        Turns.printHead();
        comparison.poll(limit);
        comparison.events(limit);
        if (!comparison.failures.isEmpty()) {
            throw new IllegalStateException("missed: " + String.join("; ", comparison.failures));
        }
        System.out.println("KEPT all limits");
    }

    private Contestant c(String... arguments) throws IOException {
        return new Contestant(idle(program, arguments));
    }

    /** A JVM as a program in production has it, with both compilers. */
    private static Contestant java(String... arguments) throws IOException {
        List<String> command = idle(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                VerbsSpeed.class.getName());
        command.addAll(List.of(arguments));
        return new Contestant(command);
    }

    /**
     * Runs a program when nothing else wants to (SCHED_IDLE): else the kernel's own thread that does the device's work
     * would have to wait, for milliseconds and by chance, until a process that polls has used up its time.
     */
    private static List<String> idle(String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of("chrt", "--idle", "0", program));
        command.addAll(List.of(arguments));
        return command;
    }

    private void poll(double limit) throws IOException {
        try (Contestant c = c("loop", address);
                Contestant java = java("loop", address)) {
            warmUp(c, java, "ping 10000", quick ? 2 : 4);
            measure(
                    c,
                    java,
                    new Turns.Plan("64 B round trip, one thread, polling", "ping 250", 250, quick ? 60 : 400),
                    limit);
            warmUp(c, java, "poll 500000", 3);
            measurePoll(c, java, new Turns.Plan("poll of an empty queue", "poll 200000", 200_000, quick ? 30 : 200));
        }
    }

    private void events(double limit) throws IOException {
        try (Contestant cServer = c("serve", address);
                Contestant javaServer = java("serve", address);
                Contestant c = c("connect", address, cServer.awaitPort());
                Contestant java = java("connect", address, javaServer.awaitPort())) {
            warmUp(c, java, "ping 10000", quick ? 2 : 4);
            measure(
                    c,
                    java,
                    new Turns.Plan("64 B round trip, two processes, events", "ping 150", 150, quick ? 80 : 300),
                    limit);
        }
    }

    private static void warmUp(Contestant c, Contestant java, String command, int times) throws IOException {
        c.obey(command);
        for (int i = 0; i < times; i++) {
            java.obey(command);
        }
    }

    private void measure(Contestant c, Contestant java, Turns.Plan plan, double limit) throws IOException {
        Turns turns = Turns.take(plan, c, java);
        if (turns.ratio() > limit) {
            failures.add(String.format(
                    Locale.ROOT, "%s: Java/C is %.3f, more than %.2f", plan.title(), turns.ratio(), limit));
        }
        checkBytes(plan, turns);
    }

    private void checkBytes(Turns.Plan plan, Turns turns) {
        if (turns.steadyBytes() != 0) {
            failures.add(plan.title() + ": Java allocated " + turns.steadyBytes() + " bytes");
        }
    }

    private void measurePoll(Contestant c, Contestant java, Turns.Plan plan) throws IOException {
        Turns turns = Turns.take(plan, c, java);
        double difference = turns.differenceNanos();
        System.out.printf(Locale.ROOT, "%-40s %30.1f%n", "  Java minus C", difference);
        if (!quick && difference > MAX_POLL_DIFFERENCE_NANOS) {
            failures.add(String.format(Locale.ROOT, "%s: Java takes %.1f ns more than C", plan.title(), difference));
        }
        checkBytes(plan, turns);
    }
}
