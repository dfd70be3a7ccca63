package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A device of the kind under test that nobody else uses, on a network interface of its own, for tests that break it. It
 * stays in the guest, down and without an address: the connection manager keeps it open.
 */
final class PrivateDevice {
    static final String NAME = "fault0";
    static final String INTERFACE = "faultif0";

    private static final String ADDRESS = "10.79.0.1";

    private PrivateDevice() {}

    /** Makes the device, once in a guest, and brings it up. */
    static void create() throws IOException, InterruptedException {
        if (run("ip", "link", "show", INTERFACE).status() != 0) {
            must("ip", "link", "add", INTERFACE, "mtu", "9000", "type", "veth", "peer", "name", INTERFACE + "p");
            must("ip", "link", "set", INTERFACE + "p", "up");
            must("ip", "link", "set", INTERFACE, "up");
            must("rdma", "link", "add", NAME, "type", TestDevice.isIwarp() ? "siw" : "rxe", "netdev", INTERFACE);
        }
        restore();
    }

    /** Up, with its address. */
    static void restore() throws IOException, InterruptedException {
        must("ip", "link", "set", INTERFACE, "up");
        must("ip", "addr", "replace", ADDRESS + "/24", "dev", INTERFACE);
    }

    /** Down, without its address. */
    static void retire() throws IOException, InterruptedException {
        must("ip", "addr", "flush", "dev", INTERFACE);
        must("ip", "link", "set", INTERFACE, "down");
    }

    static void linkUp() throws IOException, InterruptedException {
        must("ip", "link", "set", INTERFACE, "up");
    }

    static void linkDown() throws IOException, InterruptedException {
        must("ip", "link", "set", INTERFACE, "down");
    }

    static void addAddress(String addressAndPrefix) throws IOException, InterruptedException {
        must("ip", "addr", "add", addressAndPrefix, "dev", INTERFACE);
    }

    static void deleteAddress(String addressAndPrefix) throws IOException, InterruptedException {
        must("ip", "addr", "del", addressAndPrefix, "dev", INTERFACE);
    }

    static InetSocketAddress address(int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(ADDRESS), port);
    }

    private static void must(String... command) throws IOException, InterruptedException {
        ChildProcess process = run(command);
        if (process.status() != 0) {
            throw new IOException(Arrays.toString(command) + ": " + process.output());
        }
    }

    private static ChildProcess run(String... command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(command));
        return ChildProcess.run(words);
    }
}
