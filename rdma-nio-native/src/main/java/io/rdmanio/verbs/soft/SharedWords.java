package io.rdmanio.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Words of memory that another process reads and writes at the same time. Every access says its ordering; offsets are
 * multiples of the word's size. What is read is the peer's word only: a reader validates or masks it.
 *
 * <p>Thread safety: stateless; the methods may be called by any thread.
 */
final class SharedWords {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private SharedWords() {}

    static int get(MemorySegment memory, long offset) {
        return (int) INT.getOpaque(memory, offset);
    }

    static int getAcquire(MemorySegment memory, long offset) {
        return (int) INT.getAcquire(memory, offset);
    }

    /** Not before an atomic step that came before it. */
    static int getVolatile(MemorySegment memory, long offset) {
        return (int) INT.getVolatile(memory, offset);
    }

    static void set(MemorySegment memory, long offset, int value) {
        INT.setOpaque(memory, offset, value);
    }

    static void setRelease(MemorySegment memory, long offset, int value) {
        INT.setRelease(memory, offset, value);
    }

    static boolean compareAndSet(MemorySegment memory, long offset, int expected, int value) {
        return INT.compareAndSet(memory, offset, expected, value);
    }

    static long getLong(MemorySegment memory, long offset) {
        return (long) LONG.getOpaque(memory, offset);
    }

    static void setLong(MemorySegment memory, long offset, long value) {
        LONG.setOpaque(memory, offset, value);
    }

    static long getAndSetLong(MemorySegment memory, long offset, long value) {
        return (long) LONG.getAndSet(memory, offset, value);
    }

    static void orLong(MemorySegment memory, long offset, long bits) {
        long ignored = (long) LONG.getAndBitwiseOr(memory, offset, bits);
    }

    /**
     * An atomic of eight bytes.
     *
     * @param compare whether it compares and swaps; it adds otherwise
     * @param operand what is compared or added
     * @param swap what is put there
     * @return what was there before
     */
    static long atomic(MemorySegment memory, long offset, boolean compare, long operand, long swap) {
        return compare
                ? (long) LONG.compareAndExchange(memory, offset, operand, swap)
                : (long) LONG.getAndAdd(memory, offset, operand);
    }
}
