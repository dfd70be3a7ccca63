package io.rdmanio.lab.streams;

import io.rdmanio.lab.host.ThreadTimes;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Locale;

/** Measures lines, each under its conditions. For one thread. */
final class Measurement {
    private static final int MOST_WARM_UPS = 20;

    /** So many times in a row it must not have become faster. */
    private static final int STEADY = 3;

    /** By less than this it is no faster. */
    private static final double STILL_FASTER = 0.9;

    /** While the JVMs' own threads run for more than this part of the time, they compile. */
    private static final double COMPILING = 0.05;

    private static final int SETTLE_MILLIS = 1_000;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Teams teams;
    private final Effort effort;
    private final Table table;

    Measurement(Teams teams, Effort effort, Table table) {
        this.teams = teams;
        this.effort = effort;
        this.table = table;
    }

    /** Measures a line and adds it to the table. One that fails is a missed one, and the others go on. */
    void run(Line line) throws IOException {
        try {
            Team tcp = teams.of(Transport.TCP, List.of());
            Team soft = teams.of(Transport.SOFT, line.softOptions());
            switch (line.conditions()) {
                case QUIET -> compare(line, tcp, soft);
                case LOADED -> compareUnderLoad(line, tcp, soft);
                case IDLE -> compareIdle(line, tcp, soft);
            }
            teams.lineEnded();
        } catch (IOException e) {
            System.out.println(line.name() + " FAILED: " + e.getMessage());
            table.miss(line, "it failed, as told above");
            abandonTeams();
        }
    }

    /** Others than those that failed are to measure the next line. How the failed ones end says nothing new. */
    private void abandonTeams() {
        try {
            teams.close();
        } catch (IOException e) {
            System.out.println("  and then " + e.getMessage());
        }
    }

    private void compare(Line line, Team tcp, Team soft) throws IOException {
        warmUp(line, tcp);
        warmUp(line, soft);
        Pairs pairs = Pairs.take(line, tcp, soft, effort.measuredNanos(), effort.leastTurns());
        for (Measure measure : line.measures()) {
            table.add(line, measure, pairs.compare(measure));
        }
        if (line.allocationFree()) {
            table.addAllocations(line, pairs.tcpSteadyBytes(), pairs.softSteadyBytes());
        }
        tcp.tearDown(line);
        soft.tearDown(line);
    }

    /**
     * Has the compilers do their work, until they have none and it gets no faster, if that comes in time. Where two threads poll on
     * two processors the compilers take seconds, and for some of them nothing gets faster.
     */
    private void warmUp(Line line, Team team) throws IOException {
        team.setUp(line);
        Measure time = Measure.time("", Limit.none());
        long deadline = System.nanoTime() + MOST_WARM_UPS * effort.warmUpNanos();
        double best = Double.MAX_VALUE;
        int steady = 0;
        int taken = 0;
        boolean compiling;
        do {
            List<ThreadTimes> before = team.threadTimes();
            long began = System.nanoTime();
            List<Turn> turns = Pairs.repeat(line, team, effort.warmUpNanos(), 1);
            List<ThreadTimes> after = team.threadTimes();
            long ofJvms = ranNanos(before, after, false) - ranNanos(before, after, true);
            compiling = ofJvms > COMPILING * (System.nanoTime() - began);
            double each = time.median(turns);
            steady = each > STILL_FASTER * best ? steady + 1 : 0;
            best = Math.min(best, each);
            taken += turns.size();
        } while ((compiling || steady < STEADY || taken < effort.warmUpTurns()) && System.nanoTime() - deadline < 0);
    }

    /** Compares both while each processor has other work, and tells how much slower each has become by it. */
    private void compareUnderLoad(Line line, Team tcp, Team soft) throws IOException {
        warmUp(line, tcp);
        warmUp(line, soft);
        Pairs quiet = Pairs.take(line, tcp, soft, effort.measuredNanos() / 2, effort.leastTurns());
        Pairs loaded;
        try (Load _ = new Load()) {
            loaded = Pairs.take(line, tcp, soft, effort.measuredNanos(), effort.leastTurns());
        }
        for (Measure measure : line.measures()) {
            Ratios under = loaded.compare(measure);
            Ratios without = quiet.compare(measure);
            table.add(line, measure, under);
            table.tell(
                    line,
                    "  times that of the quiet machine",
                    factor(under.tcp() / without.tcp()),
                    factor(under.soft() / without.soft()));
        }
        tcp.tearDown(line);
        soft.tearDown(line);
    }

    private static String factor(double value) {
        return String.format(Locale.ROOT, "x %.2f", value);
    }

    /** Looks at both at the same time, since neither should do anything. */
    private void compareIdle(Line line, Team tcp, Team soft) throws IOException {
        int millis = effort.idleMillis();
        String order = line.order() + " " + (millis + 2 * SETTLE_MILLIS);
        tcp.setUp(line);
        soft.setUp(line);
        tcp.begin(order);
        soft.begin(order);
        sleepMillis(SETTLE_MILLIS);
        List<ThreadTimes> tcpBefore = tcp.threadTimes();
        List<ThreadTimes> softBefore = soft.threadTimes();
        sleepMillis(millis);
        List<ThreadTimes> tcpAfter = tcp.threadTimes();
        List<ThreadTimes> softAfter = soft.threadTimes();
        tcp.awaitEnd(order);
        soft.awaitEnd(order);
        table.addZero(
                line,
                "ns that its threads ran in " + millis / 1_000 + " s",
                ranNanos(tcpBefore, tcpAfter, true),
                ranNanos(softBefore, softAfter, true));
        table.tell(
                line,
                "  those of the JVM among them",
                millis(ranNanos(tcpBefore, tcpAfter, false)),
                millis(ranNanos(softBefore, softAfter, false)));
        tcp.tearDown(line);
        soft.tearDown(line);
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.2f ms", nanos / NANOS_PER_MILLI);
    }

    private static long ranNanos(List<ThreadTimes> before, List<ThreadTimes> after, boolean oursOnly) {
        long sum = 0;
        for (int i = 0; i < before.size(); i++) {
            sum += oursOnly
                    ? after.get(i).ourNanosSince(before.get(i))
                    : after.get(i).allNanosSince(before.get(i));
        }
        return sum;
    }

    private static void sleepMillis(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }
}
