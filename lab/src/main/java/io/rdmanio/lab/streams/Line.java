package io.rdmanio.lab.streams;

import java.util.List;

/**
 * A line of the table: commands, and what of their turns is compared. Immutable.
 *
 * @param name what chooses it
 * @param setUp the command that makes the connections; empty if that is what is measured
 * @param order the command that is measured
 * @param operations how many of what the figures are of each command stands for
 * @param softOptions further options of the JVMs over the software device
 * @param conditions what happens meanwhile
 * @param allocationFree whether the software device's programs may allocate nothing
 * @param measures what is compared
 */
record Line(
        String name,
        String setUp,
        String order,
        int operations,
        List<String> softOptions,
        Conditions conditions,
        boolean allocationFree,
        List<Measure> measures) {
    /** What else the machine does, and what the program does. */
    enum Conditions {
        /** The program works, and nothing else. */
        QUIET,
        /** The program works, and each processor has other work. */
        LOADED,
        /** The program does nothing; the command lacks how long. */
        IDLE
    }
}
