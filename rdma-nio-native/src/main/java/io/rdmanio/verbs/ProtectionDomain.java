package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A protection domain ({@code struct ibv_pd}): queue pairs reach only the memory regions of their own. Thread-safe. */
public final class ProtectionDomain implements AutoCloseable {
    final ProtectionDomainHandle handle;
    final Lifecycle life;
    private final DeviceContext context;

    ProtectionDomain(DeviceContext context, ProtectionDomainHandle handle) {
        this.context = context;
        this.handle = handle;
        this.life = new Lifecycle(HandleKind.PROTECTION_DOMAIN, handle::destroy, context.life);
    }

    /** A domain that somebody else owns and an id lends. */
    ProtectionDomain(DeviceContext context, ProtectionDomainHandle handle, Lifecycle id) {
        this.context = context;
        this.handle = handle;
        this.life = new Lifecycle(HandleKind.PROTECTION_DOMAIN, handle::destroy, id);
    }

    /** Refuses memory without an address, and an address without memory: another's may be there by now. */
    static void requireRegistrable(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap can't be registered");
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("memory that was freed can't be registered");
        }
    }

    /**
     * Registers memory (ibv_reg_mr(3)): its pages are pinned until the region is closed. Makes a system call and takes
     * time in proportion to the number of pages.
     *
     * @param memory native memory; the caller keeps it allocated until the region is closed, which holds a reference to
     *     it
     * @param accessFlags bits of {@link AccessFlags}
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit), the flags don't fit
     *     together ({@code EINVAL}), or the memory can't be written as they demand ({@code EFAULT}, {@code EACCES})
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after close, or when the memory was freed
     */
    public MemoryRegion registerMemory(MemorySegment memory, int accessFlags) throws VerbsException {
        requireRegistrable(memory);
        life.enter();
        try {
            MemoryRegionHandle region = handle.registerMemory(memory, accessFlags);
            return new MemoryRegion(this, region, memory);
        } finally {
            life.exit();
        }
    }

    /**
     * Registers memory under addresses of the caller's choice (ibv_reg_mr_iova(3), ibv_reg_mr_iova2(3)): work requests
     * and peers name it by them, {@link MemoryRegion#address}. Makes a system call and takes time in proportion to the
     * number of pages.
     *
     * @param memory native memory; the caller keeps it allocated until the region is closed, which holds a reference to
     *     it
     * @param ioVirtualAddress the address under which it begins; its place in a page must be that of the memory
     * @param accessFlags bits of {@link AccessFlags}
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit), the flags or the address
     *     don't fit ({@code EINVAL}), or the memory can't be written as they demand ({@code EFAULT}, {@code EACCES})
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after close, or when the memory was freed
     */
    public MemoryRegion registerMemory(MemorySegment memory, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        requireRegistrable(memory);
        life.enter();
        try {
            MemoryRegionHandle region = handle.registerMemory(memory, ioVirtualAddress, accessFlags);
            return new MemoryRegion(this, region, memory, ioVirtualAddress, memory.byteSize());
        } finally {
            life.exit();
        }
    }

    /**
     * Allocates memory and registers it: memory as the engine likes it best. Over the engine of this host's processes
     * ({@code soft}) peers reach such memory by themselves, without any work here, while what they do with other memory
     * costs this process a copy; over the libraries it is ordinary memory, aligned to a page. Closing the region frees the
     * memory, after which {@link MemoryRegion#memory} can't be accessed.
     *
     * <p>What peers may do is decided here: a piece of the memory may be registered once more, in this domain or another,
     * but not with rights of peers that are not among these flags ({@code EACCES}). All of the memory is shared with every
     * peer that uses a key of it or of a piece; against a peer that keeps to the rules the keys protect it, against a
     * hostile one only that it was not allocated for writing.
     *
     * <p>Makes system calls and takes time in proportion to the number of pages.
     *
     * @param lengthBytes how much
     * @param accessFlags bits of {@link AccessFlags}
     * @return the region, to be closed by the caller; its memory is all zeros, begins with a page, and may be used by any
     *     thread
     * @throws VerbsException when there is not so much memory or no descriptor left ({@code ENOMEM}, {@code EMFILE}), it
     *     can't be locked ({@code ENOMEM}; names the limit), or the flags don't fit together ({@code EINVAL})
     * @throws IllegalArgumentException when the length is less than 1
     * @throws IllegalStateException after close
     */
    public MemoryRegion allocateMemory(long lengthBytes, int accessFlags) throws VerbsException {
        if (lengthBytes < 1) {
            throw new IllegalArgumentException("lengthBytes " + lengthBytes + " is less than 1");
        }
        life.enter();
        try {
            AllocatedMemory allocated = handle.allocateMemory(lengthBytes, accessFlags);
            return new MemoryRegion(this, allocated.region(), allocated.memory());
        } finally {
            life.exit();
        }
    }

    /**
     * Registers memory of another device (ibv_reg_dmabuf_mr(3)), such as that of a graphics processor. Makes a system
     * call.
     *
     * @param fileDescriptor the descriptor of the dma-buf; it may be closed afterwards
     * @param offset where in the dma-buf the region begins
     * @param lengthBytes its length
     * @param ioVirtualAddress the address under which work requests and peers name its beginning; its place in a page
     *     must be that of the offset
     * @param accessFlags bits of {@link AccessFlags}
     * @return the region, to be closed by the caller; it has no {@link MemoryRegion#memory}
     * @throws VerbsException when the driver can't ({@code EOPNOTSUPP}), the descriptor is no dma-buf ({@code EBADF},
     *     {@code EINVAL}), or offset, length or flags don't fit ({@code EINVAL})
     * @throws IllegalArgumentException when the offset is negative, or the length less than 1
     * @throws IllegalStateException after close
     */
    public MemoryRegion registerDmaBuf(
            int fileDescriptor, long offset, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        if (offset < 0 || lengthBytes < 1) {
            throw new IllegalArgumentException("offset " + offset + " or lengthBytes " + lengthBytes + " is too small");
        }
        life.enter();
        try {
            MemoryRegionHandle region =
                    handle.registerDmaBuf(fileDescriptor, offset, lengthBytes, ioVirtualAddress, accessFlags);
            return new MemoryRegion(this, region, null, ioVirtualAddress, lengthBytes);
        } finally {
            life.exit();
        }
    }

    /**
     * Allocates a memory window (ibv_alloc_mw(3)), not bound to anything. Makes a system call.
     *
     * @param type how it will be bound
     * @return the window, to be closed by the caller
     * @throws VerbsException when the device has no windows of the type ({@code EOPNOTSUPP}, {@code EINVAL}), or none
     *     left ({@code ENOMEM})
     * @throws IllegalStateException after close
     */
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws VerbsException {
        Objects.requireNonNull(type, "type");
        life.enter();
        try {
            return new MemoryWindow(this, handle.allocateMemoryWindow(type), type);
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a shared receive queue (ibv_create_srq(3)). Makes a system call.
     *
     * @param wanted its sizes; the limit is ignored by most devices here
     * @return the queue, to be closed by the caller
     * @throws VerbsException when a size is zero or more than the device's attributes allow ({@code EINVAL}), memory
     *     can't be locked ({@code ENOMEM}), or the device has no such queues ({@code EOPNOTSUPP}, {@code ENOSYS})
     * @throws IllegalStateException after close
     */
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueAttributes wanted) throws VerbsException {
        return SharedReceiveQueue.create(
                (domain, sizes, _, _) -> domain.createSharedReceiveQueue(sizes), this, wanted, null, null);
    }

    /**
     * Creates a shared receive queue of a domain of extended reliable connections (ibv_create_srq_ex(3), formerly
     * ibv_create_xrc_srq(3)). Makes a system call.
     *
     * @param wanted its sizes; the limit is ignored by most devices here
     * @param xrcDomain the domain
     * @param queue where the completions of its receives go
     * @return the queue, to be closed by the caller
     * @throws VerbsException as above; when the device or its driver has no such connections, {@code EOPNOTSUPP}
     * @throws IllegalArgumentException when domain or queue belong to another device
     * @throws IllegalStateException after close, of domain or queue too
     */
    public SharedReceiveQueue createSharedReceiveQueue(
            SharedReceiveQueueAttributes wanted, XrcDomain xrcDomain, CompletionQueue queue) throws VerbsException {
        return SharedReceiveQueue.create(
                ProtectionDomainHandle::createSharedReceiveQueue,
                this,
                wanted,
                Objects.requireNonNull(xrcDomain, "xrcDomain"),
                Objects.requireNonNull(queue, "queue"));
    }

    /**
     * The device context that this domain was allocated from.
     *
     * @return the context
     */
    public DeviceContext context() {
        return context;
    }

    /**
     * Creates a queue pair in the state RESET (ibv_create_qp(3), or ibv_create_qp_ex(3) for XRC_RECEIVE, which belongs to
     * its XRC domain and has neither queues nor memory of this domain), to be connected by {@link QueuePair#modify}.
     * Makes a system call. A device of iWARP has it connected only by the connection manager, which makes its own.
     *
     * @param wanted what it shall be made of
     * @return the queue pair, to be closed by the caller
     * @throws VerbsException when a size is more than the device allows ({@code EINVAL}), it does not have the type
     *     ({@code EOPNOTSUPP}, {@code EINVAL}), memory can't be locked or it has no queue pair left ({@code ENOMEM})
     * @throws IllegalArgumentException when a completion queue or XRC domain is missing that the type has, or a part
     *     belongs to another device
     * @throws IllegalStateException after close, of a completion queue too
     */
    public QueuePair createQueuePair(QueuePairInitAttributes wanted) throws VerbsException {
        wanted.requireComplete();
        return QueuePair.create(ProtectionDomainHandle::createQueuePair, this, wanted);
    }

    /**
     * Creates an address handle (ibv_create_ah(3)): where datagrams of this domain's queue pairs go. Makes a system
     * call, which over RoCE may have to ask the network for the peer's address, and blocks so long.
     *
     * @param path the way to the peer; global over RoCE
     * @return the handle, to be closed by the caller
     * @throws VerbsException when port, GID index or another part does not suit ({@code EINVAL}), no route leads there
     *     ({@code ENETUNREACH}, {@code EHOSTUNREACH}) or nobody answers there ({@code ETIMEDOUT})
     * @throws IllegalStateException after close
     */
    public AddressHandle createAddressHandle(AddressHandleAttributes path) throws VerbsException {
        life.enter();
        try {
            return new AddressHandle(this, handle.createAddressHandle(path));
        } finally {
            life.exit();
        }
    }

    /**
     * Creates an address handle to where a datagram came from (ibv_create_ah_from_wc(3)). Makes system calls.
     *
     * @param port the port that it came in, from 1
     * @param completions the completion of its receive
     * @param entry which entry
     * @param header the beginning of the receive buffer, 40 bytes at least, where the global route header stands; may be
     *     null when the entry has none
     * @return the handle, to be closed by the caller
     * @throws VerbsException when the header does not suit the port's GID table, or as
     *     {@link #createAddressHandle(AddressHandleAttributes)}
     * @throws IllegalArgumentException when the port is not 0 to 255, or the header is too short, or null though the
     *     entry has one
     * @throws IndexOutOfBoundsException when there is no such entry
     * @throws IllegalStateException after close, of the completions too
     */
    public AddressHandle createAddressHandle(int port, WorkCompletions completions, int entry, MemorySegment header)
            throws VerbsException {
        UnsignedField.checkByte("port", port);
        MemorySegment completion = completions.entryWithHeader(entry, header);
        life.enter();
        try {
            return new AddressHandle(this, handle.createAddressHandle(port, completion, header));
        } finally {
            life.exit();
        }
    }

    /**
     * Deallocates the domain (ibv_dealloc_pd(3)) after everything made from it: its memory windows first, then the
     * youngest. One that a communication id lends is left to its owner. Idempotent; waits for calls in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
