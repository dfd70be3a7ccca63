package io.rdmanio.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

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
    /**
     * Where, behind the request, a failed post leaves the address of the first request that was not posted. Not part of
     * the C struct; only the first request of a list needs it.
     */
    public static final long FAILED_OFFSET = SIZE;
    /** What is allocated for a request without its scatter-gather entries, which follow. */
    public static final long ALLOCATED_BYTES = SIZE + 16;
    /** All of it. */
    public static final Struct STRUCT =
            Struct.of("struct ibv_recv_wr", SIZE, WORK_REQUEST_ID, NEXT, SGE_LIST, SGE_COUNT);

    private ReceiveWorkRequestLayout() {}

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
