package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * A host of the software device beside the one of this process, with an engine of its own: a process of its own as far as
 * others can tell. Thread-safe.
 */
final class AnotherHost implements VerbsEngine, ConnectionDevice, AutoCloseable {
    private final SoftHost host = SoftHost.startAnother();
    private final SoftContext context;
    private final SoftProtectionDomain domain;
    private final RdmaEngine engine = VerbsAccess.get().newEngine(this);

    AnotherHost() throws IOException {
        context = new SoftContext(host);
        domain = SoftProtectionDomain.lent(host.keys(), context);
    }

    RdmaEngine engine() {
        return engine;
    }

    SoftHost host() {
        return host;
    }

    @Override
    public String name() {
        return "another soft";
    }

    @Override
    public Optional<String> unavailableReason() {
        return Optional.empty();
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    @Override
    public ContextHandle open(String deviceName) throws VerbsException {
        throw new VerbsException("ibv_open_device", deviceName, Errno.ENODEV, "");
    }

    @Override
    public EventChannelHandle openEventChannel() throws VerbsException {
        return SoftEventChannel.open(this, "rdma_create_event_channel");
    }

    @Override
    public ConnectionManager connections() {
        return host.connections();
    }

    @Override
    public void retain() {
        host.retain();
    }

    @Override
    public void release() {
        host.release();
    }

    @Override
    public ContextHandle context() {
        return context;
    }

    @Override
    public ProtectionDomainHandle domain() {
        return domain;
    }

    @Override
    public int maxReads() {
        return QueuePairSettings.MAX_READ_ATOMICS;
    }

    @Override
    public NewQueuePair createQueuePair(ProtectionDomainHandle owner, QueuePairRequest request) throws VerbsException {
        QueuePairHandle handle = owner.createQueuePair(request);
        try {
            handle.modify(IdAttributes.initialized(null));
            return new NewQueuePair(handle, (SoftQueuePair) handle);
        } catch (VerbsException e) {
            handle.destroy();
            throw e;
        }
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle owner, SharedReceiveQueueAttributes wanted) throws VerbsException {
        return owner.createSharedReceiveQueue(wanted);
    }

    /** Ends the host's first use: the context's. */
    @Override
    public void close() {
        context.destroy();
    }
}
