package io.rdmanio.verbs.spi;

/** {@code struct ibv_send_wr}: a send work request. */
public final class SendWorkRequestLayout {
    /** The caller's number. */
    public static final Field.U64 WORK_REQUEST_ID = new Field.U64("wr_id", 0);
    /** Address of the next request of the list, or 0. */
    public static final Field.U64 NEXT = new Field.U64("next", 8);
    /** Address of the scatter-gather entries. */
    public static final Field.U64 SGE_LIST = new Field.U64("sg_list", 16);
    /** Their number. */
    public static final Field.U32 SGE_COUNT = new Field.U32("num_sge", 24);
    /** The operation. */
    public static final Field.U32 OPCODE = new Field.U32("opcode", 28);
    /** Its flags. */
    public static final Field.U32 FLAGS = new Field.U32("send_flags", 32);
    /** Immediate data. */
    public static final Field.Net32 IMMEDIATE_DATA = new Field.Net32("imm_data", 36);
    /** The key to invalidate, in the place of immediate data. */
    public static final Field.U32 INVALIDATE_KEY = new Field.U32("invalidate_rkey", 36);
    /** Where to write to or read from in the peer. */
    public static final Field.U64 REMOTE_ADDRESS = new Field.U64("wr.rdma.remote_addr", 40);
    /** The peer's key. */
    public static final Field.U32 REMOTE_KEY = new Field.U32("wr.rdma.rkey", 48);
    /** The memory window to bind, by its reference. */
    public static final Field.U64 BIND_WINDOW = new Field.U64("bind_mw.mw", 80);
    /** The key it gets. */
    public static final Field.U32 BIND_KEY = new Field.U32("bind_mw.rkey", 88);
    /** The region it is bound to, by its reference. */
    public static final Field.U64 BIND_REGION = new Field.U64("bind_mw.bind_info.mr", 96);
    /** Where the window begins. */
    public static final Field.U64 BIND_ADDRESS = new Field.U64("bind_mw.bind_info.addr", 104);
    /** How long it is. */
    public static final Field.U64 BIND_LENGTH = new Field.U64("bind_mw.bind_info.length", 112);
    /** What peers may do with it. */
    public static final Field.U32 BIND_ACCESS = new Field.U32("bind_mw.bind_info.mw_access_flags", 120);
    /** The size of a request in bytes. */
    public static final long SIZE = 128;
    /** All that is used of it. */
    public static final Struct STRUCT = Struct.of(
            "struct ibv_send_wr",
            SIZE,
            WORK_REQUEST_ID,
            NEXT,
            SGE_LIST,
            SGE_COUNT,
            OPCODE,
            FLAGS,
            IMMEDIATE_DATA,
            INVALIDATE_KEY,
            REMOTE_ADDRESS,
            REMOTE_KEY,
            BIND_WINDOW,
            BIND_KEY,
            BIND_REGION,
            BIND_ADDRESS,
            BIND_LENGTH,
            BIND_ACCESS);

    private SendWorkRequestLayout() {}
}
