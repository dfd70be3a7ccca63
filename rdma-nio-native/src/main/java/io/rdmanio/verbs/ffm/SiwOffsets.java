package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the one offset out of use that siw, Linux's software iWARP device, can't use. Its queues are mapped from the descriptor
 * of the context; the kernel gives each the lowest range of offsets that is free, and the library takes the offset 0x90000 for
 * the kernel's word that there is no memory (SIW_INVAL_UOBJ_KEY of rdma/siw-abi.h, which the kernel has not held to be special
 * since it gives out offsets so). The queue whose memory begins there can't be made, nor any after it, as the range is free
 * again: a process has some thirty connections, and then no more, without an error number. A range that begins before that
 * offset and ends behind it does no harm; a small completion queue is made to take one, and stays.
 */
final class SiwOffsets {
    private static final int VENDOR_ID = 0x626d74;
    private static final long UNUSABLE_OFFSET = 0x90000;
    // A completion queue's memory: an entry each (struct siw_cqe), and struct siw_cq_ctrl.
    private static final long BYTES_PER_ENTRY = 32;
    private static final long CONTROL_BYTES = 8;

    private SiwOffsets() {}

    /** Whether the device of the context is one of siw's. Makes a system call. */
    static boolean concern(FfmContext context) throws VerbsException {
        return context.queryDevice().vendorId() == VENDOR_ID;
    }

    /**
     * Takes the range, in a context without a queue.
     *
     * @return who has it
     */
    static FfmCompletionQueue take(FfmContext context) throws VerbsException {
        long pageBytes = MemoryFile.pageBytes();
        long pagesBelow = UNUSABLE_OFFSET / pageBytes;
        List<FfmCompletionQueue> below = new ArrayList<>();
        try {
            while (pagesBelow > 1) {
                int entries = 1;
                while (pages(2 * entries, pageBytes) < pagesBelow) {
                    entries *= 2;
                }
                below.add(context.newCompletionQueue(entries));
                pagesBelow -= pages(entries, pageBytes);
            }
            int entries = 1;
            while (pages(entries, pageBytes) <= pagesBelow) {
                entries *= 2;
            }
            return context.newCompletionQueue(entries);
        } finally {
            for (FfmCompletionQueue queue : below) {
                queue.destroy();
            }
        }
    }

    private static long pages(int entries, long pageBytes) {
        return (entries * BYTES_PER_ENTRY + CONTROL_BYTES + pageBytes - 1) / pageBytes;
    }
}
