package io.rdmanio.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

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
    /** Where an atomic works in the peer; the same place as {@code wr.rdma.remote_addr}. */
    public static final Field.U64 ATOMIC_REMOTE_ADDRESS = new Field.U64("wr.atomic.remote_addr", 40);
    /** What an atomic compares with or adds. */
    public static final Field.U64 ATOMIC_COMPARE_ADD = new Field.U64("wr.atomic.compare_add", 48);
    /** What a compare-and-swap puts there. */
    public static final Field.U64 ATOMIC_SWAP = new Field.U64("wr.atomic.swap", 56);
    /** The peer's key, of an atomic. */
    public static final Field.U32 ATOMIC_REMOTE_KEY = new Field.U32("wr.atomic.rkey", 64);
    /** The address handle of a datagram. */
    public static final Field.U64 DATAGRAM_ADDRESS_HANDLE = new Field.U64("wr.ud.ah", 40);
    /** The queue pair that a datagram is for. */
    public static final Field.U32 DATAGRAM_REMOTE_NUMBER = new Field.U32("wr.ud.remote_qpn", 48);
    /** The queue key of a datagram. */
    public static final Field.U32 DATAGRAM_REMOTE_KEY = new Field.U32("wr.ud.remote_qkey", 52);
    /** The peer's shared receive queue, over XRC. */
    public static final Field.U32 XRC_REMOTE_NUMBER = new Field.U32("qp_type.xrc.remote_srqn", 72);
    /** The headers of a segmented send. */
    public static final Field.U64 SEGMENT_HEADER = new Field.U64("tso.hdr", 80);
    /** Their length. */
    public static final Field.U16 SEGMENT_HEADER_LENGTH = new Field.U16("tso.hdr_sz", 88);
    /** The most data of one segment. */
    public static final Field.U16 SEGMENT_SIZE = new Field.U16("tso.mss", 90);
    /** The size of a request in bytes. */
    public static final long SIZE = 128;
    /**
     * Where, behind the request, a failed post leaves the address of the first request that was not posted. Not part of
     * the C struct; only the first request of a list needs it.
     */
    public static final long FAILED_OFFSET = SIZE;
    /** What is allocated for a request without its scatter-gather entries, which follow. */
    public static final long ALLOCATED_BYTES = SIZE + 16;
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
            BIND_ACCESS,
            ATOMIC_REMOTE_ADDRESS,
            ATOMIC_COMPARE_ADD,
            ATOMIC_SWAP,
            ATOMIC_REMOTE_KEY,
            DATAGRAM_ADDRESS_HANDLE,
            DATAGRAM_REMOTE_NUMBER,
            DATAGRAM_REMOTE_KEY,
            XRC_REMOTE_NUMBER,
            SEGMENT_HEADER,
            SEGMENT_HEADER_LENGTH,
            SEGMENT_SIZE);

    private SendWorkRequestLayout() {}

    /**
     * Empties the place for the address of a request that was not posted.
     *
     * @param first the first request of a list
     */
    public static void clearFailed(MemorySegment first) {
        first.set(ValueLayout.JAVA_LONG, FAILED_OFFSET, 0);
    }

    /**
     * Reads the address of the request that was not posted.
     *
     * @param first the first request of a list whose post failed
     * @return the address; 0 when the driver did not tell
     */
    public static long failed(MemorySegment first) {
        return first.get(ValueLayout.JAVA_LONG, FAILED_OFFSET);
    }

    /**
     * Answers for an engine that a list was refused at its first request.
     *
     * @param first the first request of the list
     * @param errno why
     * @return errno
     */
    public static int refuse(MemorySegment first, int errno) {
        first.set(ValueLayout.JAVA_LONG, FAILED_OFFSET, first.address());
        return errno;
    }
}
