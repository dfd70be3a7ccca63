package io.rdmanio.verbs;

/** How a memory window is bound ({@code enum ibv_mw_type}, ibv_alloc_mw(3)). Immutable. */
public enum MemoryWindowType {
    /** By {@link MemoryWindow#bind}, which chooses the key ({@code IBV_MW_TYPE_1}). */
    TYPE_1(1, "IBV_MW_TYPE_1"),
    /**
     * By a work request, {@link SendWorkRequest#bindMemoryWindow}, with a key that the program chooses
     * ({@code IBV_MW_TYPE_2}).
     */
    TYPE_2(2, "IBV_MW_TYPE_2");

    private final int value;
    private final String nativeName;

    MemoryWindowType(int value, String nativeName) {
        this.value = value;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return the value
     */
    public int value() {
        return value;
    }

    /**
     * The C constant.
     *
     * @return its name
     */
    public String nativeName() {
        return nativeName;
    }
}
