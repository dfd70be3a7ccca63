package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A function that a library exports, looked up when it is first called. One that is missing fails its own callers and
 * nobody else. Thread-safe: {@code found} is written once with an immutable value, and a race writes equal ones.
 */
final class ImportedFunction {
    private final NativeLibrary library;
    private final String name;
    private volatile NativeFunction found;

    ImportedFunction(NativeLibrary library, String name) {
        this.library = library;
        this.name = name;
    }

    String name() {
        return name;
    }

    NativeFunction get() throws VerbsException {
        NativeFunction function = found;
        if (function == null) {
            Optional<String> reason = missing();
            if (reason.isPresent()) {
                throw new VerbsException(name, "", 0, reason.get());
            }
            function = found;
        }
        return function;
    }

    /** Looks the function up. Returns a sentence with cause and cure when it is missing. */
    Optional<String> missing() {
        Optional<String> reason = library.load();
        if (reason.isPresent()) {
            return reason;
        }
        Optional<MemorySegment> address = library.find(name);
        if (address.isEmpty()) {
            return Optional.of("The library " + library.version() + " has no function " + name
                    + "; a newer rdma-core is needed for it.");
        }
        found = new NativeFunction(name, address.get());
        return Optional.empty();
    }
}
