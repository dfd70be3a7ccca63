package io.rdmanio.verbs.spi;

/** {@code struct ibv_wc}: a work completion. */
public final class WorkCompletionLayout {
    /** The number that the work request carried. */
    public static final Field.U64 WORK_REQUEST_ID = new Field.U64("wr_id", 0);
    /** How it ended. */
    public static final Field.U32 STATUS = new Field.U32("status", 8);
    /** What it was. */
    public static final Field.U32 OPCODE = new Field.U32("opcode", 12);
    /** The vendor's own error code. */
    public static final Field.U32 VENDOR_ERROR = new Field.U32("vendor_err", 16);
    /** How many bytes were transferred. */
    public static final Field.U32 LENGTH = new Field.U32("byte_len", 20);
    /** Immediate data. */
    public static final Field.Net32 IMMEDIATE_DATA = new Field.Net32("imm_data", 24);
    /** The key that was invalidated, in the place of immediate data. */
    public static final Field.U32 INVALIDATED_KEY = new Field.U32("invalidated_rkey", 24);
    /** The local queue pair. */
    public static final Field.U32 QUEUE_PAIR_NUMBER = new Field.U32("qp_num", 28);
    /** The peer's queue pair, of a datagram. */
    public static final Field.U32 SOURCE_QUEUE_PAIR = new Field.U32("src_qp", 32);
    /** Flags. */
    public static final Field.U32 FLAGS = new Field.U32("wc_flags", 36);
    /** Index of the partition key. */
    public static final Field.U16 PARTITION_KEY_INDEX = new Field.U16("pkey_index", 40);
    /** Source LID. */
    public static final Field.U16 SOURCE_LOCAL_ID = new Field.U16("slid", 42);
    /** Service level. */
    public static final Field.U8 SERVICE_LEVEL = new Field.U8("sl", 44);
    /** Destination LID's path bits. */
    public static final Field.U8 DESTINATION_PATH_BITS = new Field.U8("dlid_path_bits", 45);
    /** The size of a completion in bytes. */
    public static final long SIZE = 48;
    /** All of it. */
    public static final Struct STRUCT = Struct.of(
            "struct ibv_wc",
            SIZE,
            WORK_REQUEST_ID,
            STATUS,
            OPCODE,
            VENDOR_ERROR,
            LENGTH,
            IMMEDIATE_DATA,
            INVALIDATED_KEY,
            QUEUE_PAIR_NUMBER,
            SOURCE_QUEUE_PAIR,
            FLAGS,
            PARTITION_KEY_INDEX,
            SOURCE_LOCAL_ID,
            SERVICE_LEVEL,
            DESTINATION_PATH_BITS);

    private WorkCompletionLayout() {}
}
