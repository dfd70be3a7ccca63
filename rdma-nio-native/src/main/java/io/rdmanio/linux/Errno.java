package io.rdmanio.linux;

/**
 * Linux error numbers (errno(3)) with their names and a text in words. The numbers are those of x86-64, aarch64 and
 * riscv64. Stateless and safe for use by any thread.
 */
public final class Errno {
    /** Not permitted. */
    public static final int EPERM = 1;

    /** No such file or directory. */
    public static final int ENOENT = 2;

    /** Interrupted system call. */
    public static final int EINTR = 4;

    /** Input/output error. */
    public static final int EIO = 5;

    /** No such device or address. */
    public static final int ENXIO = 6;

    /** Bad file descriptor. */
    public static final int EBADF = 9;

    /** Try again. */
    public static final int EAGAIN = 11;

    /** Out of memory. */
    public static final int ENOMEM = 12;

    /** Permission denied. */
    public static final int EACCES = 13;

    /** Bad address. */
    public static final int EFAULT = 14;

    /** In use. */
    public static final int EBUSY = 16;

    /** Exists already. */
    public static final int EEXIST = 17;

    /** No such device. */
    public static final int ENODEV = 19;

    /** Invalid argument. */
    public static final int EINVAL = 22;

    /** Too many open files in the system. */
    public static final int ENFILE = 23;

    /** Too many open files in the process. */
    public static final int EMFILE = 24;

    /** File too large. */
    public static final int EFBIG = 27;

    /** No space left. */
    public static final int ENOSPC = 28;

    /** Broken pipe. */
    public static final int EPIPE = 32;

    /** Out of range. */
    public static final int ERANGE = 34;

    /** Not implemented by this kernel. */
    public static final int ENOSYS = 38;

    /** No data. */
    public static final int ENODATA = 61;

    /** Protocol error. */
    public static final int EPROTO = 71;

    /** Value too large. */
    public static final int EOVERFLOW = 75;

    /** Message too long. */
    public static final int EMSGSIZE = 90;

    /** Protocol not supported. */
    public static final int EPROTONOSUPPORT = 93;

    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;

    /** Address family not supported. */
    public static final int EAFNOSUPPORT = 97;

    /** Address in use. */
    public static final int EADDRINUSE = 98;

    /** Address not available on this host. */
    public static final int EADDRNOTAVAIL = 99;

    /** Network is down. */
    public static final int ENETDOWN = 100;

    /** Network is unreachable. */
    public static final int ENETUNREACH = 101;

    /** Connection aborted. */
    public static final int ECONNABORTED = 103;

    /** Connection reset by peer. */
    public static final int ECONNRESET = 104;

    /** No buffer space. */
    public static final int ENOBUFS = 105;

    /** Connected already. */
    public static final int EISCONN = 106;

    /** Not connected. */
    public static final int ENOTCONN = 107;

    /** Too many references. */
    public static final int ETOOMANYREFS = 109;

    /** Timed out. */
    public static final int ETIMEDOUT = 110;

    /** Connection refused. */
    public static final int ECONNREFUSED = 111;

    /** No route to host. */
    public static final int EHOSTUNREACH = 113;

    /** In progress already. */
    public static final int EALREADY = 114;

    /** In progress. */
    public static final int EINPROGRESS = 115;

    /** Stale handle. */
    public static final int ESTALE = 116;

    /** Cancelled. */
    public static final int ECANCELED = 125;

    private Errno() {}

