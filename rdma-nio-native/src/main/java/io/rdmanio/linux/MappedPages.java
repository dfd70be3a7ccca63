package io.rdmanio.linux;

import java.lang.foreign.Arena;

/** Pages of this process's address space (madvise(2)). Stateless and safe for use by any thread. */
public final class MappedPages {
    private static final NativeFunction MADVISE = Downcall.libc("madvise");
    static final int MADV_POPULATE_READ = 22;
    static final int MADV_POPULATE_WRITE = 23;

    // Since Linux 5.14; before that every memory passes.
    private static final boolean SUPPORTED = probe();

    private MappedPages() {}

    private static boolean probe() {
        try (Arena arena = Arena.ofConfined()) {
            long page = arena.allocate(1, MemoryFile.PAGE_BYTES).address();
            return populateErrno(page, 1, MADV_POPULATE_READ) == 0;
        }
    }

    /**
     * Makes sure that memory is there and may be read, or written too, as a device does that pins it: nobody gets a signal
     * for touching it afterwards, unless it is unmapped. Contents stay as they are. Takes time in proportion to the
     * pages that are not there yet.
     *
     * @param address where it begins
     * @param lengthBytes how long it is, at least 1
     * @param writable whether it must be writable
     * @return false when it is not mapped, not in full or not so, or there is not so much memory; true also on a kernel
     *     that can't tell
     */
    public static boolean populate(long address, long lengthBytes, boolean writable) {
        return !SUPPORTED
                || populateErrno(address, lengthBytes, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0;
    }

    private static int populateErrno(long address, long lengthBytes, int advice) {
        long begin = address & -MemoryFile.PAGE_BYTES;
        try (CallFrame frame = CallFrame.enter()) {
            while ((int) Downcall.call(MADVISE, frame, begin, address - begin + lengthBytes, advice) != 0) {
                if (frame.errno() != Errno.EINTR) {
                    return frame.errno();
                }
            }
            return 0;
        }
    }
}
