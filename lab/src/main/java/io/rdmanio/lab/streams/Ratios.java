package io.rdmanio.lab.streams;

import java.util.Arrays;

/** A figure of both transports, and how they compare: the ratios of the pairs of neighbouring turns. Immutable. */
final class Ratios {
    private final double[] tcp;
    private final double[] soft;
    private final double[] ratios;

    /** The figures of turns, as many of one as of the other, those with the same index taken one after the other. */
    Ratios(double[] tcp, double[] soft) {
        if (tcp.length != soft.length || tcp.length == 0) {
            throw new IllegalArgumentException("no pairs: " + tcp.length + " and " + soft.length + " turns");
        }
        double[] quotients = new double[tcp.length];
        Arrays.setAll(quotients, i -> soft[i] / tcp[i]);
        this.tcp = sorted(tcp);
        this.soft = sorted(soft);
        ratios = sorted(quotients);
    }

    private static double[] sorted(double[] values) {
        double[] copy = values.clone();
        Arrays.sort(copy);
        return copy;
    }

    int pairs() {
        return ratios.length;
    }

    double tcp() {
        return quantile(tcp, 0.5);
    }

    double soft() {
        return quantile(soft, 0.5);
    }

    /** The median of the software device's figure divided by TCP's. */
    double ratio() {
        return quantile(ratios, 0.5);
    }

    double lowQuartile() {
        return quantile(ratios, 0.25);
    }

    double highQuartile() {
        return quantile(ratios, 0.75);
    }

    /** Between the two nearest values, as is usual. */
    private static double quantile(double[] sorted, double fraction) {
        double at = fraction * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }
}
