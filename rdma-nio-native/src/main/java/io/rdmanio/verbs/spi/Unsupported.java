package io.rdmanio.verbs.spi;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;

/** What an engine answers that does not have an operation; the handles' methods do so unless they are implemented. */
public final class Unsupported {
    private Unsupported() {}

    /**
     * The exception for a missing operation.
     *
     * @param operation its function in C
     * @return the exception, to be thrown by the caller
     */
    public static VerbsException operation(String operation) {
        return new VerbsException(operation, "", Errno.EOPNOTSUPP, "The device does not have this operation.");
    }
}
