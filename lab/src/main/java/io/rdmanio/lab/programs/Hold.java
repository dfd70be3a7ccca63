package io.rdmanio.lab.programs;

import java.io.IOException;

/** Lets somebody look at a connection before anything happens on it. */
final class Hold {
    private Hold() {}

    /** Prints {@code HELD} and waits for a line, or the end, of standard input. */
    static void awaitLine() throws IOException {
        System.out.println("HELD");
        for (int c = System.in.read(); c >= 0 && c != '\n'; c = System.in.read()) {
            // What the line says does not matter.
        }
    }
}
