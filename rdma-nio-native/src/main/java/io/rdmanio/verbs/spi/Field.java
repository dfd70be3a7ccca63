package io.rdmanio.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A field of a C struct: name, offset and size, and how it is read and written. Immutable; static final instances are
 * constants to the compiler, so an access costs what the plain memory access costs.
 */
public sealed interface Field {
    /**
     * The field's path in C.
     *
     * @return such as {@code wr.rdma.rkey}
     */
    String nativeName();

    /**
     * Where it begins.
     *
     * @return bytes from the beginning of the struct
     */
    long offset();

    /**
     * How large it is.
     *
     * @return bytes
     */
    long size();

    /**
     * One byte, unsigned.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record U8(String nativeName, long offset) implements Field {
        @Override
        public long size() {
            return 1;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value, 0 to 255
         */
        public int get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
        }

        /**
         * Reads it from an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @return the value, 0 to 255
         */
        public int get(MemorySegment structs, long base) {
            return structs.get(ValueLayout.JAVA_BYTE, base + offset) & 0xFF;
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value, of which the low byte counts
         */
        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
        }
    }

    /**
     * Two bytes, unsigned, in host order.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record U16(String nativeName, long offset) implements Field {
        @Override
        public long size() {
            return 2;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value, 0 to 65535
         */
        public int get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset) & 0xFFFF;
        }

        /**
         * Reads it from an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @return the value, 0 to 65535
         */
        public int get(MemorySegment structs, long base) {
            return structs.get(ValueLayout.JAVA_SHORT_UNALIGNED, base + offset) & 0xFFFF;
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value, of which the low half counts
         */
        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, (short) value);
        }
    }

    /**
     * Two bytes, unsigned, in network order.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record Net16(String nativeName, long offset) implements Field {
        private static final ValueLayout.OfShort LAYOUT =
                ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

        @Override
        public long size() {
            return 2;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value in host order, 0 to 65535
         */
        public int get(MemorySegment struct) {
            return struct.get(LAYOUT, offset) & 0xFFFF;
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value in host order
         */
        public void set(MemorySegment struct, int value) {
            struct.set(LAYOUT, offset, (short) value);
        }
    }

    /**
     * Four bytes in host order.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record U32(String nativeName, long offset) implements Field {
        @Override
        public long size() {
            return 4;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value
         */
        public int get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
        }

        /**
         * Reads it from an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @return the value
         */
        public int get(MemorySegment structs, long base) {
            return structs.get(ValueLayout.JAVA_INT_UNALIGNED, base + offset);
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value
         */
        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
        }

        /**
         * Writes it into an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @param value the value
         */
        public void set(MemorySegment structs, long base, int value) {
            structs.set(ValueLayout.JAVA_INT_UNALIGNED, base + offset, value);
        }
    }

    /**
     * Four bytes in network order.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record Net32(String nativeName, long offset) implements Field {
        private static final ValueLayout.OfInt LAYOUT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

        @Override
        public long size() {
            return 4;
        }

        /**
         * Reads it from an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @return the value in host order
         */
        public int get(MemorySegment structs, long base) {
            return structs.get(LAYOUT, base + offset);
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value in host order
         */
        public void set(MemorySegment struct, int value) {
            struct.set(LAYOUT, offset, value);
        }
    }

    /**
     * Eight bytes in host order: a number or a pointer.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record U64(String nativeName, long offset) implements Field {
        @Override
        public long size() {
            return 8;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value
         */
        public long get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        }

        /**
         * Reads it from an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @return the value
         */
        public long get(MemorySegment structs, long base) {
            return structs.get(ValueLayout.JAVA_LONG_UNALIGNED, base + offset);
        }

        /**
         * Writes it.
         *
         * @param struct the struct
         * @param value the value
         */
        public void set(MemorySegment struct, long value) {
            struct.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        }

        /**
         * Writes it into an array of structs.
         *
         * @param structs the array
         * @param base where the struct begins, in bytes
         * @param value the value
         */
        public void set(MemorySegment structs, long base, long value) {
            structs.set(ValueLayout.JAVA_LONG_UNALIGNED, base + offset, value);
        }
    }

    /**
     * Eight bytes in network order.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     */
    record Net64(String nativeName, long offset) implements Field {
        private static final ValueLayout.OfLong LAYOUT =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

        @Override
        public long size() {
            return 8;
        }

        /**
         * Reads it.
         *
         * @param struct the struct
         * @return the value in host order
         */
        public long get(MemorySegment struct) {
            return struct.get(LAYOUT, offset);
        }
    }

    /**
     * A run of bytes: an array, or a struct inside the struct.
     *
     * @param nativeName the path in C
     * @param offset bytes from the beginning of the struct
     * @param size bytes
     */
    record Bytes(String nativeName, long offset, long size) implements Field {
        /**
         * The bytes themselves.
         *
         * @param struct the struct
         * @return a view of them
         */
        public MemorySegment of(MemorySegment struct) {
            return struct.asSlice(offset, size);
        }
    }
}