    /**
     * The C name of an error number.
     *
     * @param errno the number
     * @return its name, or {@code "errno N"} for one that is not known here
     */
    public static String name(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM";
            case ENOENT -> "ENOENT";
            case EINTR -> "EINTR";
            case EIO -> "EIO";
            case ENXIO -> "ENXIO";
            case EBADF -> "EBADF";
            case EAGAIN -> "EAGAIN";
            case ENOMEM -> "ENOMEM";
            case EACCES -> "EACCES";
            case EFAULT -> "EFAULT";
            case EBUSY -> "EBUSY";
            case EEXIST -> "EEXIST";
            case ENODEV -> "ENODEV";
            case EINVAL -> "EINVAL";
            case ENFILE -> "ENFILE";
            case EMFILE -> "EMFILE";
            case EFBIG -> "EFBIG";
            case ENOSPC -> "ENOSPC";
            case EPIPE -> "EPIPE";
            case ERANGE -> "ERANGE";
            case ENOSYS -> "ENOSYS";
            case ENODATA -> "ENODATA";
            case EPROTO -> "EPROTO";
            case EOVERFLOW -> "EOVERFLOW";
            case EMSGSIZE -> "EMSGSIZE";
            case EPROTONOSUPPORT -> "EPROTONOSUPPORT";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case EAFNOSUPPORT -> "EAFNOSUPPORT";
            case EADDRINUSE -> "EADDRINUSE";
            case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
            case ENETDOWN -> "ENETDOWN";
            case ENETUNREACH -> "ENETUNREACH";
            case ECONNABORTED -> "ECONNABORTED";
            case ECONNRESET -> "ECONNRESET";
            case ENOBUFS -> "ENOBUFS";
            case EISCONN -> "EISCONN";
            case ENOTCONN -> "ENOTCONN";
            case ETOOMANYREFS -> "ETOOMANYREFS";
            case ETIMEDOUT -> "ETIMEDOUT";
            case ECONNREFUSED -> "ECONNREFUSED";
            case EHOSTUNREACH -> "EHOSTUNREACH";
            case EALREADY -> "EALREADY";
            case EINPROGRESS -> "EINPROGRESS";
            case ESTALE -> "ESTALE";
            case ECANCELED -> "ECANCELED";
            default -> "errno " + errno;
        };
    }

    /**
     * What an error number means.
     *
     * @param errno the number
     * @return a few words
     */
    public static String describe(int errno) {
        return switch (errno) {
            case EPERM -> "not permitted";
            case ENOENT -> "no such file or directory";
            case EINTR -> "interrupted system call";
            case EIO -> "input/output error";
            case ENXIO -> "no such device or address";
            case EBADF -> "bad file descriptor";
            case EAGAIN -> "try again";
            case ENOMEM -> "out of memory";
            case EACCES -> "permission denied";
            case EFAULT -> "bad address";
            case EBUSY -> "in use";
            case EEXIST -> "exists already";
            case ENODEV -> "no such device";
            case EINVAL -> "invalid argument";
            case ENFILE -> "too many open files in the system";
            case EMFILE -> "too many open files in the process";
            case EFBIG -> "file too large";
            case ENOSPC -> "no space left";
            case EPIPE -> "broken pipe";
            case ERANGE -> "out of range";
            case ENOSYS -> "not implemented by this kernel";
            case ENODATA -> "no data";
            case EPROTO -> "protocol error";
            case EOVERFLOW -> "value too large";
            case EMSGSIZE -> "message too long";
            case EPROTONOSUPPORT -> "protocol not supported";
            case EOPNOTSUPP -> "operation not supported";
            case EAFNOSUPPORT -> "address family not supported";
            case EADDRINUSE -> "address in use";
            case EADDRNOTAVAIL -> "address not available on this host";
            case ENETDOWN -> "network is down";
            case ENETUNREACH -> "network is unreachable";
            case ECONNABORTED -> "connection aborted";
            case ECONNRESET -> "connection reset by peer";
            case ENOBUFS -> "no buffer space";
            case EISCONN -> "connected already";
            case ENOTCONN -> "not connected";
            case ETOOMANYREFS -> "too many references";
            case ETIMEDOUT -> "timed out";
            case ECONNREFUSED -> "connection refused";
            case EHOSTUNREACH -> "no route to host";
            case EALREADY -> "in progress already";
            case EINPROGRESS -> "in progress";
            case ESTALE -> "stale handle";
            case ECANCELED -> "cancelled";
            default -> "unknown error";
        };
    }

    /**
     * The exception for a failed system call.
     *
     * @param operation the call, with the arguments that matter
     * @param errno what it left
     * @return an exception that names both, to be thrown by the caller
     */
    public static SystemCallException exception(String operation, int errno) {
        return new SystemCallException(
                operation + ": " + describe(errno) + " (" + name(errno) + ", " + errno + ")", errno);
    }
}
