package io.rdmanio.lab.streams;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The turns that the two transports took on a line, in pairs of neighbours. Immutable. */
final class Pairs {
    static final int STEADY_OPERATIONS = 5_000;

    private final List<Turn> tcp;
    private final List<Turn> soft;

    private Pairs(List<Turn> tcp, List<Turn> soft) {
        this.tcp = List.copyOf(tcp);
        this.soft = List.copyOf(soft);
    }

    /**
     * Has both teams take turns in changing order (A B B A), so that whatever else slows the machine down meets both.
     *
     * @param nanos how long at least
     * @param least how many pairs at least
     */
    static Pairs take(Line line, Team tcp, Team soft, long nanos, int least) throws IOException {
        List<Turn> ofTcp = new ArrayList<>();
        List<Turn> ofSoft = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < least || System.nanoTime() - began < nanos; i++) {
            if (i % 2 == 0) {
                ofTcp.add(takeTurn(line, tcp));
            }
            ofSoft.add(takeTurn(line, soft));
            if (i % 2 != 0) {
                ofTcp.add(takeTurn(line, tcp));
            }
        }
        return new Pairs(ofTcp, ofSoft);
    }

    /** Has one team take turns for so long and so often at least. */
    static List<Turn> repeat(Line line, Team team, long nanos, int least) throws IOException {
        List<Turn> turns = new ArrayList<>();
        long began = System.nanoTime();
        while (turns.size() < least || System.nanoTime() - began < nanos) {
            turns.add(takeTurn(line, team));
        }
        return turns;
    }

    /** What is measured of a line. What is measured without connections has made some. */
    private static Turn takeTurn(Line line, Team team) throws IOException {
        Turn turn = team.obey(line.order(), line.operations());
        if (line.setUp().isEmpty()) {
            team.closeConnections();
        }
        return turn;
    }

    Ratios compare(Measure measure) {
        return measure.compare(tcp, soft);
    }

    long tcpSteadyBytes() {
        return steadyBytes(tcp);
    }

    /**
     * What the software device's processes allocate when the compilers have done their work: the least over so many turns in
     * a row as make 5,000 operations. Code that allocates for messages, however few of them, does so in all of these.
     */
    long softSteadyBytes() {
        return steadyBytes(soft);
    }

    static long steadyBytes(List<Turn> turns) {
        int operations = turns.getFirst().operations();
        int window = Math.min(turns.size(), (STEADY_OPERATIONS + operations - 1) / operations);
        long least = Long.MAX_VALUE;
        for (int i = 0; i + window <= turns.size(); i++) {
            least = Math.min(
                    least,
                    turns.subList(i, i + window).stream()
                            .mapToLong(Turn::allocatedBytes)
                            .sum());
        }
        return least;
    }
}
