package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.verbs.VerbsException;

/** From what a C function returned to an error number or an exception. */
final class Status {
    private Status() {}

    /**
     * The error number of a function that returns an int. Verbs return an error number (some drivers a negative one),
     * or -1 with errno set; the connection manager always the latter. Never 0 for a failure: -1 with no errno is the
     * negative number of EPERM.
     */
    static int errno(int result, CallFrame frame) {
        if (result == 0) {
            return 0;
        }
        return result == -1 && frame.errno() != 0 ? frame.errno() : Math.abs(result);
    }

    /** Throws when such a function failed. */
    static void check(int result, CallFrame frame, ImportedFunction function, String arguments) throws VerbsException {
        check(result, frame, function.name(), arguments);
    }

    /** Throws when such a function, inline in C, failed. */
    static void check(int result, CallFrame frame, String function, String arguments) throws VerbsException {
        int errno = errno(result, frame);
        if (errno != 0) {
            throw new VerbsException(function, arguments, errno, Cures.of(function, errno));
        }
    }

    /** Throws when a function that returns a pointer failed; returns the pointer otherwise. */
    static long checkPointer(long pointer, CallFrame frame, ImportedFunction function, String arguments)
            throws VerbsException {
        if (pointer == 0) {
            int errno = frame.errno();
            throw new VerbsException(function.name(), arguments, errno, Cures.of(function.name(), errno));
        }
        return pointer;
    }
}
