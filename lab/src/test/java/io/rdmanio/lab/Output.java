package io.rdmanio.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/** What a process has printed so far, line by line, for threads that wait for a line. Thread-safe. */
final class Output {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // guarded by lock
    private final List<String> lines = new ArrayList<>();
    private boolean ended;
    // end of what lock guards

    Output(String name, InputStream stream) {
        Thread.ofPlatform().daemon().name("output-of-" + name).start(() -> collect(stream));
    }

    private void collect(InputStream stream) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                append(line, false);
            }
            append(null, true);
        } catch (IOException e) {
            append("(output lost: " + e + ")", true);
        }
    }

    private void append(String line, boolean last) {
        lock.lock();
        try {
            if (line != null) {
                lines.add(line);
            }
            ended |= last;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the first line that matches; empty if the output ended without one, or the time is over. */
    Optional<String> await(Predicate<String> matches, long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = unit.toNanos(timeout);
        int next = 0;
        lock.lock();
        try {
            while (true) {
                for (; next < lines.size(); next++) {
                    if (matches.test(lines.get(next))) {
                        return Optional.of(lines.get(next));
                    }
                }
                if (ended || nanos <= 0) {
                    return Optional.empty();
                }
                nanos = changed.awaitNanos(nanos);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the process, and whoever else has its output, has closed it. */
    void awaitEnd(long timeout, TimeUnit unit) throws InterruptedException {
        await(_ -> false, timeout, unit);
    }

    /** All that was printed so far. */
    String text() {
        lock.lock();
        try {
            return String.join("\n", lines);
        } finally {
            lock.unlock();
        }
    }
}
