package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.NodeType;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.DeviceListHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.ListenerHandle;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The engine over libibverbs and librdmacm. Thread-safe. */
public final class FfmEngine implements VerbsEngine {
    private final Map<Long, FfmContext> borrowed = new ConcurrentHashMap<>();

    /** Creates the engine; loads and links nothing. */
    public FfmEngine() {}

    @Override
    public String name() {
        return "ffm";
    }

    @Override
    public Optional<String> unavailableReason() {
        return Availability.reason(this);
    }

    /** What is done with each device of the list. */
    private interface DeviceVisitor<T> {
        /** Returns null to go on with the next device. */
        T visit(long device, MemorySegment struct) throws VerbsException;
    }

    private static <T> T forEachDevice(DeviceVisitor<T> visitor) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long list = Downcall.call(Imports.IBV_GET_DEVICE_LIST.get(), frame, frame.argumentsAddress());
            if (list == 0 && frame.errno() == Errno.ENOSYS) {
                // The kernel has no RDMA at all.
                return null;
            }
            Status.checkPointer(list, frame, Imports.IBV_GET_DEVICE_LIST, "");
            int count = frame.arguments().get(ValueLayout.JAVA_INT, 0);
            try {
                MemorySegment devices = Pointers.array(list, count);
                for (int i = 0; i < count; i++) {
                    long device = devices.getAtIndex(ValueLayout.JAVA_LONG, i);
                    T result = visitor.visit(device, IbvDevice.STRUCT.at(device));
                    if (result != null) {
                        return result;
                    }
                }
                return null;
            } finally {
                Downcall.call(Imports.IBV_FREE_DEVICE_LIST.get(), frame, list);
            }
        }
    }

    @Override
    public List<DeviceInfo> devices() throws VerbsException {
        List<DeviceInfo> devices = new ArrayList<>();
        forEachDevice((device, struct) -> {
            devices.add(new DeviceInfo(
                    IbvDevice.NAME.of(struct).getString(0),
                    guid(device),
                    TransportType.of(IbvDevice.TRANSPORT_TYPE.get(struct)),
                    NodeType.of(IbvDevice.NODE_TYPE.get(struct))));
            return null;
        });
        return List.copyOf(devices);
    }

    private static long guid(long device) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long networkOrder = Downcall.call(Imports.IBV_GET_DEVICE_GUID.get(), frame, device);
            return Pointers.fromNetworkOrder(networkOrder);
        }
    }

    @Override
    public String describe(AsyncEventType type) {
        return Imports.IBV_EVENT_TYPE_STR.missing().isPresent()
                ? VerbsEngine.super.describe(type)
                : text(Imports.IBV_EVENT_TYPE_STR, type.value());
    }

    @Override
    public String describe(WorkCompletionStatus status) {
        return Imports.IBV_WC_STATUS_STR.missing().isPresent()
                ? VerbsEngine.super.describe(status)
                : text(Imports.IBV_WC_STATUS_STR, status.value());
    }

    /** What a function, which isn't missing, says about a number. */
    private static String text(ImportedFunction function, int value) {
        try (CallFrame frame = CallFrame.enter()) {
            return Pointers.string(Downcall.call(function.get(), frame, value));
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public ContextHandle open(String deviceName) throws VerbsException {
        ContextHandle opened = forEachDevice((device, struct) -> {
            if (!IbvDevice.NAME.of(struct).getString(0).equals(deviceName)) {
                return null;
            }
            try (CallFrame frame = CallFrame.enter()) {
                long context = Downcall.call(Imports.IBV_OPEN_DEVICE.get(), frame, device);
                Status.checkPointer(context, frame, Imports.IBV_OPEN_DEVICE, deviceName);
                FfmContext handle = new FfmContext(context);
                try {
                    handle.asyncFileDescriptor();
                } catch (VerbsException e) {
                    handle.destroy();
                    throw e;
                }
                return handle;
            }
        });
        if (opened == null) {
            throw new VerbsException(
                    Imports.IBV_OPEN_DEVICE.name(),
                    deviceName,
                    Errno.ENODEV,
                    "The devices are: "
                            + devices().stream().map(DeviceInfo::name).toList() + ".");
        }
        return opened;
    }

    @Override
    public EventChannelHandle openEventChannel() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long channel = Downcall.call(Imports.RDMA_CREATE_EVENT_CHANNEL.get(), frame);
            if (channel == 0) {
                int errno = frame.errno();
                // librdmacm tries several ways to open its node, and errno tells how the last one failed.
                String explanation = Availability.reason(this)
                        .orElseGet(() -> Cures.of(Imports.RDMA_CREATE_EVENT_CHANNEL.name(), errno));
                throw new VerbsException(Imports.RDMA_CREATE_EVENT_CHANNEL.name(), "", errno, explanation);
            }
            FfmEventChannel handle = new FfmEventChannel(this, channel);
            try {
                setFlags(handle.fileDescriptor());
            } catch (VerbsException e) {
                handle.destroy();
                throw e;
            }
            return handle;
        }
    }

    @Override
    public DeviceListHandle openDeviceList() throws VerbsException {
        return FfmDeviceList.open(this);
    }

    @Override
    public List<AddressInfo> lookUpAddresses(String node, String service, AddressInfoHints hints)
            throws VerbsException {
        return FfmAddressInfo.lookUp(node, service, hints);
    }

    @Override
    public CommunicationIdHandle createEndpoint(AddressInfo address) throws VerbsException {
        return FfmCommunicationId.createEndpoint(this, address);
    }

    @Override
    public ListenerHandle createListener(AddressInfo address) throws VerbsException {
        FfmCommunicationId id = FfmCommunicationId.createEndpoint(this, address);
        try {
            return new FfmListener(this, id);
        } catch (VerbsException e) {
            id.destroy();
            throw e;
        }
    }

    @Override
    public String eventString(int value) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            return Pointers.string(Downcall.call(Imports.RDMA_EVENT_STR.get(), frame, value));
        }
    }

    static void setFlags(int fileDescriptor) throws VerbsException {
        try {
            FileDescriptors.setNonBlockingAndCloseOnExec(fileDescriptor);
        } catch (IOException e) {
            VerbsException failure = new VerbsException("fcntl", String.valueOf(fileDescriptor), 0, e.getMessage());
            failure.initCause(e);
            throw failure;
        }
    }

    /** The one object for a context that the connection manager owns. */
    FfmContext borrowed(long context) {
        return borrowed.compute(
                context, (key, known) -> known != null && known.isStillCurrent() ? known : new FfmContext(key));
    }
}
