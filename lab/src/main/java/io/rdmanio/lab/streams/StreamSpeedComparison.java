package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Compares channels over the software device with the JDK's own over TCP on loopback: lets two pairs of {@link StreamSpeed}
 * take turns at the same commands, and prints a table of the medians of the pairs' ratios, with their middle half and the
 * limit of each. The exit status is 0 if all limits are kept, 1 if not, 125 if the options are wrong.
 */
public final class StreamSpeedComparison {
    private static final String USAGE = "StreamSpeedComparison [-q] [-l NAMES] [-p JVM-OPTIONS]";
    private static final int MISSED_STATUS = 1;
    private static final int USAGE_STATUS = 125;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int LEAST_PAIRS = 6;
    private static final int PROFILED_SECONDS = 20;

    private final boolean quick;
    private final List<String> missed = new ArrayList<>();

    private StreamSpeedComparison(boolean quick) {
        this.quick = quick;
    }

    public static void main(String[] args) throws IOException {
        boolean quick = false;
        String names = "*";
        String profile = null;
        for (int i = 0; i < args.length; i++) {
            boolean hasValue = i + 1 < args.length;
            if (args[i].equals("-q")) {
                quick = true;
            } else if (args[i].equals("-l") && hasValue) {
                names = args[++i];
            } else if (args[i].equals("-p") && hasValue) {
                profile = args[++i];
            } else {
                throw refused(args[i] + "; usage: " + USAGE);
            }
        }
        List<Line> lines = choose(names);
        if (profile != null) {
            if (lines.size() != 1) {
                throw refused("-p takes one line (-l), not " + lines.size());
            }
            profile(
                    lines.getFirst(),
                    profile.isBlank() ? List.of() : List.of(profile.strip().split(" +", -1)));
            return;
        }
        StreamSpeedComparison comparison = new StreamSpeedComparison(quick);
        printRow("line", "", "pairs", "TCP", "soft", "soft/TCP", "middle half", "limit", "");
        for (Line line : lines) {
            comparison.measure(line);
        }
        comparison.judge();
    }

    private static IllegalArgumentException refused(String reason) {
        System.err.println("stream-speed: " + reason);
        System.exit(USAGE_STATUS);
        return new IllegalArgumentException(reason);
    }

    /** The lines whose names match one of the patterns, which commas separate. */
    private static List<Line> choose(String names) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:{" + names + "}");
        List<Line> chosen = Line.all().stream()
                .filter(line -> matcher.matches(Path.of(line.name())))
                .toList();
        if (chosen.isEmpty()) {
            throw refused("no line is named " + names + "; there are "
                    + String.join(" ", Line.all().stream().map(Line::name).toList()));
        }
        return chosen;
    }

    private void measure(Line line) {
        try (Team tcp = new Team(Transport.TCP, List.of());
                Team soft = new Team(Transport.SOFT, line.softOptions())) {
            warmUp(line, tcp);
            warmUp(line, soft);
            report(line, Pairs.take(line, tcp, soft, (quick ? 800 : 5_000) * NANOS_PER_MILLI, LEAST_PAIRS));
        } catch (IOException e) {
            missed.add(line.name() + ": not measured, as " + e.getMessage());
            System.out.println(missed.getLast());
        }
    }

    /** Has the compilers do their work. */
    private void warmUp(Line line, Team team) throws IOException {
        if (!line.setUp().isEmpty()) {
            team.obey(line.setUp());
        }
        Pairs.repeat(line, team, (quick ? 500 : 3_000) * NANOS_PER_MILLI, LEAST_PAIRS);
    }

    private void report(Line line, Pairs pairs) {
        String name = line.name();
        for (Measure measure : line.measures()) {
            Ratios ratios = pairs.compare(measure);
            boolean kept = measure.limit().kept(judged(measure.limit(), ratios));
            printRow(
                    name,
                    measure.title(),
                    Integer.toString(ratios.pairs()),
                    measure.format().apply(ratios.tcp()),
                    measure.format().apply(ratios.soft()),
                    String.format(Locale.ROOT, "%.3f", ratios.ratio()),
                    String.format(Locale.ROOT, "%.3f .. %.3f", ratios.lowQuartile(), ratios.highQuartile()),
                    measure.limit().toString(),
                    kept ? "" : "MISSED");
            if (!kept) {
                missed.add(String.format(
                        Locale.ROOT,
                        "%s: %s is %.3f of TCP's, not %s",
                        line.name(),
                        measure.title(),
                        judged(measure.limit(), ratios),
                        measure.limit()));
            }
            name = "";
        }
        if (line.allocationFree()) {
            long bytes = pairs.softSteadyBytes();
            printRow(
                    "",
                    "bytes allocated for 5,000",
                    "",
                    Long.toString(pairs.tcpSteadyBytes()),
                    Long.toString(bytes),
                    "",
                    "",
                    "0",
                    bytes == 0 ? "" : "MISSED");
            if (bytes != 0) {
                missed.add(line.name() + ": " + bytes + " bytes allocated for 5,000");
            }
        }
    }

    /** What is held against a limit: the median, or in a quick run the better quartile, which other work disturbs less. */
    private double judged(Limit limit, Ratios ratios) {
        if (!quick) {
            return ratios.ratio();
        }
        return limit.sense() == Limit.Sense.AT_LEAST ? ratios.highQuartile() : ratios.lowQuartile();
    }

    private static void printRow(
            String line,
            String title,
            String pairs,
            String tcp,
            String soft,
            String ratio,
            String middleHalf,
            String limit,
            String verdict) {
        System.out.printf(
                "%-14s %-34s %6s %11s %11s %8s  %-16s %-8s %s%n",
                line, title, pairs, tcp, soft, ratio, middleHalf, limit, verdict);
    }

    private void judge() {
        if (missed.isEmpty()) {
            System.out.println("KEPT all limits");
            return;
        }
        System.out.println("MISSED " + missed.size() + " limits:");
        missed.forEach(miss -> System.out.println("  " + miss));
        System.exit(MISSED_STATUS);
    }

    /** Runs a line over the software device alone, for a profiler to look at. */
    private static void profile(Line line, List<String> jvmOptions) throws IOException {
        List<String> options = new ArrayList<>(line.softOptions());
        options.addAll(jvmOptions);
        try (Team soft = new Team(Transport.SOFT, options)) {
            System.out.println("server and client are processes " + soft.processIds());
            if (!line.setUp().isEmpty()) {
                soft.obey(line.setUp());
            }
            for (int i = 0; i < PROFILED_SECONDS; i++) {
                List<Turn> turns = Pairs.repeat(line, soft, 1_000 * NANOS_PER_MILLI, 1);
                System.out.println(line.measures().stream()
                        .map(measure -> measure.title() + " " + measure.format().apply(measure.median(turns)))
                        .collect(Collectors.joining("; ")));
            }
        }
    }
}
