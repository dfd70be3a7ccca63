package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
        if (ChildProcess.run(List.of("ip", "link", "show", INTERFACE)).status() != 0) {
            ChildProcess.succeed(
                    "ip", "link", "add", INTERFACE, "mtu", "9000", "type", "veth", "peer", "name", INTERFACE + "p");
            ChildProcess.succeed("ip", "link", "set", INTERFACE + "p", "up");
            ChildProcess.succeed("ip", "link", "set", INTERFACE, "up");
            ChildProcess.succeed(
                    "rdma", "link", "add", NAME, "type", TestDevice.kind().driver(), "netdev", INTERFACE);
        }
        restore();
    }

    /** Up, with its address. */
    static void restore() throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "link", "set", INTERFACE, "up");
        ChildProcess.succeed("ip", "addr", "replace", ADDRESS + "/24", "dev", INTERFACE);
    }

    /** Down, without its address. */
    static void retire() throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "addr", "flush", "dev", INTERFACE);
        ChildProcess.succeed("ip", "link", "set", INTERFACE, "down");
    }

    static void linkUp() throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "link", "set", INTERFACE, "up");
    }

    static void linkDown() throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "link", "set", INTERFACE, "down");
    }

    /** Up, without its address. */
    static void deleteAddress() throws IOException, InterruptedException {
        deleteAddress(ADDRESS + "/24");
    }

    static void addAddress(String addressAndPrefix) throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "addr", "add", addressAndPrefix, "dev", INTERFACE);
    }

    static void deleteAddress(String addressAndPrefix) throws IOException, InterruptedException {
        ChildProcess.succeed("ip", "addr", "del", addressAndPrefix, "dev", INTERFACE);
    }

    static InetSocketAddress address(int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(ADDRESS), port);
    }
}
