package io.rdmanio.lab.verbs;

import io.rdmanio.lab.host.ThreadTimes;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures the software device between two processes: compares {@link SoftSpeed} with its twin in C, looks whether the
 * target of one-sided operations does anything, and at what connections cost that do nothing. Prints a table; ends with a
 * failure if a limit is passed.
 */
public final class SoftSpeedComparison {
    private static final String USAGE = "SoftSpeedComparison -x C-PROGRAM -p PROCESSOR -o OTHER-PROCESSOR [-q]";
    private static final double POLLING_LIMIT = 2.0;
    private static final double EVENTS_LIMIT = 1.3;
    private static final double STREAMING_LIMIT = 2.0;
    private static final double QUICK_FACTOR = 2.0;
    private static final int ONE_SIDED_OPERATIONS = 2_000;
    private static final int IDLE_QUEUE_PAIRS = 1_000;
    private static final int MAX_PROCESSOR = 1 << 16;
    private static final int MILLIS = 1_000_000;

    private final String program;
    private final int processor;
    private final int otherProcessor;
    private final boolean quick;
    private final List<String> failures = new ArrayList<>();

    private SoftSpeedComparison(String program, int processor, int otherProcessor, boolean quick) {
        this.program = program;
        this.processor = processor;
        this.otherProcessor = otherProcessor;
        this.quick = quick;
    }

    public static void main(String[] args) throws IOException {
        CommandLine line = new CommandLine(args, "x:p:o:q", USAGE);
        SoftSpeedComparison comparison = new SoftSpeedComparison(
                line.text('x'),
                line.number('p', 0, 0, MAX_PROCESSOR),
                line.number('o', 1, 0, MAX_PROCESSOR),
                line.has('q'));
        Turns.printHead();
        if (comparison.processor == comparison.otherProcessor) {
            System.out.println("not measured, for want of a second processor: polling, events on two, streaming");
        } else {
            comparison.twoProcessors();
        }
        comparison.oneProcessor();
        comparison.oneSided();
        comparison.idle();
        if (!comparison.failures.isEmpty()) {
            throw new IllegalStateException("missed: " + String.join("; ", comparison.failures));
        }
        System.out.println("KEPT all limits");
    }

    private Contestant c(int first, int second) throws IOException {
        return new Contestant(List.of(program, Integer.toString(first), Integer.toString(second)));
    }

    private void twoProcessors() throws IOException {
        try (Contestant c = c(processor, otherProcessor);
                SoftTeam java = new SoftTeam(processor, otherProcessor)) {
            warmUp(c, java, "ping 30000", 10);
            compare(
                    c,
                    java,
                    new Turns.Plan("64 B round trip, polling", "ping 2000", 2_000, quick ? 60 : 600),
                    POLLING_LIMIT);
            warmUp(c, java, "events 2000", 5);
            compare(
                    c,
                    java,
                    new Turns.Plan("64 B round trip, events", "events 150", 150, quick ? 60 : 400),
                    EVENTS_LIMIT);
            warmUp(c, java, "stream 5000", 5);
            compare(c, java, new Turns.Plan("64 KiB write", "stream 1000", 1_000, quick ? 60 : 400), STREAMING_LIMIT);
        }
    }

    private void oneProcessor() throws IOException {
        try (Contestant c = c(processor, processor);
                SoftTeam java = new SoftTeam(processor, processor)) {
            warmUp(c, java, "events 10000", 3);
            compare(
                    c,
                    java,
                    new Turns.Plan("64 B round trip, events, one processor", "events 300", 300, quick ? 60 : 400),
                    EVENTS_LIMIT);
        }
    }

    private static void warmUp(Team c, Team java, String command, int times) throws IOException {
        c.obey(command);
        for (int i = 0; i < times; i++) {
            java.obey(command);
        }
    }

    private void compare(Team c, Team java, Turns.Plan plan, double limit) throws IOException {
        Turns turns = Turns.take(plan, c, java);
        double ratio = quick ? turns.lowRatio() : turns.ratio();
        double allowed = quick ? limit * QUICK_FACTOR : limit;
        if (ratio > allowed) {
            failures.add(
                    String.format(Locale.ROOT, "%s: Java/C is %.3f, more than %.2f", plan.title(), ratio, allowed));
        }
        if (turns.steadyBytes() != 0) {
            failures.add(plan.title() + ": Java allocated " + turns.steadyBytes() + " bytes");
        }
    }

