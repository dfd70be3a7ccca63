package io.rdmanio.stream;

import java.util.concurrent.TimeUnit;

/**
 * How long the next half of a receive buffer is to be, by how quickly the ones before were filled: four times as long as one that
 * lasted next to no time, as short as may be after one that lasted a second.
 *
 * <p>Pure accounting. Not thread-safe: guarded by the connection's lock.
 */
final class HalfLength {
    /** A half that lasts no longer than this is too short. */
    static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** One that lasts so long is longer than it need be. */
    static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int GROWTH = 4;

    private final int shortestBytes;
    private final int longestBytes;
    private int nextBytes;

    HalfLength(int shortestBytes, int longestBytes) {
        this.shortestBytes = shortestBytes;
        this.longestBytes = longestBytes;
        this.nextBytes = shortestBytes;
    }

    int shortestBytes() {
        return shortestBytes;
    }

    int longestBytes() {
        return longestBytes;
    }

    int nextBytes() {
        return nextBytes;
    }

    /**
     * The peer has filled a half.
     *
     * @param nanos since it had filled the one before
     */
    void filled(int lengthBytes, long nanos) {
        if (nanos <= QUICK_NANOS) {
            nextBytes = (int) Math.min(longestBytes, (long) lengthBytes * GROWTH);
        } else if (nanos >= SLOW_NANOS) {
            nextBytes = shortestBytes;
        } else {
            nextBytes = lengthBytes;
        }
    }
}
