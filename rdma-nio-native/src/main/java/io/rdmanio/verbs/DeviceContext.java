package io.rdmanio.verbs;

import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A device in use ({@code struct ibv_context}). One that belongs to a communication id is borrowed: it can't be closed,
 * and the same native context is always the same object. One that was opened is an {@link OpenDeviceContext}.
 * Thread-safe.
 */
public sealed class DeviceContext permits OpenDeviceContext {
    final ContextHandle handle;
    final Lifecycle life;
    final AsyncEvents asyncEvents;

    /** A borrowed context. */
    DeviceContext(ContextHandle handle) {
        this.handle = handle;
        this.life = Lifecycle.borrowed(HandleKind.DEVICE_CONTEXT);
        this.asyncEvents = new AsyncEvents(handle);
    }

    /** A context with an owner. */
    DeviceContext(ContextHandle handle, Lifecycle life, AsyncEvents asyncEvents) {
        this.handle = handle;
        this.life = life;
        this.asyncEvents = asyncEvents;
    }

    /**
     * The device's name (ibv_get_device_name(3)).
     *
     * @return such as {@code mlx5_0}
     */
    public String name() {
        return handle.name();
    }

    /**
     * Whether the data of {@link QueuePair#postSend(SendWorkRequest, java.nio.ByteBuffer, int, int)} is copied once, to where
     * it goes, as the software device does with memory that it reaches. Otherwise it is copied into the request first, and a
     * program whose data lies in registered memory is better off with entries. May be called by any thread, also after
     * close; does not block.
     *
     * @return whether it is
     */
    public boolean postsBuffers() {
        return handle.postsBuffers();
    }

    /**
     * What the device speaks.
     *
     * @return IB for InfiniBand and RoCE, IWARP, or another
     */
    public TransportType transport() {
        return handle.transport();
    }

    /**
     * Queries the device (ibv_query_device(3)). May make a system call.
     *
     * @return its attributes
     * @throws VerbsException when the query fails
     * @throws IllegalStateException after close
     */
    public DeviceAttributes attributes() throws VerbsException {
        life.enter();
        try {
            return handle.queryDevice();
        } finally {
            life.exit();
        }
    }

    /**
     * Queries a port (ibv_query_port(3)). Makes a system call.
     *
     * @param port its number, from 1
     * @return its attributes
     * @throws VerbsException when there is no such port ({@code EINVAL}), or the query fails
     * @throws IllegalArgumentException when the port is not 0 to 255
     * @throws IllegalStateException after close
     */
    public PortAttributes portAttributes(int port) throws VerbsException {
        UnsignedField.checkByte("port", port);
        life.enter();
        try {
            return handle.queryPort(port);
        } finally {
            life.exit();
        }
    }

    /**
     * Reads an entry of a port's GID table (ibv_query_gid(3)).
     *
     * @param port the port, from 1
     * @param index the entry, less than {@link PortAttributes#gidTableLength}
     * @return the identifier; {@link Gid#ZERO} when the entry is not in use
     * @throws VerbsException when there is no such port or entry
     * @throws IllegalArgumentException when the port is not 0 to 255
     * @throws IllegalStateException after close
     */
    public Gid gid(int port, int index) throws VerbsException {
        UnsignedField.checkByte("port", port);
        life.enter();
        try {
            return handle.queryGid(port, index);
        } finally {
            life.exit();
        }
    }

    /**
     * Queries the device with everything that newer versions of libibverbs tell (ibv_query_device_ex(3)); with an older
     * one, or a driver that can't, {@link #attributes} with zeros for the rest. May make a system call.
     *
     * @return its attributes
     * @throws VerbsException when the query fails
     * @throws IllegalStateException after close
     */
    public ExtendedDeviceAttributes extendedAttributes() throws VerbsException {
        life.enter();
        try {
            return handle.queryDeviceExtended();
        } finally {
            life.exit();
        }
    }

