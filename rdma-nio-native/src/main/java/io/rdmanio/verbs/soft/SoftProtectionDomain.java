package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AllocatedMemory;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A protection domain: its queue pairs reach the memory of its keys and no other.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class SoftProtectionDomain implements ProtectionDomainHandle {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final int number = NUMBERS.incrementAndGet();
    private final Set<MemoryUser> users = ConcurrentHashMap.newKeySet();
    private final KeyTable keys;
    private final QueueFactory queues;
    private final boolean lent;
    private final Runnable end;

    /**
     * Makes a domain.
     *
     * @param keys the keys of the host
     * @param queues makes the queues of the device
     */
    SoftProtectionDomain(KeyTable keys, QueueFactory queues) {
        this(keys, queues, false, () -> {});
    }

    /**
     * Makes a domain that has a part in something.
     *
     * @param keys the keys of the host
     * @param queues makes the queues of the device
     * @param end gives the part back, when the domain is destroyed
     */
    SoftProtectionDomain(KeyTable keys, QueueFactory queues, Runnable end) {
        this(keys, queues, false, end);
    }

    private SoftProtectionDomain(KeyTable keys, QueueFactory queues, boolean lent, Runnable end) {
        this.keys = keys;
        this.queues = queues;
        this.lent = lent;
        this.end = end;
    }

    /**
     * Makes a domain that all ids of a device share: its destroy does nothing.
     *
     * @param keys the keys of the host
     * @param queues makes the queues of the device
     * @return the domain
     */
    static SoftProtectionDomain lent(KeyTable keys, QueueFactory queues) {
        return new SoftProtectionDomain(keys, queues, true, () -> {});
    }

    /**
     * What the peers of its queue pairs know it by.
     *
     * @return a number, never 0, that no other domain of this process has
     */
    int number() {
        return number;
    }

    /**
     * The keys of the host.
     *
     * @return the table
     */
    KeyTable keys() {
        return keys;
    }

    /**
     * From now on the end of a key waits for a queue pair.
     *
     * @param user the queue pair
     */
    void join(MemoryUser user) {
        users.add(user);
    }

    /**
     * A queue pair is gone and reaches no memory any more.
     *
     * @param user the queue pair
     */
    void leave(MemoryUser user) {
        users.remove(user);
    }

    /** Waits until every access to memory of this domain that had begun before this call is over. */
    void quiesce() {
        for (MemoryUser user : users) {
            user.quiesce();
        }
    }

    @Override
    public MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) throws VerbsException {
        return registerMemory(address, lengthBytes, address, accessFlags);
    }

    @Override
    public MemoryRegionHandle registerMemory(long address, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        Registration registration = Registration.at(address, lengthBytes, ioVirtualAddress, accessFlags);
        return SoftMemoryRegion.register(this, registration);
    }

    @Override
    public MemoryRegionHandle registerMemory(MemorySegment memory, int accessFlags) throws VerbsException {
        return registerMemory(memory, memory.address(), accessFlags);
    }

    @Override
    public MemoryRegionHandle registerMemory(MemorySegment memory, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        return SoftMemoryRegion.register(this, new Registration(memory, ioVirtualAddress, accessFlags));
    }

    /** Memory for peers lies in a file of its own; memory that no peer may reach is anybody's. */
    @Override
    public AllocatedMemory allocateMemory(long lengthBytes, int accessFlags) throws VerbsException {
        if ((accessFlags & SharedMemory.REMOTE) == 0) {
            return ProtectionDomainHandle.super.allocateMemory(lengthBytes, accessFlags);
        }
        Registration.requireFlags(accessFlags, "length=" + lengthBytes);
        SharedMemory shared;
        try {
            shared = keys.allocations().allocate(lengthBytes, accessFlags);
        } catch (SystemCallException e) {
            VerbsException failure = new VerbsException(
                    "allocateMemory", "length=" + lengthBytes, e.errno(), "No memory or no descriptor is left.");
            failure.initCause(e);
            throw failure;
        }
        return SoftMemoryRegion.allocated(this, shared, lengthBytes, accessFlags);
    }

    @Override
    public MemoryRegionHandle registerDmaBuf(
            int fileDescriptor, long offset, long lengthBytes, long ioVirtualAddress, int accessFlags)
            throws VerbsException {
        throw new VerbsException(
                "ibv_reg_dmabuf_mr",
                "fd=" + fileDescriptor + ", offset=" + offset + ", length=" + lengthBytes + ", access=0x"
                        + Integer.toHexString(accessFlags),
                Errno.EOPNOTSUPP,
                "The device does not have this operation.");
    }

    @Override
    public MemoryWindowHandle allocateMemoryWindow(MemoryWindowType type) throws VerbsException {
        return SoftMemoryWindow.allocate(this, type);
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(SharedReceiveQueueAttributes wanted)
            throws VerbsException {
        return queues.createSharedReceiveQueue(this, wanted);
    }

    @Override
    public QueuePairHandle createQueuePair(QueuePairRequest request) throws VerbsException {
        return queues.createQueuePair(this, request);
    }

    @Override
    public void destroy() throws VerbsException {
        // As every driver does, though the owner closes what was made from it first.
        if (!lent && !users.isEmpty()) {
            throw new VerbsException("ibv_dealloc_pd", "", Errno.EBUSY, users.size() + " queue pairs are in it.");
        }
        end.run();
    }
}
