package io.rdmanio.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The one place where Java calls C. Every pointer and every integer is passed as a 64-bit value and every result is
 * read as one: the ABIs of x86-64, aarch64 and riscv64 pass integer arguments in whole registers and let the callee
 * ignore the upper half, so a function is described by its number of arguments alone. A handful of shapes serves all
 * functions; each is linked when it is first needed, and a further function costs only its symbol look-up. A caller
 * narrows the result itself: {@code (int) Downcall.call(...)}.
 *
 * <p>{@code call} saves errno in the frame. {@code callPlain} does not, for functions that return their error or whose
 * errors don't matter; it never allocates, whereas {@code call} makes an object where the compiler fails to see, for
 * the depth of the calls around it, that it is for this call alone.
 * {@code callBrief} leaves the thread in Java state for the duration: only for functions that return at once, since no
 * safepoint is reached meanwhile.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class Downcall {
    private static final Linker.Option SAVE_ERRNO = Linker.Option.captureCallState("errno");

    private Downcall() {}

    /**
     * Calls a function of no argument and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame) {
        try {
            return (long) Saved0.HANDLE.invokeExact(function.address(), frame.state());
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of one argument and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a) {
        try {
            return (long) Saved1.HANDLE.invokeExact(function.address(), frame.state(), a);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of two arguments and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a, long b) {
        try {
            return (long) Saved2.HANDLE.invokeExact(function.address(), frame.state(), a, b);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of three arguments and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a, long b, long c) {
        try {
            return (long) Saved3.HANDLE.invokeExact(function.address(), frame.state(), a, b, c);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of four arguments and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @param d argument 4
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a, long b, long c, long d) {
        try {
            return (long) Saved4.HANDLE.invokeExact(function.address(), frame.state(), a, b, c, d);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of five arguments and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @param d argument 4
     * @param e argument 5
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a, long b, long c, long d, long e) {
        try {
            return (long) Saved5.HANDLE.invokeExact(function.address(), frame.state(), a, b, c, d, e);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of six arguments and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @param d argument 4
     * @param e argument 5
     * @param f argument 6
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long call(NativeFunction function, CallFrame frame, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) Saved6.HANDLE.invokeExact(function.address(), frame.state(), a, b, c, d, e, f);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of two arguments that returns its error.
     *
     * @param function the function
     * @param a argument 1
     * @param b argument 2
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long callPlain(NativeFunction function, long a, long b) {
        try {
            return (long) Plain2.HANDLE.invokeExact(function.address(), a, b);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of three arguments that returns its error.
     *
     * @param function the function
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long callPlain(NativeFunction function, long a, long b, long c) {
        try {
            return (long) Plain3.HANDLE.invokeExact(function.address(), a, b, c);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of three arguments that returns at once.
     *
     * @param function the function
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long callBrief(NativeFunction function, long a, long b, long c) {
        try {
            return (long) Brief3.HANDLE.invokeExact(function.address(), a, b, c);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of four arguments that returns at once, and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c argument 3
     * @param d argument 4
     * @return the result; its upper half is undefined when the function returns an int, all of it when it returns void
     */
    public static long callBrief(NativeFunction function, CallFrame frame, long a, long b, long c, long d) {
        try {
            return (long) BriefSaved4.HANDLE.invokeExact(function.address(), frame.state(), a, b, c, d);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Calls a function of two fixed arguments and one variable one ({@code fcntl}), and saves errno.
     *
     * @param function the function
     * @param frame where errno is saved
     * @param a argument 1
     * @param b argument 2
     * @param c the variable argument
     * @return the result; its upper half is undefined
     */
    static long callVariadic(NativeFunction function, CallFrame frame, long a, long b, long c) {
        try {
            return (long) Variadic3.HANDLE.invokeExact(function.address(), frame.state(), a, b, c);
        } catch (Throwable failure) {
            throw unexpected(function, failure);
        }
    }

    /**
     * Finds a function of the C library.
     *
     * @param name its C name
     * @return the function
     * @throws UnsatisfiedLinkError when the C library has no such function
     */
    public static NativeFunction libc(String name) {
        return new NativeFunction(
                name,
                Linker.nativeLinker()
                        .defaultLookup()
                        .find(name)
                        .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no function " + name)));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link(int arguments, Linker.Option... options) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts), options);
    }

    private static AssertionError unexpected(NativeFunction function, Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        if (e instanceof RuntimeException exception) {
            throw exception;
        }
        return new AssertionError("call of " + function.name(), e);
    }

    // One holder per shape, so that each is linked when it is first called and is a constant to the compiler.

    private static final class Saved0 {
        static final MethodHandle HANDLE = link(0, SAVE_ERRNO);
    }

    private static final class Saved1 {
        static final MethodHandle HANDLE = link(1, SAVE_ERRNO);
    }

    private static final class Saved2 {
        static final MethodHandle HANDLE = link(2, SAVE_ERRNO);
    }

    private static final class Saved3 {
        static final MethodHandle HANDLE = link(3, SAVE_ERRNO);
    }

    private static final class Saved4 {
        static final MethodHandle HANDLE = link(4, SAVE_ERRNO);
    }

    private static final class Saved5 {
        static final MethodHandle HANDLE = link(5, SAVE_ERRNO);
    }

    private static final class Saved6 {
        static final MethodHandle HANDLE = link(6, SAVE_ERRNO);
    }

    private static final class Variadic3 {
        static final MethodHandle HANDLE = link(3, SAVE_ERRNO, Linker.Option.firstVariadicArg(2));
    }

    private static final class Plain2 {
        static final MethodHandle HANDLE = link(2);
    }

    private static final class Plain3 {
        static final MethodHandle HANDLE = link(3);
    }

    private static final class Brief3 {
        static final MethodHandle HANDLE = link(3, Linker.Option.critical(false));
    }

    private static final class BriefSaved4 {
        static final MethodHandle HANDLE = link(4, SAVE_ERRNO, Linker.Option.critical(false));
    }
}