    /**
     * Reads an entry of a port's table of partition keys (ibv_query_pkey(3)). Makes a system call.
     *
     * @param port the port, from 1
     * @param index the entry, less than {@link PortAttributes#partitionKeyTableLength}
     * @return the key, 0 to 0xFFFF
     * @throws VerbsException when there is no such port or entry ({@code ENOENT} or {@code EINVAL}); iWARP has none
     * @throws IllegalArgumentException when the port is not 0 to 255
     * @throws IllegalStateException after close
     */
    public int partitionKey(int port, int index) throws VerbsException {
        UnsignedField.checkByte("port", port);
        life.enter();
        try {
            return handle.queryPartitionKey(port, index);
        } finally {
            life.exit();
        }
    }

    /**
     * Reads an entry of a port's GID table with its type and network interface (ibv_query_gid_ex(3)). Makes a system
     * call.
     *
     * @param port the port, from 1
     * @param index the entry, less than {@link PortAttributes#gidTableLength}
     * @return the entry
     * @throws VerbsException when there is no such port or entry ({@code EINVAL}), or the entry is not in use
     *     ({@code ENODATA})
     * @throws IllegalStateException after close
     */
    public GidEntry gidEntry(int port, int index) throws VerbsException {
        life.enter();
        try {
            return handle.queryGidEntry(port, index);
        } finally {
            life.exit();
        }
    }

    /**
     * Reads all GID tables of the device, the entries in use alone (ibv_query_gid_table(3)). Makes system calls.
     *
     * @return the entries of all ports
     * @throws VerbsException when the query fails
     * @throws IllegalStateException after close
     */
    public List<GidEntry> gidTable() throws VerbsException {
        life.enter();
        try {
            return handle.queryGidTable();
        } finally {
            life.exit();
        }
    }

    /**
     * Looks for the GID of an IP address. An index must never be guessed: which entry is which differs between drivers,
     * and changes with the addresses of the interface. Makes system calls.
     *
     * @param port the port, from 1
     * @param type the kind of GID: ROCE_V2 in general
     * @param address an address of the port's network interface; the scope of an IPv6 one does not count
     * @return the first such entry of the table; empty when there is none
     * @throws VerbsException when the query fails
     * @throws IllegalStateException after close
     */
    public Optional<GidEntry> findGid(int port, GidType type, InetAddress address) throws VerbsException {
        Gid wanted = Gid.of(address);
        return gidTable().stream()
                .filter(entry -> entry.portNumber() == port && entry.type() == type)
                .filter(entry -> entry.gid().equals(wanted))
                .findFirst();
    }

    /**
     * How many vectors there are for events of completion queues: an interrupt each, spread over processors.
     *
     * @return num_comp_vectors; 1 at least
     * @throws IllegalStateException after close
     */
    public int completionVectors() {
        life.enter();
        try {
            return handle.completionVectors();
        } finally {
            life.exit();
        }
    }

    /**
     * The descriptor that is readable while an asynchronous event is queued, to be waited for. {@code O_NONBLOCK} and
     * {@code FD_CLOEXEC} are set; for a borrowed context from the first call of this method or of
     * {@link #takeAsyncEvent} on, since nobody else is known to read it: librdmacm does not.
     *
     * @return its number; it means nothing after close
     * @throws VerbsException when its flags can't be set
     * @throws IllegalStateException after close
     */
    public int asyncFileDescriptor() throws VerbsException {
        life.enter();
        try {
            return handle.asyncFileDescriptor();
        } finally {
            life.exit();
        }
    }

    /**
     * Takes an asynchronous event (ibv_get_async_event(3)) and finds out what it is about. One that is about an object
     * being closed is acknowledged and passed over; one about an object that was not made here, or whose creation has
     * not returned yet, is acknowledged and told without it. All events of a context arrive here, whoever made the
     * objects, so a context that is shared has one taker. Does not block.
     *
     * @return the event, to be closed by the caller; null when none is queued ({@code EAGAIN})
     * @throws VerbsException when it fails, as when the device is gone ({@code EIO})
     * @throws IllegalStateException after close
     */
    public AsyncEvent takeAsyncEvent() throws VerbsException {
        life.enter();
        try {
            return asyncEvents.take();
        } finally {
            life.exit();
        }
    }

