package io.rdmanio.lab.streams;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.PatternSyntaxException;
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
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final int PROFILED_SECONDS = 20;

    private StreamSpeedComparison() {}

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
            if (lines.size() != 1 || lines.getFirst().conditions() != Line.Conditions.QUIET) {
                throw refused("-p takes one line (-l) that is neither idle nor of a machine under load");
            }
            profile(
                    lines.getFirst(),
                    profile.isBlank() ? List.of() : List.of(profile.strip().split(" +", -1)));
            return;
        }
        Effort effort = quick ? Effort.quick() : Effort.whole();
        Table table = new Table(quick);
        try (Teams teams = new Teams(quick)) {
            Measurement measurement = new Measurement(teams, effort, table);
            for (Line line : lines) {
                measurement.run(line);
            }
        }
        if (!table.judge()) {
            System.exit(MISSED_STATUS);
        }
    }

    private static IllegalArgumentException refused(String reason) {
        System.err.println("stream-speed: " + reason);
        System.exit(USAGE_STATUS);
        return new IllegalArgumentException(reason);
    }

    /** The lines whose names match one of the patterns, which commas separate. */
    private static List<Line> choose(String names) {
        PathMatcher matcher;
        try {
            matcher = FileSystems.getDefault().getPathMatcher("glob:{" + names + "}");
        } catch (PatternSyntaxException e) {
            throw refused(names + " is no list of patterns: " + e.getDescription());
        }
        List<Line> chosen = Lines.all().stream()
                .filter(line -> matcher.matches(Path.of(line.name())))
                .toList();
        if (chosen.isEmpty()) {
            throw refused("no line is named " + names + "; there are "
                    + Lines.all().stream().map(Line::name).collect(Collectors.joining(" ")));
        }
        return chosen;
    }

    /** Runs a line over the software device alone, for a profiler to look at. */
    private static void profile(Line line, List<String> jvmOptions) throws IOException {
        List<String> options = new ArrayList<>(line.softOptions());
        options.addAll(jvmOptions);
        try (Team soft = new Team(Transport.SOFT, options)) {
            System.out.println("server and client are processes " + soft.processIds());
            soft.setUp(line);
            for (int i = 0; i < PROFILED_SECONDS; i++) {
                List<Turn> turns = Pairs.repeat(line, soft, NANOS_PER_SECOND, 1);
                System.out.println(line.measures().stream()
                        .map(measure -> measure.title() + " " + measure.format().apply(measure.median(turns)))
                        .collect(Collectors.joining("; ")));
            }
            soft.tearDown(line);
        }
    }
}
