package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.MappedPages;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/**
 * What shall be registered, checked as ibv_reg_mr(3) does. Immutable.
 *
 * @param memory the memory, not empty
 * @param ioVirtualAddress the address under which requests name its first byte
 * @param accessFlags bits of {@link AccessFlags}
 */
record Registration(MemorySegment memory, long ioVirtualAddress, int accessFlags) {
    // What a device may ignore (IBV_ACCESS_OPTIONAL_RANGE).
    private static final int OPTIONAL_RANGE = 0x3FF0_0000;
    private static final int KNOWN = SharedMemory.REMOTE
            | AccessFlags.LOCAL_WRITE
            | AccessFlags.MEMORY_WINDOW_BIND
            | AccessFlags.ZERO_BASED
            | AccessFlags.ON_DEMAND
            | AccessFlags.HUGE_PAGES
            | OPTIONAL_RANGE;

    private static final String REG_MR = "ibv_reg_mr";

    /** Memory of which the address is known, and nothing else. */
    static Registration at(long address, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        if (lengthBytes < 0 || address <= 0 || address > Long.MAX_VALUE - lengthBytes) {
            throw refused(Errno.EINVAL, lengthBytes, accessFlags, "There is no such memory.");
        }
        return new Registration(KeyMemory.at(address, lengthBytes), ioVirtualAddress, accessFlags);
    }

    /** What is asked of memory that is not its own address. */
    private boolean isElsewhere() {
        return ioVirtualAddress != memory.address();
    }

    /**
     * The address under which requests name the first byte.
     *
     * @return it
     */
    long address() {
        return (accessFlags & AccessFlags.ZERO_BASED) != 0 ? 0 : ioVirtualAddress;
    }

    /**
     * Checks it.
     *
     * @throws VerbsException when the parts don't fit together
     */
    void requireValid() throws VerbsException {
        requireFlags(accessFlags, toString());
        if (memory.byteSize() == 0) {
            throw refused(Errno.EINVAL, "The length must not be 0.");
        }
        if ((ioVirtualAddress - memory.address()) % MemoryFile.PAGE_BYTES != 0) {
            throw refused(Errno.EINVAL, "An address of one's own must lie in its page as the memory does in its.");
        }
        if (ioVirtualAddress > 0 && ioVirtualAddress > Long.MAX_VALUE - memory.byteSize()) {
            throw refused(Errno.EINVAL, "The addresses must not wrap around.");
        }
        if (memory.isReadOnly() && (accessFlags & AccessFlags.LOCAL_WRITE) != 0) {
            throw refused(Errno.EACCES, "The memory is read-only, and LOCAL_WRITE is wanted.");
        }
    }

    /**
     * Checks that the memory is there, as a device that pins it would.
     *
     * @throws VerbsException when it is not, or is not writable as the flags demand
     */
    void requireMapped() throws VerbsException {
        boolean onDemand = (accessFlags & AccessFlags.ON_DEMAND) != 0;
        boolean writable = (accessFlags & AccessFlags.LOCAL_WRITE) != 0;
        if (!onDemand && !MappedPages.populate(memory.address(), memory.byteSize(), writable)) {
            throw refused(
                    Errno.EFAULT,
                    "The memory is not mapped, not in full or not so that it can be "
                            + (writable ? "written." : "read."));
        }
    }

    /**
     * Checks flags.
     *
     * @param accessFlags the flags
     * @param arguments what else the exception shall tell
     * @throws VerbsException when they are unknown or don't fit together
     */
    static void requireFlags(int accessFlags, String arguments) throws VerbsException {
        boolean writes = (accessFlags & SharedMemory.REMOTE_WRITES) != 0;
        if (writes && (accessFlags & AccessFlags.LOCAL_WRITE) == 0) {
            throw new VerbsException(
                    REG_MR, arguments, Errno.EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE.");
        }
        if ((accessFlags & ~KNOWN) != 0) {
            throw new VerbsException(
                    REG_MR,
                    arguments,
                    Errno.EINVAL,
                    "The flags 0x" + Integer.toHexString(accessFlags & ~KNOWN) + " are unknown.");
        }
    }

    /**
     * The exception for what can't be registered so.
     *
     * @param errno why
     * @param explanation the cure
     * @return the exception, to be thrown by the caller
     */
    VerbsException refused(int errno, String explanation) {
        return new VerbsException(REG_MR, toString(), errno, explanation);
    }

    private static VerbsException refused(int errno, long lengthBytes, int accessFlags, String explanation) {
        return new VerbsException(REG_MR, arguments(lengthBytes, accessFlags), errno, explanation);
    }

    private static String arguments(long lengthBytes, int accessFlags) {
        return "length=" + lengthBytes + ", access=0x" + Integer.toHexString(accessFlags);
    }

    /** The arguments that matter, for messages. */
    @Override
    public String toString() {
        return arguments(memory.byteSize(), accessFlags)
                + (isElsewhere() ? ", iova=0x" + Long.toHexString(ioVirtualAddress) : "");
    }
}
