package io.rdmanio.lab.streams;

import java.util.Locale;

/** What a ratio may be. Immutable. */
record Limit(Sense sense, double value) {
    /** On which side of the value a ratio is good. */
    enum Sense {
        AT_MOST("<="),
        AT_LEAST(">="),
        NONE("");

        private final String sign;

        Sense(String sign) {
            this.sign = sign;
        }
    }

    static Limit atMost(double value) {
        return new Limit(Sense.AT_MOST, value);
    }

    static Limit atLeast(double value) {
        return new Limit(Sense.AT_LEAST, value);
    }

    /** Whatever it is, it is only told. */
    static Limit none() {
        return new Limit(Sense.NONE, Double.NaN);
    }

    boolean kept(double ratio) {
        return switch (sense) {
            case AT_MOST -> ratio <= value;
            case AT_LEAST -> ratio >= value;
            case NONE -> true;
        };
    }

    @Override
    public String toString() {
        return sense == Sense.NONE ? "" : String.format(Locale.ROOT, "%s %.3f", sense.sign, value);
    }
}
