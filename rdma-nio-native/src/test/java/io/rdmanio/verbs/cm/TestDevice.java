package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.TestedDevice;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The device that the tests of the verbs run on, and how they wait for its events: in the lab the one whose address
 * {@code io.rdmanio.test.address} gives; the software device with {@code io.rdmanio.test.engine=soft}.
 */
public final class TestDevice {
    static final int TIMEOUT_MILLIS = 10_000;

    private static final String ENGINE = "io.rdmanio.test.engine";
    private static final String PROPERTY = "io.rdmanio.test.address";
    private static final DeviceContext DEVICE = useOnce();
    private static final TestedDevice KIND = kindOf(DEVICE);

    private TestDevice() {}

    /** The engine under test: the system's, which has the lab's devices, or the software device. */
    public static RdmaEngine engine() {
        return isSoft() ? RdmaEngine.soft() : RdmaEngine.system();
    }

    private static boolean isSoft() {
        String name = System.getProperty(ENGINE, "ffm");
        return switch (name) {
            case "soft" -> true;
            case "ffm" -> false;
            default -> throw new IllegalStateException("-D" + ENGINE + "=" + name + " is neither ffm nor soft");
        };
    }

    /** The connection manager keeps a device open once it was used, so use it before anybody counts descriptors. */
    private static DeviceContext useOnce() {
        try (EventChannel channel = EventChannel.open(engine());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            id.bind(address(0));
            return id.device();
        } catch (VerbsException e) {
            throw new IllegalStateException("the device at " + System.getProperty(PROPERTY) + " can't be used", e);
        }
    }

    private static TestedDevice kindOf(DeviceContext device) {
        if (isSoft()) {
            return TestedDevice.SOFT;
        }
        return device.transport() == TransportType.IWARP ? TestedDevice.IWARP : TestedDevice.ROCE;
    }

    /** Makes sure that the device is used before anybody counts descriptors. */
    public static void use() {
        assertThat(DEVICE.name()).isNotEmpty();
    }

    /**
     * Lets the connection manager know a device that was added to the guest, before anybody counts descriptors.
     * librdmacm 44 orders its devices by the lower halves of their addresses in memory, and looks for the new ones in
     * this list as if it were ordered by the whole; it may take a device that it has open for a removed one then, close
     * it, and open it again at the next use.
     */
    public static void useNew(InetAddress address) throws VerbsException {
        for (InetSocketAddress each : List.of(new InetSocketAddress(address, 0), address(0))) {
            try (EventChannel channel = EventChannel.open(engine());
                    CommunicationId id = channel.createId(PortSpace.TCP)) {
                id.bind(each);
            }
        }
    }

    /** The device's address. */
    public static InetSocketAddress address(int port) {
        String address = System.getProperty(PROPERTY, isSoft() ? "127.0.0.1" : null);
        if (address == null) {
            throw new IllegalStateException("tests tagged rdma need -D" + PROPERTY + "; lab/test.sh gives it");
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(address), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The device's name. */
    public static String name() {
        return DEVICE.name();
    }

    /** Another address of the device. */
    static InetAddress secondAddress() throws UnknownHostException {
        return InetAddress.getByName(isSoft() ? "::1" : "fd77::1");
    }

    /** The names of all devices that are there. */
    static List<String> names() {
        return isSoft() ? List.of("soft0") : List.of("rxe0", "siw0");
    }

    /** Which of the tested devices it is. */
    public static TestedDevice kind() {
        return KIND;
    }

    /** Whether the device has a feature. */
    public static boolean has(Feature feature) {
        return feature.isOf(KIND);
    }

    /** Skips what follows, with the reason, on a device that lacks a feature. */
    static void assumeHas(Feature feature) {
        assumeTrue(
                has(feature),
                () -> "no " + feature.description() + ": "
                        + feature.reasonToLack(KIND).orElseThrow());
    }

    /** The next event, which must be of this type; the caller closes it. */
    static CommunicationEvent next(EventChannel channel, CommunicationEventType type) throws IOException {
        CommunicationEvent event = next(channel);
        if (event.type() != type) {
            event.close();
            throw new AssertionError("expected " + type + ", got " + event);
        }
        return event;
    }

    /** The next event; the caller closes it. */
    static CommunicationEvent next(EventChannel channel) throws IOException {
        CommunicationEvent event = channel.awaitEvent(TIMEOUT_MILLIS);
        if (event != null) {
            return event;
        }
        throw new AssertionError("no event within " + TIMEOUT_MILLIS + " ms");
    }

    /** The next asynchronous event of a device, which must be of this type; the caller closes it. */
    static AsyncEvent nextAsync(DeviceContext device, AsyncEventType type) throws IOException {
        AsyncEvent event = device.awaitAsyncEvent(TIMEOUT_MILLIS);
        if (event != null && event.type() == type) {
            return event;
        }
        if (event != null) {
            event.close();
            throw new AssertionError("expected " + type + ", got " + event);
        }
        throw new AssertionError("no asynchronous event within " + TIMEOUT_MILLIS + " ms");
    }

    /** Takes the next event, which must be of this type, and acknowledges it. */
    static void expect(EventChannel channel, CommunicationEventType type) throws IOException {
        next(channel, type).close();
    }

    /** An id that listens on a free port of the device. */
    static CommunicationId listen(EventChannel channel) throws VerbsException {
        return listen(channel, address(0));
    }

    /** An id that listens on an address. */
    static CommunicationId listen(EventChannel channel, InetSocketAddress address) throws VerbsException {
        CommunicationId listener = channel.createId(PortSpace.TCP);
        listener.bind(address);
        listener.listen(8);
        return listener;
    }

    /** An id whose route to a port of the device is resolved. */
    static CommunicationId resolve(EventChannel channel, int port) throws IOException {
        return resolve(channel, address(port));
    }

    /** An id whose route to an address is resolved. */
    static CommunicationId resolve(EventChannel channel, InetSocketAddress address) throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.resolveAddress(null, address, TIMEOUT_MILLIS);
        expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(TIMEOUT_MILLIS);
        expect(channel, CommunicationEventType.ROUTE_RESOLVED);
        return id;
    }

    /** Parameters that suit every device here. */
    static ConnectionParameters parameters() {
        return new ConnectionParameters(1, 1, 0, 7, 7, false, 0);
    }
}
