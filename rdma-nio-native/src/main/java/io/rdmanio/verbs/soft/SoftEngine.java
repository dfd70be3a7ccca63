package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.NodeType;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.CompletionQueueGroupHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.DeviceListHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.ListenerHandle;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The engine of the software device, which starts with the first thing that is opened and ends with the last. Stateless and
 * thread-safe.
 */
public final class SoftEngine implements VerbsEngine {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** Creates the engine; loads, links and starts nothing. */
    public SoftEngine() {}

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public Optional<String> unavailableReason() {
        String system = System.getProperty("os.name");
        if (!"Linux".equals(system)) {
            return Optional.of("The software device works on Linux, and this is " + system + ".");
        }
        if (!Files.isDirectory(DESCRIPTORS)) {
            return Optional.of("The software device needs " + DESCRIPTORS + "; mount /proc.");
        }
        try {
            // Links a function of the C library, if that is allowed.
            ProcessCredentials own = ProcessCredentials.own();
            assert own.processId() > 0;
            return Optional.empty();
        } catch (IllegalCallerException | LinkageError e) {
            return Optional.of("The C library can't be called (" + e.getMessage()
                    + "); allow it: --enable-native-access=io.rdmanio.verbs, or =ALL-UNNAMED on the class path.");
        }
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(
                new DeviceInfo(SoftContext.NAME, SoftHost.processToken(), TransportType.IB, NodeType.CHANNEL_ADAPTER));
    }

    @Override
    public ContextHandle open(String deviceName) throws VerbsException {
        if (!deviceName.equals(SoftContext.NAME)) {
            throw new VerbsException(
                    "ibv_open_device", deviceName, Errno.ENODEV, "The devices are: [" + SoftContext.NAME + "].");
        }
        return SharedDevice.openContext("ibv_open_device");
    }

    @Override
    public EventChannelHandle openEventChannel() throws VerbsException {
        String function = "rdma_create_event_channel";
        return SharedDevice.use(function, device -> SoftEventChannel.open(device, function));
    }

    @Override
    public boolean mayBlock() {
        return false;
    }

    @Override
    public boolean hasCompletionQueueGroups() {
        return true;
    }

    @Override
    public CompletionQueueGroupHandle openCompletionQueueGroup() throws VerbsException {
        return SharedDevice.use("a group of completion queues", SoftCompletionQueueGroup::new);
    }

    @Override
    public DeviceListHandle openDeviceList() throws VerbsException {
        return SharedDevice.use("rdma_get_devices", SoftDeviceList::new);
    }

    @Override
    public List<AddressInfo> lookUpAddresses(String node, String service, AddressInfoHints hints)
            throws VerbsException {
        return SoftAddressInfo.lookUp(node, service, hints);
    }

    @Override
    public CommunicationIdHandle createEndpoint(AddressInfo address) throws VerbsException {
        return SharedDevice.use("rdma_create_ep", device -> SoftEndpoints.connecting(device, address));
    }

    @Override
    public ListenerHandle createListener(AddressInfo address) throws VerbsException {
        return SharedDevice.use("rdma_create_ep", device -> SoftEndpoints.listening(device, address));
    }

    @Override
    public String eventString(int value) {
        return SoftEventChannel.eventString(value);
    }
}
