package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import io.rdmanio.verbs.spi.XrcDomainHandle;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The context that ids have and nobody closes. It is one object for the whole life of the process, as the object in front
 * of it is, and leads to the context that the connection manager has open now. Immutable and thread-safe.
 */
final class SharedContext implements ContextHandle {
    static final SharedContext INSTANCE = new SharedContext();

    private SharedContext() {}

    private static ContextHandle present(String function) throws VerbsException {
        return SharedDevice.presentContext(function);
    }

    @Override
    public String name() {
        return SoftContext.NAME;
    }

    @Override
    public TransportType transport() {
        return TransportType.IB;
    }

    @Override
    public DeviceAttributes queryDevice() throws VerbsException {
        return present("ibv_query_device").queryDevice();
    }

    @Override
    public ExtendedDeviceAttributes queryDeviceExtended() throws VerbsException {
        return present("ibv_query_device_ex").queryDeviceExtended();
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        return present("ibv_query_port").queryPort(port);
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        return present("ibv_query_gid").queryGid(port, index);
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws VerbsException {
        return present("ibv_query_gid_ex").queryGidEntry(port, index);
    }

    @Override
    public List<GidEntry> queryGidTable() throws VerbsException {
        return present("ibv_query_gid_table").queryGidTable();
    }

    @Override
    public int queryPartitionKey(int port, int index) throws VerbsException {
        return present("ibv_query_pkey").queryPartitionKey(port, index);
    }

    @Override
    public int asyncFileDescriptor() throws VerbsException {
        return present("ibv_get_async_event").asyncFileDescriptor();
    }

    @Override
    public TakenAsyncEvent takeAsyncEvent() throws VerbsException {
        return present("ibv_get_async_event").takeAsyncEvent();
    }

    @Override
    public ProtectionDomainHandle allocateProtectionDomain() throws VerbsException {
        return SharedDevice.allocateProtectionDomain("ibv_alloc_pd");
    }

    @Override
    public boolean postsBuffers() {
        return SoftContext.POSTS_BUFFERS;
    }

    @Override
    public CompletionChannelHandle createCompletionChannel() throws VerbsException {
        return present("ibv_create_comp_channel").createCompletionChannel();
    }

    @Override
    public CompletionQueueHandle createCompletionQueue(int depthEntries, CompletionChannelHandle channel, long token)
            throws VerbsException {
        return present("ibv_create_cq").createCompletionQueue(depthEntries, channel, token);
    }

    @Override
    public XrcDomainHandle openXrcDomain(int fileDescriptor, int flags) throws VerbsException {
        return present("ibv_open_xrcd").openXrcDomain(fileDescriptor, flags);
    }

    @Override
    public AddressHandleAttributes pathToSender(int port, MemorySegment completion, MemorySegment header)
            throws VerbsException {
        return present("ibv_init_ah_from_wc").pathToSender(port, completion, header);
    }

    @Override
    public void destroy() throws VerbsException {
        throw new IllegalStateException("nobody closes the context of the ids");
    }
}