    /**
     * Waits for an asynchronous event and takes it, as {@link #takeAsyncEvent} does (ibv_get_async_event(3)). Blocks; a virtual
     * thread keeps its carrier meanwhile.
     *
     * @param timeoutMillis how long to wait; 0 looks only
     * @return the event, to be closed by the caller; null when the time is over
     * @throws IOException when taking or waiting fails
     * @throws IllegalArgumentException when the timeout is negative
     * @throws IllegalStateException after close, also while waiting
     */
    public AsyncEvent awaitAsyncEvent(int timeoutMillis) throws IOException {
        return Waiting.await(life, asyncFileDescriptor(), timeoutMillis, this::takeAsyncEvent);
    }

    /**
     * Finds the path to where a datagram came from (ibv_init_ah_from_wc(3)). Makes system calls, since it searches the
     * port's GID table.
     *
     * @param port the port that it came in, from 1
     * @param completions the completion of its receive
     * @param entry which entry
     * @param header the beginning of the receive buffer, 40 bytes at least, where the global route header stands; may be
     *     null when the entry has none
     * @return the path, for {@link ProtectionDomain#createAddressHandle(AddressHandleAttributes)}
     * @throws VerbsException when the header's destination is not in the port's GID table
     * @throws IllegalArgumentException when the port is not 0 to 255, or the header is too short, or null though the
     *     entry has one
     * @throws IndexOutOfBoundsException when there is no such entry
     * @throws IllegalStateException after close, of the completions too
     */
    public AddressHandleAttributes pathToSender(int port, WorkCompletions completions, int entry, MemorySegment header)
            throws VerbsException {
        UnsignedField.checkByte("port", port);
        MemorySegment completion = completions.entryWithHeader(entry, header);
        life.enter();
        try {
            return handle.pathToSender(port, completion, header);
        } finally {
            life.exit();
        }
    }

