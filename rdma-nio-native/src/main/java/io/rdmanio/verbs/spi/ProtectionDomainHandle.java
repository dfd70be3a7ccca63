package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** An engine's protection domain. */
public interface ProtectionDomainHandle {
    /**
     * Registers memory.
     *
     * @param address where it begins
     * @param lengthBytes its length
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) throws VerbsException;

    /**
     * Registers memory under other addresses than its own.
     *
     * @param address where it begins
     * @param lengthBytes its length
     * @param ioVirtualAddress the address by which work requests name it
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    default MemoryRegionHandle registerMemory(long address, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        throw Unsupported.operation("ibv_reg_mr_iova");
    }

    /**
     * Registers memory, for an engine that wants to know more of it than the address.
     *
     * @param memory the memory, native and not freed yet
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    default MemoryRegionHandle registerMemory(MemorySegment memory, int accessFlags) throws VerbsException {
        return registerMemory(memory.address(), memory.byteSize(), accessFlags);
    }

    /**
     * Registers memory under other addresses than its own, for an engine that wants to know more of it than the address.
     *
     * @param memory the memory, native and not freed yet
     * @param ioVirtualAddress the address by which work requests name it
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    default MemoryRegionHandle registerMemory(MemorySegment memory, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        return registerMemory(memory.address(), memory.byteSize(), ioVirtualAddress, accessFlags);
    }

    /**
     * Allocates memory that suits the engine and registers it. Ordinary memory suits every engine.
     *
     * @param lengthBytes how much, at least 1
     * @param accessFlags what may be done with it, and the most that may ever be
     * @return the region and the memory
     * @throws VerbsException when it fails
     */
    default AllocatedMemory allocateMemory(long lengthBytes, int accessFlags) throws VerbsException {
        return OwningMemoryRegion.allocate(this, lengthBytes, accessFlags);
    }

    /**
     * Registers a dma-buf.
     *
     * @param fileDescriptor its descriptor
     * @param offset where in it the region begins
     * @param lengthBytes the region's length
     * @param ioVirtualAddress the address by which work requests name it
     * @param accessFlags what may be done with it
     * @return the region
     * @throws VerbsException when it fails
     */
    default MemoryRegionHandle registerDmaBuf(
            int fileDescriptor, long offset, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        throw Unsupported.operation("ibv_reg_dmabuf_mr");
    }

    /**
     * Allocates a memory window.
     *
     * @param type how it will be bound
     * @return the window
     * @throws VerbsException when it fails
     */
    default MemoryWindowHandle allocateMemoryWindow(MemoryWindowType type) throws VerbsException {
        throw Unsupported.operation("ibv_alloc_mw");
    }

    /**
     * Creates a shared receive queue.
     *
     * @param wanted its sizes
     * @return the queue
     * @throws VerbsException when it fails
     */
    default SharedReceiveQueueHandle createSharedReceiveQueue(SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        throw Unsupported.operation("ibv_create_srq");
    }

    /**
     * Creates a shared receive queue of a domain of extended reliable connections.
     *
     * @param wanted its sizes
     * @param xrcDomain the domain, of the same context
     * @param queue where its completions go, of the same context
     * @return the queue
     * @throws VerbsException when it fails
     */
    default SharedReceiveQueueHandle createSharedReceiveQueue(
            SharedReceiveQueueAttributes wanted, XrcDomainHandle xrcDomain, CompletionQueueHandle queue)
            throws VerbsException {
        throw Unsupported.operation("ibv_create_srq_ex");
    }

    /**
     * Creates a queue pair, not connected yet.
     *
     * @param request what it shall be made of
     * @return the queue pair
     * @throws VerbsException when it fails
     */
    default QueuePairHandle createQueuePair(QueuePairRequest request) throws VerbsException {
        throw Unsupported.operation("ibv_create_qp");
    }

    /**
     * Creates an address handle.
     *
     * @param attributes the path
     * @return the handle
     * @throws VerbsException when it fails
     */
    default AddressHandleHandle createAddressHandle(AddressHandleAttributes attributes) throws VerbsException {
        throw Unsupported.operation("ibv_create_ah");
    }

    /**
     * Creates an address handle that leads to where a datagram came from.
     *
     * @param port the port that it came in
     * @param completion its completion, laid out as {@link WorkCompletionLayout} says
     * @param header its global route header; null when the completion does not tell of one
     * @return the handle
     * @throws VerbsException when it fails
     */
    default AddressHandleHandle createAddressHandle(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        throw Unsupported.operation("ibv_create_ah_from_wc");
    }

    /**
     * Deallocates it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
