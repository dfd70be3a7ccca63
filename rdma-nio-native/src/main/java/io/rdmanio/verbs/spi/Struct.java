package io.rdmanio.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A C struct: its name, size and fields, against which the installed headers are checked. Immutable.
 *
 * @param nativeName the name in C with its keyword, such as {@code struct ibv_sge}
 * @param size what sizeof yields, in bytes
 * @param fields its fields, those that are used at least
 */
public record Struct(String nativeName, long size, List<Field> fields) {
    /**
     * Describes a struct.
     *
     * @param nativeName the name in C with its keyword
     * @param size what sizeof yields, in bytes
     * @param fields its fields
     * @return the description
     */
    public static Struct of(String nativeName, long size, Field... fields) {
        return new Struct(nativeName, size, List.of(fields));
    }

    /**
     * The memory of such a struct that C handed out.
     *
     * @param address where it lies; not null in C's sense, and valid as long as the result is used
     * @return the memory
     */
    @SuppressWarnings("restricted")
    public MemorySegment at(long address) {
        return MemorySegment.ofAddress(address).reinterpret(size);
    }
}