    /** The target's threads must not run at all while its memory is written and read. */
    private void oneSided() throws IOException {
        try (SoftTeam java = new SoftTeam(processor, otherProcessor)) {
            for (String operation : List.of("write", "read")) {
                java.obey(operation + " 100");
                settle(java);
                ProcessFigures before = ProcessFigures.of(java.server().processId());
                Team.Report report = java.obeyAlone(operation + " " + ONE_SIDED_OPERATIONS);
                ProcessFigures after = ProcessFigures.of(java.server().processId());
                long ours = after.threads().ourNanosSince(before.threads());
                System.out.printf(
                        Locale.ROOT,
                        "%-40s %d in %.1f ms, %.1f GB/s; the target's threads ran %d ns, the JVM's own among them %.2f"
                                + " ms%n",
                        "1 MiB " + operation,
                        ONE_SIDED_OPERATIONS,
                        (double) report.nanos() / MILLIS,
                        (double) ONE_SIDED_OPERATIONS * SoftSpeedEnd.LARGE_BYTES / report.nanos(),
                        ours,
                        (double) after.threads().allNanosSince(before.threads()) / MILLIS);
                require(after.threads().hasOurThread(), "the target has no thread of the device to look at");
                require(ours == 0, "1 MiB " + operation + ": the target's threads ran " + ours + " ns");
            }
        }
    }

    /** What connected queue pairs cost that do nothing. */
    private void idle() throws IOException {
        try (SoftTeam java = new SoftTeam(processor, otherProcessor)) {
            java.obey("open 50"); // classes are loaded, tables are made
            settle(java);
            long heapBefore = java.server().obey("heap 1").bytes();
            ProcessFigures before = ProcessFigures.of(java.server().processId());
            Team.Report report = java.obey("open " + IDLE_QUEUE_PAIRS);
            settle(java);
            long heap = java.server().obey("heap 1").bytes() - heapBefore;
            ProcessFigures opened = ProcessFigures.of(java.server().processId());
            System.out.printf(
                    Locale.ROOT,
                    "%-40s %d in %.1f ms; each: %d B resident, of them shared %d; %d B shared mapped; %d B of heap%n",
                    "idle queue pairs",
                    IDLE_QUEUE_PAIRS,
                    (double) report.nanos() / MILLIS,
                    each(opened.residentBytes() - before.residentBytes()),
                    each(opened.residentSharedBytes() - before.residentSharedBytes()),
                    each(opened.mappedSharedBytes() - before.mappedSharedBytes()),
                    each(heap));
            sleepMillis(quick ? 3_000 : 10_000);
            ProcessFigures after = ProcessFigures.of(java.server().processId());
            long ours = after.threads().ourNanosSince(opened.threads());
            System.out.printf(
                    Locale.ROOT,
                    "%-40s %d more descriptors, %d more mappings; in %d s of silence their threads ran %d ns%n",
                    "",
                    opened.descriptors() - before.descriptors(),
                    opened.mappings() - before.mappings(),
                    quick ? 3 : 10,
                    ours);
            require(ours == 0, "idle queue pairs: the device's threads ran " + ours + " ns");
            require(
                    opened.descriptors() - before.descriptors() < IDLE_QUEUE_PAIRS / 10,
                    "idle queue pairs: " + (opened.descriptors() - before.descriptors()) + " descriptors");
        }
    }

    private static long each(long sum) {
        return sum / IDLE_QUEUE_PAIRS;
    }

    private void require(boolean kept, String otherwise) {
        if (!kept) {
            failures.add(otherwise);
        }
    }

    /** Waits until what the last command caused is over, such as the end of a message that nobody waited for. */
    private static void settle(SoftTeam java) throws IOException {
        ThreadTimes before = ThreadTimes.of(java.server().processId());
        for (int i = 0; i < 100; i++) {
            sleepMillis(100);
            ThreadTimes now = ThreadTimes.of(java.server().processId());
            if (now.ourNanosSince(before) == 0) {
                return;
            }
            before = now;
        }
        throw new IOException("the server's threads do not come to rest");
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
