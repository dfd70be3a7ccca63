package io.rdmanio.verbs;

/**
 * How far a device's atomic operations are atomic ({@code enum ibv_atomic_cap}, ibv_query_device(3)). An unknown C
 * value is {@code UNKNOWN}. Immutable.
 */
public enum AtomicCapability {
    /** No atomic operations ({@code IBV_ATOMIC_NONE}). */
    NONE(0, "IBV_ATOMIC_NONE"),
    /** Atomic among the operations of the device ({@code IBV_ATOMIC_HCA}). */
    DEVICE(1, "IBV_ATOMIC_HCA"),
    /** Atomic towards the processor and other devices too ({@code IBV_ATOMIC_GLOB}). */
    GLOBAL(2, "IBV_ATOMIC_GLOB"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final AtomicCapability[] VALUES = values();

    private final int value;
    private final String nativeName;

    AtomicCapability(int value, String nativeName) {
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
    public static AtomicCapability of(int value) {
        for (AtomicCapability constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
