package io.rdmanio.lab.programs;

import java.io.IOException;

/** Ends a server when whoever started it closes its standard input, or is gone. */
final class StopOnInputEnd {
    private StopOnInputEnd() {}

    /** Runs the action, in a daemon thread, once standard input has ended. */
    static void run(AutoCloseable stop) {
        Thread.ofPlatform().daemon().name("stop-on-input-end").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Only the end counts.
                }
            } catch (IOException _) {
                // No input is as good as its end.
            }
            try {
                stop.close();
            } catch (Exception e) {
                throw new IllegalStateException("the server does not stop", e);
            }
        });
    }
}
