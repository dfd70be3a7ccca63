package io.rdmanio.lab.verbs;

import java.io.IOException;

/** Processes that do together what is measured. For one thread. */
interface Team extends AutoCloseable {
    /** What a command took: time, and bytes that Java allocated. */
    record Report(long nanos, long bytes) {}

    /** Gives a command and waits for its end. */
    Report obey(String order) throws IOException;

    @Override
    void close() throws IOException;
}
