package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;

/** Failures of the system as those of an operation. Stateless; thread-safe. */
final class Failures {
    private Failures() {}

    /**
     * The exception for an operation that failed because a system call did.
     *
     * @param function the operation's function in C
     * @param arguments the arguments that matter
     * @param cause what failed
     * @return the exception, with the error number of the system call
     */
    static VerbsException of(String function, String arguments, IOException cause) {
        int errno = cause instanceof SystemCallException call ? call.errno() : 0;
        VerbsException failure = new VerbsException(function, arguments, errno, cause.getMessage() + ".");
        failure.initCause(cause);
        return failure;
    }

    /**
     * The exception for an operation that failed because another did that it consists of.
     *
     * @param function the operation's function in C
     * @param arguments the arguments that matter
     * @param cause how the other failed
     * @return the exception, with the same error number
     */
    static VerbsException within(String function, String arguments, VerbsException cause) {
        VerbsException failure = new VerbsException(function, arguments, cause.errno(), cause.getMessage());
        failure.initCause(cause);
        return failure;
    }
}