    /**
     * Allocates a protection domain (ibv_alloc_pd(3)). Makes a system call.
     *
     * @return the domain, to be closed by the caller
     * @throws VerbsException when the device has none left
     * @throws IllegalStateException after close
     */
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        life.enter();
        try {
            return new ProtectionDomain(this, handle.allocateProtectionDomain());
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a completion channel (ibv_create_comp_channel(3)). Makes a system call and takes a descriptor.
     *
     * @return the channel, to be closed by the caller
     * @throws VerbsException when there is no descriptor left ({@code EMFILE}, {@code ENFILE})
     * @throws IllegalStateException after close
     */
    public CompletionChannel createCompletionChannel() throws VerbsException {
        life.enter();
        try {
            return new CompletionChannel(this, handle.createCompletionChannel());
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a completion queue (ibv_create_cq(3)). Makes a system call.
     *
     * @param depthEntries how many completions it must hold: all that can be outstanding, since a queue that overruns
     *     fails
     * @param channel where its events go, made by this context; null when it is only polled
     * @return the queue, to be closed by the caller
     * @throws VerbsException when the depth is more than the device allows ({@code EINVAL}), or memory can't be locked
     *     ({@code ENOMEM})
     * @throws IllegalArgumentException when the depth is less than 1, or the channel belongs to another context
     * @throws IllegalStateException after close, of the channel too
     */
    public CompletionQueue createCompletionQueue(int depthEntries, CompletionChannel channel) throws VerbsException {
        return createCompletionQueue(depthEntries, channel, 0);
    }

    /**
     * Creates a completion queue whose events use a vector (ibv_create_cq(3)). Makes a system call.
     *
     * @param depthEntries how many completions it must hold: all that can be outstanding, since a queue that overruns
     *     fails
     * @param channel where its events go, made by this context; null when it is only polled
     * @param vector which vector signals them, less than {@link #completionVectors}
     * @return the queue, to be closed by the caller
     * @throws VerbsException when the depth is more than the device allows, or there is no such vector ({@code EINVAL}),
     *     or memory can't be locked ({@code ENOMEM})
     * @throws IllegalArgumentException when the depth is less than 1, the vector is negative, or the channel belongs to
     *     another context
     * @throws IllegalStateException after close, of the channel too
     */
    public CompletionQueue createCompletionQueue(int depthEntries, CompletionChannel channel, int vector)
            throws VerbsException {
        if (vector < 0) {
            throw new IllegalArgumentException("vector " + vector + " is negative");
        }
        if (depthEntries < 1) {
            throw new IllegalArgumentException("depthEntries " + depthEntries + " is less than 1");
        }
        if (channel == null) {
            life.enter();
            try {
                return new CompletionQueue(this, handle.createCompletionQueue(depthEntries, null, 0, vector));
            } finally {
                life.exit();
            }
        }
        if (channel.context() != this) {
            throw new IllegalArgumentException("the completion channel belongs to another device context");
        }
        return channel.createCompletionQueue(depthEntries, vector);
    }

    /**
     * Opens a domain of extended reliable connections (ibv_open_xrcd(3), formerly ibv_open_xrc_domain(3)). Makes a
     * system call.
     *
     * @param fileDescriptor a descriptor of the file that the domain is associated with, which may be closed
     *     afterwards; or {@link XrcDomain#NO_FILE}
     * @param flags bits of {@link XrcDomain#CREATE} and {@link XrcDomain#EXCLUSIVE}
     * @return the domain, to be closed by the caller
     * @throws VerbsException when the device or its driver has no such connections ({@code EOPNOTSUPP}), the file has no
     *     domain and none shall be created ({@code EAGAIN}), it has one and none shall ({@code EINVAL}), or there is
     *     no such descriptor ({@code EBADF})
     * @throws IllegalArgumentException when the descriptor is less than -1 or a flag is unknown
     * @throws IllegalStateException after close
     */
    public XrcDomain openXrcDomain(int fileDescriptor, int flags) throws VerbsException {
        if (fileDescriptor < XrcDomain.NO_FILE) {
            throw new IllegalArgumentException("fileDescriptor " + fileDescriptor + " is less than -1");
        }
        if ((flags & ~(XrcDomain.CREATE | XrcDomain.EXCLUSIVE)) != 0) {
            throw new IllegalArgumentException("unknown bits in flags 0x" + Integer.toHexString(flags));
        }
        life.enter();
        try {
            return new XrcDomain(this, handle.openXrcDomain(fileDescriptor, flags));
        } finally {
            life.exit();
        }
    }

    /**
     * Opens the domain of extended reliable connections that is associated with a file (ibv_open_xrcd(3)), for those
     * who have a path and no descriptor. Makes system calls.
     *
     * @param file an existing file that this process may read
     * @param flags as above
     * @return the domain, to be closed by the caller
     * @throws IOException when the file can't be opened, or as above a {@link VerbsException}
     * @throws IllegalArgumentException when a flag is unknown
     * @throws IllegalStateException after close
     */
    public XrcDomain openXrcDomain(Path file, int flags) throws IOException {
        int fileDescriptor = FileDescriptors.openForReading(file);
        try {
            return openXrcDomain(fileDescriptor, flags);
        } finally {
            FileDescriptors.close(fileDescriptor);
        }
    }

    /** Creates a queue with a channel; the caller is inside the channel, and so this context is open. */
    CompletionQueue newCompletionQueue(
            int depthEntries, int vector, CompletionChannel channel, CompletionChannelHandle channelHandle, int slot)
            throws VerbsException {
        return new CompletionQueue(
                this, handle.createCompletionQueue(depthEntries, channelHandle, slot + 1L, vector), channel, slot);
    }

    /**
     * The device's name.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        return "DeviceContext[" + name() + "]";
    }
}
