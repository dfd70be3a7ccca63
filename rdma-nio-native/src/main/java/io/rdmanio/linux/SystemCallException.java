package io.rdmanio.linux;

import java.io.IOException;

/** A system call that failed, with its error number for those who decide by it. Immutable but for the stack trace. */
public final class SystemCallException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    SystemCallException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    /**
     * What the call left in errno.
     *
     * @return a number such as {@link Errno#ECONNREFUSED}
     */
    public int errno() {
        return errno;
    }
}
