package io.rdmanio.verbs;

/**
 * Whether a queue pair is ready to move to its alternate path ({@code enum ibv_mig_state}, ibv_modify_qp(3)). An unknown C value is {@code UNKNOWN}. Immutable.
 */
public enum PathMigrationState {
    /** It has moved, or there is no alternate path ({@code IBV_MIG_MIGRATED}). */
    MIGRATED(0, "IBV_MIG_MIGRATED"),
    /** It waits until the peer is ready to move too ({@code IBV_MIG_REARM}). */
    REARM(1, "IBV_MIG_REARM"),
    /** Both sides are ready to move ({@code IBV_MIG_ARMED}). */
    ARMED(2, "IBV_MIG_ARMED"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final PathMigrationState[] VALUES = values();

    private final int value;
    private final String nativeName;

    PathMigrationState(int value, String nativeName) {
        this.value = value;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
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
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static PathMigrationState of(int value) {
        for (PathMigrationState constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
