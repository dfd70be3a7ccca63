package io.rdmanio.lab.programs;

/** Arithmetic on measurements. */
final class Percentiles {
    private Percentiles() {}

    /** The smallest of the sorted values that at least this fraction of them does not exceed; 0 if there are none. */
    static long at(long[] sorted, double fraction) {
        return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(fraction * sorted.length) - 1)];
    }

    static double mebibytesPerSecond(long bytes, long nanos) {
        return bytes / (double) (1 << 20) / (Math.max(nanos, 1) / 1e9);
    }
}
