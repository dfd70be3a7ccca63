package io.rdmanio.verbs;

/**
 * How fast a sender may send ({@code enum ibv_rate}): a limit below the speed of its link. An unknown C value is
 * {@code UNKNOWN}. Immutable.
 */
public enum Rate {
    /** As fast as the link ({@code IBV_RATE_MAX}). */
    MAX(0, "IBV_RATE_MAX", -1),
    /** 2.5 Gbit/s ({@code IBV_RATE_2_5_GBPS}). */
    GBPS_2_5(2, "IBV_RATE_2_5_GBPS", 1),
    /** 5 Gbit/s ({@code IBV_RATE_5_GBPS}). */
    GBPS_5(5, "IBV_RATE_5_GBPS", 2),
    /** 10 Gbit/s ({@code IBV_RATE_10_GBPS}). */
    GBPS_10(3, "IBV_RATE_10_GBPS", 4),
    /** 20 Gbit/s ({@code IBV_RATE_20_GBPS}). */
    GBPS_20(6, "IBV_RATE_20_GBPS", 8),
    /** 30 Gbit/s ({@code IBV_RATE_30_GBPS}). */
    GBPS_30(4, "IBV_RATE_30_GBPS", 12),
    /** 40 Gbit/s ({@code IBV_RATE_40_GBPS}). */
    GBPS_40(7, "IBV_RATE_40_GBPS", 16),
    /** 60 Gbit/s ({@code IBV_RATE_60_GBPS}). */
    GBPS_60(8, "IBV_RATE_60_GBPS", 24),
    /** 80 Gbit/s ({@code IBV_RATE_80_GBPS}). */
    GBPS_80(9, "IBV_RATE_80_GBPS", 32),
    /** 120 Gbit/s ({@code IBV_RATE_120_GBPS}). */
    GBPS_120(10, "IBV_RATE_120_GBPS", 48),
    /** 14 Gbit/s ({@code IBV_RATE_14_GBPS}). */
    GBPS_14(11, "IBV_RATE_14_GBPS", -1),
    /** 56 Gbit/s ({@code IBV_RATE_56_GBPS}). */
    GBPS_56(12, "IBV_RATE_56_GBPS", -1),
    /** 112 Gbit/s ({@code IBV_RATE_112_GBPS}). */
    GBPS_112(13, "IBV_RATE_112_GBPS", -1),
    /** 168 Gbit/s ({@code IBV_RATE_168_GBPS}). */
    GBPS_168(14, "IBV_RATE_168_GBPS", -1),
    /** 25 Gbit/s ({@code IBV_RATE_25_GBPS}). */
    GBPS_25(15, "IBV_RATE_25_GBPS", -1),
    /** 100 Gbit/s ({@code IBV_RATE_100_GBPS}). */
    GBPS_100(16, "IBV_RATE_100_GBPS", -1),
    /** 200 Gbit/s ({@code IBV_RATE_200_GBPS}). */
    GBPS_200(17, "IBV_RATE_200_GBPS", -1),
    /** 300 Gbit/s ({@code IBV_RATE_300_GBPS}). */
    GBPS_300(18, "IBV_RATE_300_GBPS", -1),
    /** 28 Gbit/s ({@code IBV_RATE_28_GBPS}). */
    GBPS_28(19, "IBV_RATE_28_GBPS", 11),
    /** 50 Gbit/s ({@code IBV_RATE_50_GBPS}). */
    GBPS_50(20, "IBV_RATE_50_GBPS", 20),
    /** 400 Gbit/s ({@code IBV_RATE_400_GBPS}). */
    GBPS_400(21, "IBV_RATE_400_GBPS", 160),
    /** 600 Gbit/s ({@code IBV_RATE_600_GBPS}). */
    GBPS_600(22, "IBV_RATE_600_GBPS", 240),
    /** 800 Gbit/s ({@code IBV_RATE_800_GBPS}). */
    GBPS_800(23, "IBV_RATE_800_GBPS", 320),
    /** 1200 Gbit/s ({@code IBV_RATE_1200_GBPS}). */
    GBPS_1200(24, "IBV_RATE_1200_GBPS", 480),
    /** A value that this version does not know. */
    UNKNOWN(-1, null, -1);

    private static final Rate[] VALUES = values();

    private final int value;
    private final String nativeName;
    private final int multiple;

    Rate(int value, String nativeName, int multiple) {
        this.value = value;
        this.nativeName = nativeName;
        this.multiple = multiple;
    }

    /**
     * The C value, which an address's {@code static_rate} takes.
     *
     * @return the value; it means nothing for {@code UNKNOWN}
     */
    public int value() {
        return value;
    }

    /**
     * The C constant.
     *
     * @return its name; null for {@code UNKNOWN}
     */
    public String nativeName() {
        return nativeName;
    }

    /**
     * The rate as a multiple of 2.5 Gbit/s (ibv_rate_to_mult(3)), computed here as the library does.
     *
     * @return the multiple; -1 when the library defines none, as for MAX and 100 Gbit/s
     */
    public int multiple() {
        return multiple;
    }

    /**
     * The rate that is a multiple of 2.5 Gbit/s (mult_to_ibv_rate(3)), computed here as the library does.
     *
     * @param multiple the multiple
     * @return the rate; MAX when no rate has this multiple
     */
    public static Rate ofMultiple(int multiple) {
        for (Rate constant : VALUES) {
            if (constant.multiple == multiple && multiple > 0) {
                return constant;
            }
        }
        return MAX;
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static Rate of(int value) {
        for (Rate constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
