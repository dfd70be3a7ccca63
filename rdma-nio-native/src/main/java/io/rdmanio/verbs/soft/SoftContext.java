package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.EventFd;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.AtomicCapability;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LinkLayer;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.PortState;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An open software device. It looks like a RoCE device with one port, whose GID table begins with the process's own GID
 * and goes on with the addresses of the host.
 *
 * <p>Thread safety: all methods may be called by any thread. The queue of asynchronous events is guarded by itself.
 */
final class SoftContext implements ContextHandle, QueueFactory {
    /** The device's name. */
    static final String NAME = "soft0";
    /** Whether inline data is copied once, to where it goes. */
    static final boolean POSTS_BUFFERS = true;
    /** The one port. */
    static final int PORT = 1;

    /** The first half of a process's GID; the second is its host's token. */
    private static final long GID_PREFIX = 0xfd52_646d_6150_0000L;

    private static final int MAX_QUEUE_PAIRS = 1 << 20;
    private static final int MAX_OBJECTS = 1 << 20;
    private static final int MAX_GIDS = 256;
    // Reading the addresses of the host takes a while, and programs read entry by entry.
    private static final long GID_TABLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int FULL_PARTITION_KEY = 0xFFFF;
    private static final int PAGE_SIZES = 0xFFFFF000;
    // What ibv_devinfo shows of RoCE at 100 Gbit/s: 4 lanes of 25 Gbit/s, link up.
    private static final int WIDTH_4X = 2;
    private static final int SPEED_EDR = 32;
    private static final int PHYSICAL_LINK_UP = 5;
    private static final long MAX_MESSAGE_BYTES = Integer.MAX_VALUE;

    private final SoftHost host;
    private final EventFd asyncEvent;
    private final ArrayDeque<TakenAsyncEvent> asyncEvents = new ArrayDeque<>();
    private final AtomicLong elements = new AtomicLong();
    private volatile GidTable gidTable;

    /** The GID table as it was at a time. */
    private record GidTable(long readAtNanos, List<GidEntry> entries) {}

    /**
     * Opens it.
     *
     * @param host the host, of which this takes over one use
     * @throws VerbsException when there is no descriptor
     */
    SoftContext(SoftHost host) throws VerbsException {
        this.host = host;
        try {
            asyncEvent = new EventFd();
        } catch (IOException e) {
            throw failure("ibv_open_device", NAME, Errno.EMFILE, e);
        }
    }

    SoftHost host() {
        return host;
    }

    /** An exception of the device with its cause. */
    static VerbsException failure(String operation, String arguments, int errno, Exception cause) {
        VerbsException failure = new VerbsException(operation, arguments, errno, String.valueOf(cause.getMessage()));
        failure.initCause(cause);
        return failure;
    }

    // Identity.

    /** The GID of a process by its host's token. */
    static Gid gid(long token) {
        return new Gid(GID_PREFIX, token);
    }

    /**
     * The host that a GID leads to.
     *
     * @param gid a process's GID, or the address of this host, which means this very process
     * @param ownToken this process's token
     * @return the token; 0 when the GID is neither
     */
    static long token(Gid gid, long ownToken) {
        if (gid.subnetPrefix() == GID_PREFIX) {
            return gid.interfaceId();
        }
        return isAddress(gid) ? ownToken : 0;
    }

    private static boolean isAddress(Gid gid) {
        return readTable(0).stream().skip(1).anyMatch(entry -> entry.gid().equals(gid));
    }

    private static List<GidEntry> readTable(long token) {
        List<GidEntry> entries = new ArrayList<>();
        entries.add(new GidEntry(gid(token), 0, PORT, GidType.ROCE_V2, 0));
        try {
            for (NetworkInterface one : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                for (InetAddress address : Collections.list(one.getInetAddresses())) {
                    if (entries.size() < MAX_GIDS) {
                        entries.add(
                                new GidEntry(Gid.of(address), entries.size(), PORT, GidType.ROCE_V2, one.getIndex()));
                    }
                }
            }
        } catch (SocketException e) {
            System.getLogger(SoftContext.class.getName())
                    .log(System.Logger.Level.DEBUG, "the addresses of the host can't be listed", e);
        }
        return List.copyOf(entries);
    }

    private List<GidEntry> table() {
        GidTable current = gidTable;
        long now = System.nanoTime();
        if (current == null || now - current.readAtNanos() > GID_TABLE_NANOS) {
            current = new GidTable(now, readTable(host.token()));
            gidTable = current;
        }
        return current.entries();
    }

