package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ResourceLimits;
import io.rdmanio.verbs.VerbsException;

/**
 * How many bytes may be registered for the streams over an engine, and how many are.
 *
 * <p>The system property {@value #PROPERTY} says how many there may be. Without it, half of what the process may lock in memory over
 * an RDMA device, which leaves the other half to queues and to programs that register memory themselves; where that is without
 * limit, and over the software device, which locks none, a quarter of what is available when the first stream is made.
 *
 * <p>Thread-safe; guarded by itself, and nothing is called under it.
 */
final class MemoryBudget {
    static final String PROPERTY = "io.rdmanio.registeredBytes";

    /** What connections may not grow into, so that others can still be made. */
    private static final int SHARE_OF_BEGINNERS = 8;

    private static final int SHARE_OF_LOCKABLE = 2;
    private static final int SHARE_OF_AVAILABLE = 4;

    private final long limitBytes;
    private final String origin;

    // begin: guarded by this
    private long registeredBytes;
    private long lentBytes;
    private long promisedBytes;
    // end

    /**
     * A budget of which nothing is used.
     *
     * @param origin what the limit is, for whoever meets it
     */
    MemoryBudget(long limitBytes, String origin) {
        this.limitBytes = limitBytes;
        this.origin = origin;
    }

    /**
     * The budget that the property or the limits of the process say.
     *
     * @param pinned whether registered memory is locked
     * @throws VerbsException if the property is no positive number
     */
    static MemoryBudget ofProcess(boolean pinned) throws VerbsException {
        String wanted = System.getProperty(PROPERTY);
        if (wanted != null) {
            return new MemoryBudget(parsed(wanted), "what the property says");
        }
        long lockable = pinned ? ResourceLimits.lockableMemoryBytes() : -1;
        if (lockable >= 0) {
            return new MemoryBudget(
                    lockable / SHARE_OF_LOCKABLE,
                    "half of the " + lockable
                            + " that may be locked (ulimit -l, LimitMEMLOCK= in a systemd unit, --ulimit"
                            + " memlock=-1 of a container)");
        }
        return new MemoryBudget(
                ResourceLimits.availableMemoryBytes() / SHARE_OF_AVAILABLE,
                "a quarter of the memory that was available");
    }

    private static long parsed(String wanted) throws VerbsException {
        try {
            long bytes = Long.parseLong(wanted.strip());
            if (bytes > 0) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            // told below, as a number that is none
        }
        throw new VerbsException(
                "registered memory", "", Errno.EINVAL, "-D" + PROPERTY + "=" + wanted + " is no number of bytes.");
    }

    /** Takes bytes that are going to be registered; false if there are not so many left. */
    synchronized boolean tryRegister(long bytes) {
        if (registeredBytes + bytes > limitBytes) {
            return false;
        }
        registeredBytes += bytes;
        return true;
    }

    /** Takes bytes that are going to be registered so that connections that there are already can have more. */
    synchronized boolean tryGrow(long bytes) {
        return registeredBytes + bytes <= limitBytes - limitBytes / SHARE_OF_BEGINNERS && tryRegister(bytes);
    }

    /** Bytes are registered no more. */
    synchronized void deregistered(long bytes) {
        registeredBytes -= bytes;
    }

    /** A connection has borrowed bytes of those that are registered, or given them back if the number is negative. */
    synchronized void lent(long bytes) {
        lentBytes += bytes;
    }

    /**
     * Promises bytes to a connection that is going to borrow them; to be {@linkplain #fulfilled} when it has, or never will.
     *
     * @return false if what nobody has borrowed, or was promised, is less
     */
    synchronized boolean tryPromise(long bytes) {
        if (lentBytes + promisedBytes + bytes > limitBytes) {
            return false;
        }
        promisedBytes += bytes;
        return true;
    }

    /** A promise counts no more. */
    synchronized void fulfilled(long bytes) {
        promisedBytes -= bytes;
    }

    /** What a program is told whose connection needs more than there is. */
    synchronized VerbsException exhausted(long wantedBytes) {
        return new VerbsException(
                "registered memory",
                "wanted=" + wantedBytes,
                Errno.ENOBUFS,
                registeredBytes + " bytes are registered for streams, and " + limitBytes + " may be, " + origin
                        + ". Allow more with -D" + PROPERTY
                        + "=<bytes>, or have fewer connections, or smaller SO_RCVBUF and SO_SNDBUF.");
    }

    long limitBytes() {
        return limitBytes;
    }

    /** Bytes registered with devices. */
    synchronized long registeredBytes() {
        return registeredBytes;
    }

    /** Bytes of them that connections have borrowed. */
    synchronized long lentBytes() {
        return lentBytes;
    }
}
