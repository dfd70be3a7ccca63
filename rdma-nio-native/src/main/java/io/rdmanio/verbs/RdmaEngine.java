package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An implementation of verbs and of the connection manager: {@link #system} is the one over libibverbs and librdmacm,
 * {@link #soft} the software device.
 * Nothing is loaded or linked before a method needs it. Thread-safe.
 */
public final class RdmaEngine {
    static {
        VerbsAccess.set(new Access());
    }

    private final VerbsEngine engine;
    private final Map<ContextHandle, DeviceContext> borrowed = new ConcurrentHashMap<>();

    private RdmaEngine(VerbsEngine engine) {
        this.engine = engine;
    }

    /**
     * The engine over the system's libraries, libibverbs and librdmacm, named {@code ffm}. Never throws and links
     * nothing.
     *
     * @return the engine, always the same
     */
    public static RdmaEngine system() {
        return SystemHolder.ENGINE;
    }

    /**
     * The engine of the software device, named {@code soft}: it connects the processes of one user on one Linux host through
     * shared memory, with nothing installed. Never throws and starts nothing before it is used.
     *
     * @return the engine, always the same
     */
    public static RdmaEngine soft() {
        return SoftHolder.ENGINE;
    }

    /**
     * Why this engine can't be used: a library or a symbol is missing, native access is denied, there is no device node
     * or no right to it, or no device. Looks anew with every call; loads the libraries.
     *
     * @return a sentence with cause and cure; empty when the engine can be used
     */
    public Optional<String> unavailableReason() {
        return engine.unavailableReason();
    }

    /**
     * The engine's name.
     *
     * @return such as {@code ffm}
     */
    public String name() {
        return engine.name();
    }

    /**
     * Lists the devices with name and GUID (ibv_get_device_list(3), ibv_get_device_name(3), ibv_get_device_guid(3), and
     * ibv_free_device_list(3) before it returns). Reads sysfs or netlink, so it is not for hot paths.
     *
     * @return the devices there are now; none is opened
     * @throws VerbsException when a library is missing or the list can't be read
     */
    public List<DeviceInfo> devices() throws VerbsException {
        return engine.devices();
    }

    /**
     * Describes an asynchronous event in words (ibv_event_type_str(3)), for messages. May load the library.
     *
     * @param type the event's type
     * @return the library's words; without the library the constant's name in C, {@code unknown} for UNKNOWN
     */
    public String describe(AsyncEventType type) {
        return engine.describe(type);
    }

    /**
     * Describes a completion's status in words (ibv_wc_status_str(3)), for messages. May load the library.
     *
     * @param status the status
     * @return the library's words; without the library the constant's name in C, {@code unknown} for UNKNOWN
     */
    public String describe(WorkCompletionStatus status) {
        return engine.describe(status);
    }

    /**
     * Opens a device (ibv_open_device(3)).
     *
     * @param deviceName its name in {@link #devices}
     * @return the context, to be closed by the caller
     * @throws VerbsException when there is no such device ({@code ENODEV}), or no right to its device node
     *     ({@code EACCES})
     */
    public OpenDeviceContext open(String deviceName) throws VerbsException {
        return new OpenDeviceContext(engine.open(deviceName));
    }

    /**
     * Whether making, connecting, accepting, disconnecting and destroying what a connection consists of may wait: for a
     * device, a driver or a peer. If not, it may be done by a thread that must not block; closing an id whose events are not
     * acknowledged waits all the same. Loads nothing.
     *
     * @return false for the software device
     */
    public boolean mayBlock() {
        return engine.mayBlock();
    }

    /**
     * Whether the engine has {@link CompletionQueueGroup}s. Loads nothing.
     *
     * @return true for the software device
     */
    public boolean hasCompletionQueueGroups() {
        return engine.hasCompletionQueueGroups();
    }

    private static final class SystemHolder {
        static final RdmaEngine ENGINE = new RdmaEngine(load("ffm"));
    }

    private static final class SoftHolder {
        static final RdmaEngine ENGINE = new RdmaEngine(load("soft"));
    }

    private static VerbsEngine load(String name) {
        return ServiceLoader.load(VerbsEngine.class, RdmaEngine.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .filter(engine -> engine.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the module lacks its own engine " + name));
    }

    private static final class Access extends VerbsAccess {
        @Override
        public RdmaEngine newEngine(VerbsEngine engine) {
            return new RdmaEngine(engine);
        }

        @Override
        public VerbsEngine engine(RdmaEngine engine) {
            return engine.engine;
        }

        @Override
        public DeviceContext borrowed(RdmaEngine engine, ContextHandle handle) {
            return engine.borrowed.computeIfAbsent(handle, DeviceContext::new);
        }

        @Override
        public QueuePair newQueuePair(
                QueuePairMaker maker, ProtectionDomain domain, QueuePairInitAttributes attributes, Lifecycle id)
                throws VerbsException {
            return QueuePair.create(maker, domain, attributes, id);
        }

        @Override
        public ProtectionDomain lentDomain(DeviceContext device, ProtectionDomainHandle handle, Lifecycle id) {
            return new ProtectionDomain(device, handle, id);
        }

        @Override
        public SharedReceiveQueue newSharedReceiveQueue(
                SharedReceiveQueueMaker maker,
                ProtectionDomain domain,
                SharedReceiveQueueAttributes wanted,
                XrcDomain xrcDomain,
                CompletionQueue queue,
                Lifecycle id)
                throws VerbsException {
            return SharedReceiveQueue.create(maker, domain, wanted, xrcDomain, queue, id);
        }

        @Override
        public Lifecycle life(SharedReceiveQueue queue) {
            return queue.life;
        }

        @Override
        public Lifecycle life(QueuePair queuePair) {
            return queuePair.life;
        }

        @Override
        public Lifecycle life(CompletionChannel channel) {
            return channel.life();
        }
    }
}
