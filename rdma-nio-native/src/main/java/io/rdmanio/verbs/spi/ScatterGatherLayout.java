package io.rdmanio.verbs.spi;

/** {@code struct ibv_sge}: a piece of registered memory. */
public final class ScatterGatherLayout {
    /** Address of the memory. */
    public static final Field.U64 ADDRESS = new Field.U64("addr", 0);
    /** Its length in bytes. */
    public static final Field.U32 LENGTH = new Field.U32("length", 8);
    /** Its local key. */
    public static final Field.U32 LOCAL_KEY = new Field.U32("lkey", 12);
    /** The size of an entry in bytes. */
    public static final long SIZE = 16;
    /** All of it. */
    public static final Struct STRUCT = Struct.of("struct ibv_sge", SIZE, ADDRESS, LENGTH, LOCAL_KEY);

    private ScatterGatherLayout() {}
}
