package io.rdmanio.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Memory with a descriptor (memfd_create(2)), which other processes can map too, closed on exec. Seals (fcntl(2)) bind
 * everybody who has the descriptor, its creator included, and can't be taken back: {@link #SEAL_SHRINK} is what makes a
 * mapping safe to touch, whoever else has the descriptor, since nobody can cut the memory away below it.
 *
 * <p>A mapping lives as long as its arena, longer than the file if need be.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class MemoryFile implements AutoCloseable {
    /** No further seals (F_SEAL_SEAL). */
    public static final int SEAL_SEAL = 1;
    /** Never smaller (F_SEAL_SHRINK). */
    public static final int SEAL_SHRINK = 2;
    /** Never larger (F_SEAL_GROW). */
    public static final int SEAL_GROW = 4;
    /** Never written again, by nobody (F_SEAL_WRITE); refused while a writable mapping exists. */
    public static final int SEAL_WRITE = 8;
    /**
     * No new writable mapping, no write(2), no hole punched (F_SEAL_FUTURE_WRITE); writable mappings of before go on
     * working.
     */
    public static final int SEAL_FUTURE_WRITE = 0x10;

    /** The bytes of a page, of which offsets in a file are multiples. */
    public static final long PAGE_BYTES = pageBytes();

    private static final NativeFunction MEMFD_CREATE = Downcall.libc("memfd_create");
    private static final NativeFunction FTRUNCATE = Downcall.libc("ftruncate");
    private static final NativeFunction FALLOCATE = Downcall.libc("fallocate");
    private static final NativeFunction LSEEK = Downcall.libc("lseek");
    private static final NativeFunction FSTATFS = Downcall.libc("fstatfs");
    private static final NativeFunction MMAP = Downcall.libc("mmap");
    private static final NativeFunction MUNMAP = Downcall.libc("munmap");
    static final int MFD_CLOEXEC = 1;
    static final int MFD_ALLOW_SEALING = 2;
    static final int MFD_NOEXEC_SEAL = 8;
    static final int SEEK_END = 2;
    static final int FALLOC_FL_KEEP_SIZE = 1;
    static final int FALLOC_FL_PUNCH_HOLE = 2;
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;
    static final int MAP_SHARED = 1;
    static final int MAP_PRIVATE = 2;
    static final int MAP_FIXED = 0x10;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MAP_NORESERVE = 0x4000;
    static final long STATFS_BYTES = 120;
    static final long TMPFS_MAGIC = 0x01021994;

    private final OwnedDescriptor descriptor;

    private MemoryFile(int fileDescriptor) {
        descriptor = new OwnedDescriptor(fileDescriptor, MemoryFile.class);
    }

    /**
     * The size of the pages that memory is mapped in (getpagesize(2)). Does not block.
     *
     * @return bytes
     */
    public static long pageBytes() {
        try (CallFrame frame = CallFrame.enter()) {
            return Downcall.call(Downcall.libc("getpagesize"), frame) & 0xFFFF_FFFFL;
        }
    }

    /**
     * Creates memory of zeros without any seal but that against execution. Pages are taken when they are first touched,
     * or by {@link #reserve}. Does not block.
     *
     * @param name what /proc/self/maps shall call it, at most 249 bytes
     * @param sizeBytes how much
     * @return the file, to be closed by the caller
     * @throws SystemCallException when there is no descriptor left ({@code EMFILE}, {@code ENFILE}), the size is
     *     negative or too large ({@code EINVAL}, {@code EFBIG})
     */
    public static MemoryFile create(String name, long sizeBytes) throws SystemCallException {
        MemoryFile file = new MemoryFile(create(name));
        try (CallFrame frame = CallFrame.enter()) {
            if ((int) Downcall.call(FTRUNCATE, frame, file.descriptor.number(), sizeBytes) < 0) {
                int errno = frame.errno();
                file.close();
                throw Errno.exception("ftruncate(" + sizeBytes + ")", errno);
            }
        }
        return file;
    }

    private static int create(String name) throws SystemCallException {
        try (CallFrame frame = CallFrame.enter();
                Arena arena = Arena.ofConfined()) {
            long address = arena.allocateFrom(name).address();
            int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
            int descriptor = (int) Downcall.call(MEMFD_CREATE, frame, address, flags | MFD_NOEXEC_SEAL);
            if (descriptor < 0 && frame.errno() == Errno.EINVAL) {
                // Before Linux 6.3.
                descriptor = (int) Downcall.call(MEMFD_CREATE, frame, address, flags);
            }
            if (descriptor < 0) {
                throw Errno.exception("memfd_create(" + name + ")", frame.errno());
            }
            return descriptor;
        }
    }

    /**
     * Takes over a descriptor that somebody sent, if it is one of memory in ordinary pages. Nothing is known of its
     * size and seals then: check {@link #seals} first, {@link #sizeBytes} afterwards, then map.
     *
     * @param fileDescriptor the descriptor; closed when it is refused
     * @return the file, to be closed by the caller
     * @throws SystemCallException when it is something else ({@code EINVAL}), huge pages included, since these may be
     *     missing when they are touched; or not open ({@code EBADF})
     */
    public static MemoryFile fromDescriptor(int fileDescriptor) throws SystemCallException {
        MemoryFile file = new MemoryFile(fileDescriptor);
        try {
            file.seals();
            file.requireOrdinaryPages();
            return file;
        } catch (SystemCallException e) {
            file.close();
            throw e;
        }
    }

    private void requireOrdinaryPages() throws SystemCallException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment status = frame.cleared(STATFS_BYTES);
            if ((int) Downcall.call(FSTATFS, frame, descriptor.number(), frame.argumentsAddress()) < 0) {
                throw Errno.exception("fstatfs(" + descriptor.number() + ")", frame.errno());
            }
            long type = status.get(ValueLayout.JAVA_LONG, 0);
            if (type != TMPFS_MAGIC) {
                throw Errno.exception(
                        "fstatfs(" + descriptor.number() + ") of type 0x" + Long.toHexString(type), Errno.EINVAL);
            }
        }
    }

    /**
     * The descriptor, to be sent to others.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return descriptor.number();
    }

    /**
     * The size. It stays what it is if the file has the seals against shrinking and growing.
     *
     * @return the bytes
     * @throws SystemCallException when lseek(2) fails
     * @throws IllegalStateException after close
     */
    public long sizeBytes() throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            // The position that this moves is used by nobody: memory is mapped.
            return checked(Downcall.call(LSEEK, frame, descriptor.number(), 0, SEEK_END), frame, "lseek");
        } finally {
            descriptor.leave();
        }
    }

    /**
     * The seals.
     *
     * @return bits such as {@link #SEAL_SHRINK}, others included
     * @throws SystemCallException when the descriptor is not one of memory ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public int seals() throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.callVariadic(
                    FileDescriptors.FCNTL, frame, descriptor.number(), FileDescriptors.F_GET_SEALS, 0);
            return (int) checked(result, frame, "fcntl(F_GET_SEALS)");
        } finally {
            descriptor.leave();
        }
    }

    /**
     * Tells whether seals are there.
     *
     * @param wanted bits such as {@link #SEAL_SHRINK}
     * @return true when all of them are
     * @throws SystemCallException as {@link #seals} does
     * @throws IllegalStateException after close
     */
    public boolean isSealed(int wanted) throws SystemCallException {
        return (seals() & wanted) == wanted;
    }

    /**
     * Adds seals, for good.
     *
     * @param seals bits such as {@link #SEAL_SHRINK}
     * @throws SystemCallException when {@link #SEAL_SEAL} is there ({@code EPERM}), or {@link #SEAL_WRITE} is wanted
     *     while a writable mapping exists ({@code EBUSY})
     * @throws IllegalStateException after close
     */
    public void addSeals(int seals) throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.callVariadic(
                    FileDescriptors.FCNTL, frame, descriptor.number(), FileDescriptors.F_ADD_SEALS, seals);
            checked(result, frame, "fcntl(F_ADD_SEALS, 0x" + Integer.toHexString(seals) + ")");
        } finally {
            descriptor.leave();
        }
    }

    /**
     * Takes the pages now, so that want of memory is an exception here and no signal later. Takes time in proportion to
     * the size.
     *
     * @param offset where to begin
     * @param lengthBytes how much, at least 1
     * @throws SystemCallException when memory is short ({@code ENOMEM}, {@code ENOSPC})
     * @throws IllegalStateException after close
     */
    public void reserve(long offset, long lengthBytes) throws SystemCallException {
        allocate(0, offset, lengthBytes);
    }

    /**
     * Gives memory back that nobody needs any more ({@code fallocate(2)} with {@code FALLOC_FL_PUNCH_HOLE}): it is zero
     * for whoever looks, and whoever writes there again must {@linkplain #reserve reserve} it first.
     *
     * @param offset where it begins, a multiple of the size of a page
     * @param lengthBytes how long it is, a multiple of the size of a page
     * @throws SystemCallException when the system call fails
     * @throws IllegalStateException when the file is closed
     */
    public void giveBack(long offset, long lengthBytes) throws SystemCallException {
        allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, lengthBytes);
    }

    private void allocate(int mode, long offset, long lengthBytes) throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            int result;
            do {
                result = (int) Downcall.call(FALLOCATE, frame, descriptor.number(), mode, offset, lengthBytes);
            } while (result < 0 && frame.errno() == Errno.EINTR);
            checked(result, frame, "fallocate(" + mode + ", " + offset + ", " + lengthBytes + ")");
        } finally {
            descriptor.leave();
        }
    }

    /**
     * Maps a piece of the file, shared with all others who do. The caller has made sure that the file has that many
     * bytes and can't shrink.
     *
     * @param offset where it begins, a multiple of {@link #PAGE_BYTES}
     * @param lengthBytes its length, at least 1
     * @param writable whether it may be written
     * @param arena whose end unmaps it
     * @return the memory, aligned to a page
     * @throws SystemCallException when the file can't be mapped so: opened for reading only ({@code EACCES}), sealed
     *     against writing ({@code EPERM}), or no address space ({@code ENOMEM})
     * @throws IllegalStateException after close of the file or the arena
     */
    @SuppressWarnings("restricted")
    public MemorySegment map(long offset, long lengthBytes, boolean writable, Arena arena) throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
            long address =
                    Downcall.call(MMAP, frame, 0, lengthBytes, protection, MAP_SHARED, descriptor.number(), offset);
            checked(
                    address,
                    frame,
                    "mmap(" + offset + ", " + lengthBytes + (writable ? ", writable)" : ", read-only)"));
            try {
                MemorySegment memory = MemorySegment.ofAddress(address)
                        .reinterpret(lengthBytes, arena, _ -> unmap(address, lengthBytes));
                return writable ? memory : memory.asReadOnly();
            } catch (RuntimeException e) {
                // The arena was closed meanwhile.
                unmap(address, lengthBytes);
                throw e;
            }
        } finally {
            descriptor.leave();
        }
    }

    /**
     * Puts private memory of zeros where something else is mapped, at once for everybody who is using it.
     *
     * @return 0 or an error number
     */
    static int mapZerosOver(long address, long lengthBytes) {
        try (CallFrame frame = CallFrame.enter()) {
            int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
            long result = Downcall.call(MMAP, frame, address, lengthBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
            return result == -1 ? frame.errno() : 0;
        }
    }

    private static void unmap(long address, long lengthBytes) {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(MUNMAP, frame, address, lengthBytes);
            assert result == 0 : "munmap: " + Errno.name(frame.errno());
        }
    }

    private static long checked(long result, CallFrame frame, String operation) throws SystemCallException {
        if (result == -1) {
            throw Errno.exception(operation, frame.errno());
        }
        return result;
    }

    /** Closes the descriptor, as soon as no call is in progress; mappings stay. Idempotent. */
    @Override
    public void close() {
        descriptor.close();
    }
}
