package io.rdmanio.verbs.spi;

/** {@code struct ibv_recv_wr}: a receive work request. */
public final class ReceiveWorkRequestLayout {
    /** The caller's number. */
    public static final Field.U64 WORK_REQUEST_ID = new Field.U64("wr_id", 0);
    /** Address of the next request of the list, or 0. */
    public static final Field.U64 NEXT = new Field.U64("next", 8);
    /** Address of the scatter-gather entries. */
    public static final Field.U64 SGE_LIST = new Field.U64("sg_list", 16);
    /** Their number. */
    public static final Field.U32 SGE_COUNT = new Field.U32("num_sge", 24);
    /** The size of a request in bytes. */
    public static final long SIZE = 32;
    /** All of it. */
    public static final Struct STRUCT =
            Struct.of("struct ibv_recv_wr", SIZE, WORK_REQUEST_ID, NEXT, SGE_LIST, SGE_COUNT);

    private ReceiveWorkRequestLayout() {}
}
