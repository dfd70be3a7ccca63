package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.HandleKind;

/**
 * Counts the open native objects of this process, to find leaks: tests end with a count of zero. Stateless;
 * thread-safe. Counting is an atomic addition when an object is opened and when it is closed.
 */
public final class OpenHandles {
    private OpenHandles() {}

    /**
     * How many objects are open: everything with a close method, work requests and completion arrays included, borrowed
     * device contexts not.
     *
     * @return the count
     */
    public static long count() {
        long sum = 0;
        for (HandleKind kind : HandleKind.values()) {
            sum += kind.open();
        }
        return sum;
    }

    /**
     * What is open.
     *
     * @return such as {@code "MemoryRegion: 2, QueuePair: 1"}, or {@code "none"}
     */
    public static String describe() {
        StringBuilder text = new StringBuilder();
        for (HandleKind kind : HandleKind.values()) {
            if (kind.open() != 0) {
                text.append(text.isEmpty() ? "" : ", ")
                        .append(kind.label())
                        .append(": ")
                        .append(kind.open());
            }
        }
        return text.isEmpty() ? "none" : text.toString();
    }
}
