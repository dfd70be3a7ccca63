package io.rdmanio.linux;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A C function that {@link Downcall} can call. Immutable and safe for use by any thread.
 *
 * @param name the function's C name, for messages
 * @param address where its code lies
 */
public record NativeFunction(String name, MemorySegment address) {
    /**
     * Checks the parts.
     *
     * @throws NullPointerException when a part is null
     */
    public NativeFunction {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(address, "address");
    }
}