    /** How many entries the GID table has. */
    int gidCount() {
        return table().size();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public TransportType transport() {
        return TransportType.IB;
    }

    // Queries.

    @Override
    public DeviceAttributes queryDevice() {
        return new DeviceAttributes(
                "1",
                host.token(),
                host.token(),
                Long.MAX_VALUE,
                Integer.toUnsignedLong(PAGE_SIZES),
                0,
                0,
                1,
                MAX_QUEUE_PAIRS,
                SoftQueuePair.MAX_WORK_REQUESTS,
                0,
                SoftQueuePair.MAX_SGES,
                SoftQueuePair.MAX_SGES,
                MAX_OBJECTS,
                SoftCompletionQueue.MAX_ENTRIES,
                KeyTable.SLOTS - 1,
                MAX_OBJECTS,
                QueuePairSettings.MAX_READ_ATOMICS,
                0,
                QueuePairSettings.MAX_READ_ATOMICS * MAX_QUEUE_PAIRS,
                QueuePairSettings.MAX_READ_ATOMICS,
                0,
                AtomicCapability.GLOBAL,
                0,
                0,
                KeyTable.SLOTS - 1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                MAX_OBJECTS,
                SoftSharedReceiveQueue.MAX_WORK_REQUESTS,
                SoftSharedReceiveQueue.MAX_SGES,
                1,
                0,
                1);
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        requirePort("ibv_query_port", port);
        return new PortAttributes(
                PortState.ACTIVE,
                QueuePairSettings.MTU_BYTES,
                QueuePairSettings.MTU_BYTES,
                gidCount(),
                0,
                MAX_MESSAGE_BYTES,
                0,
                0,
                1,
                0,
                0,
                0,
                1,
                0,
                0,
                0,
                WIDTH_4X,
                SPEED_EDR,
                PHYSICAL_LINK_UP,
                LinkLayer.ETHERNET,
                0,
                0);
    }

    private static void requirePort(String operation, int port) throws VerbsException {
        if (port != PORT) {
            throw new VerbsException(
                    operation, NAME + ", port=" + port, Errno.EINVAL, "The device has one port, number 1.");
        }
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        return entry("ibv_query_gid", port, index).gid();
    }

    private GidEntry entry(String operation, int port, int index) throws VerbsException {
        requirePort(operation, port);
        List<GidEntry> table = table();
        if (index < 0 || index >= table.size()) {
            throw new VerbsException(
                    operation,
                    NAME + ", port=" + port + ", index=" + index,
                    Errno.ENODATA,
                    "The port has entries from 0 to " + (table.size() - 1) + ".");
        }
        return table.get(index);
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws VerbsException {
        return entry("ibv_query_gid_ex", port, index);
    }

    @Override
    public List<GidEntry> queryGidTable() {
        return table();
    }

    @Override
    public int queryPartitionKey(int port, int index) throws VerbsException {
        requirePort("ibv_query_pkey", port);
        if (index != 0) {
            throw new VerbsException(
                    "ibv_query_pkey",
                    NAME + ", port=" + port + ", index=" + index,
                    Errno.EINVAL,
                    "The table has one entry.");
        }
        return FULL_PARTITION_KEY;
    }

    @Override
    public AddressHandleAttributes pathToSender(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        if (header != null) {
            return ContextHandle.super.pathToSender(port, completion, header);
        }
        return AddressHandleAttributes.local(port, WorkCompletionLayout.SOURCE_LOCAL_ID.get(completion))
                .withServiceLevel(WorkCompletionLayout.SERVICE_LEVEL.get(completion))
                .withSourcePathBits(WorkCompletionLayout.DESTINATION_PATH_BITS.get(completion));
    }

    // Asynchronous events.

    /** A number for an object that asynchronous events may be about. */
    long nextElement() {
        return elements.incrementAndGet();
    }

    /** An asynchronous event happens. */
    void raise(TakenAsyncEvent event) {
        synchronized (asyncEvents) {
            asyncEvents.add(event);
        }
        asyncEvent.signal();
    }

    /** An object is gone, and with it its events. */
    void forget(long element) {
        synchronized (asyncEvents) {
            asyncEvents.removeIf(event -> event.element() == element);
            if (asyncEvents.isEmpty()) {
                asyncEvent.drain();
            }
        }
    }

    @Override
    public int asyncFileDescriptor() {
        return asyncEvent.fileDescriptor();
    }

    @Override
    public TakenAsyncEvent takeAsyncEvent() {
        synchronized (asyncEvents) {
            TakenAsyncEvent event = asyncEvents.poll();
            if (asyncEvents.isEmpty()) {
                asyncEvent.drain();
            }
            return event;
        }
    }

    // Objects.

    @Override
    public ProtectionDomainHandle allocateProtectionDomain() {
        // Its keys are the host's.
        host.retain();
        return new SoftProtectionDomain(host.keys(), this, host::release);
    }

    @Override
    public boolean postsBuffers() {
        return POSTS_BUFFERS;
    }

    @Override
    public CompletionChannelHandle createCompletionChannel() throws VerbsException {
        return new SoftCompletionChannel();
    }

    @Override
    public CompletionQueueHandle createCompletionQueue(int depthEntries, CompletionChannelHandle channel, long token)
            throws VerbsException {
        if (depthEntries < 1 || depthEntries > SoftCompletionQueue.MAX_ENTRIES) {
            throw new VerbsException(
                    "ibv_create_cq",
                    NAME + ", entries=" + depthEntries,
                    Errno.EINVAL,
                    "A queue holds 1 to " + SoftCompletionQueue.MAX_ENTRIES
                            + " completions (maxCompletionQueueEntries).");
        }
        return new SoftCompletionQueue(this, depthEntries, (SoftCompletionChannel) channel, token);
    }

    @Override
    public XrcDomainHandle openXrcDomain(int fileDescriptor, int flags) throws VerbsException {
        throw new VerbsException("ibv_open_xrcd", NAME, Errno.EOPNOTSUPP, "The device does not have this operation.");
    }

    @Override
    public QueuePairHandle createQueuePair(SoftProtectionDomain domain, QueuePairRequest request)
            throws VerbsException {
        return new SoftQueuePair(this, domain, request);
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            SoftProtectionDomain domain, SharedReceiveQueueAttributes wanted) throws VerbsException {
        return new SoftSharedReceiveQueue(this, domain, wanted);
    }

    @Override
    public void destroy() {
        asyncEvent.close();
        host.release();
    }
}
