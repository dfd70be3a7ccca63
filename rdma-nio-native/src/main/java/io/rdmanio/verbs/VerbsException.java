package io.rdmanio.verbs;

import io.rdmanio.linux.Errno;
import java.io.IOException;

/**
 * A native function failed. The message names the function, the arguments that matter, the error and, where it is
 * known, the cure.
 */
public sealed class VerbsException extends IOException permits PostException {
    private static final long serialVersionUID = 1L;

    /** The C function. */
    private final String operation;

    /** The error number, or 0. */
    private final int errno;

    /**
     * Creates an exception.
     *
     * @param operation the C function that failed
     * @param arguments the arguments that matter, such as {@code "length=4096"}; may be empty
     * @param errno the error number, positive; 0 when there is none
     * @param explanation cause and cure as sentences; may be empty
     */
    public VerbsException(String operation, String arguments, int errno, String explanation) {
        super(message(operation, arguments, errno, explanation));
        this.operation = operation;
        this.errno = errno;
    }

    private static String message(String operation, String arguments, int errno, String explanation) {
        StringBuilder text = new StringBuilder(operation);
        if (!arguments.isEmpty()) {
            text.append('(').append(arguments).append(')');
        }
        if (errno != 0) {
            text.append(": ").append(Errno.describe(errno));
            text.append(" (")
                    .append(Errno.name(errno))
                    .append(", ")
                    .append(errno)
                    .append(')');
        }
        if (!explanation.isEmpty()) {
            text.append(errno == 0 ? ": " : ". ").append(explanation);
        }
        return text.toString();
    }

    /**
     * The C function that failed.
     *
     * @return its name, such as {@code ibv_reg_mr}
     */
    public String operation() {
        return operation;
    }

    /**
     * The error number.
     *
     * @return errno, positive; 0 when the failure has none (a missing library or symbol)
     */
    public int errno() {
        return errno;
    }

    /**
     * The error's C name.
     *
     * @return such as {@code ENOMEM}; empty when there is no error number
     */
    public String errorName() {
        return errno == 0 ? "" : Errno.name(errno);
    }
}
