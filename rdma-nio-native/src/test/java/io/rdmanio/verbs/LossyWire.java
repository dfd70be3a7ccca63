package io.rdmanio.verbs;

import static io.rdmanio.verbs.ChildProcess.succeed;

import io.rdmanio.verbs.cm.TestDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two rxe devices at the two ends of a wire. The kernel passes on within itself what a device sends to its own address;
 * what one of these sends to the other goes out of its network interface and comes in at the other's, as between two
 * machines, and the interfaces can be told to lose packets. They stay in the guest, down and without addresses: the
 * connection manager keeps them open. Not thread-safe.
 */
final class LossyWire {
    private static final String PREFIX = "/24";

    final End left = new End("loss0", "lossif0", address("10.79.2.1"), "02:00:0a:4f:02:01");
    final End right = new End("loss1", "lossif1", address("10.79.2.2"), "02:00:0a:4f:02:02");

    /** One end of the wire: an rxe device, its network interface, and that one's addresses. */
    record End(String device, String networkInterface, InetAddress address, String hardwareAddress) {
        String addressAndPrefix() {
            return address.getHostAddress() + PREFIX;
        }
    }

    private static InetAddress address(String text) {
        return InetAddress.ofLiteral(text);
    }

    /** Makes the wire, once in a guest, and brings it up. */
    void create() throws IOException, InterruptedException {
        String name = left.networkInterface;
        if (!Files.exists(Path.of("/sys/class/net", name))) {
            succeed("ip", "link", "add", name, "type", "veth", "peer", "name", right.networkInterface);
            for (End end : ends()) {
                succeed("ip", "link", "set", end.networkInterface, "address", end.hardwareAddress);
                // Nothing but the tests' packets is to be on the wire.
                Files.writeString(setting("ipv6", end, "disable_ipv6"), "1");
                // What comes in comes from an address of this machine.
                Files.writeString(setting("ipv4", end, "accept_local"), "1");
                Files.writeString(setting("ipv4", end, "rp_filter"), "0");
                succeed("rdma", "link", "add", end.device, "type", "rxe", "netdev", end.networkInterface);
            }
        }
        restore();
    }

    private static Path setting(String family, End end, String name) {
        return Path.of("/proc/sys/net", family, "conf", end.networkInterface, name);
    }

    List<End> ends() {
        return List.of(left, right);
    }

    private End other(End end) {
        return end.equals(left) ? right : left;
    }

    /** Makes an end lose some of the packets that it sends. */
    void lose(End end, int percent) throws IOException, InterruptedException {
        succeed("tc", "qdisc", "replace", "dev", end.networkInterface, "root", "netem", "loss", percent + "%");
    }

    /** Nothing is lost any more. */
    void loseNothing() throws IOException, InterruptedException {
        for (End end : ends()) {
            if (ChildProcess.run(List.of("tc", "qdisc", "show", "dev", end.networkInterface))
                    .output()
                    .contains("netem")) {
                succeed("tc", "qdisc", "del", "dev", end.networkInterface, "root");
            }
        }
    }

    /** Takes its address away from an end. */
    void deleteAddress(End end) throws IOException, InterruptedException {
        succeed("ip", "addr", "del", end.addressAndPrefix(), "dev", end.networkInterface);
    }

    /** Loses nothing, and both ends have their addresses, each other's, and are ready. */
    void restore() throws IOException, InterruptedException {
        loseNothing();
        for (End end : ends()) {
            succeed("ip", "link", "set", end.networkInterface, "up");
            succeed("ip", "addr", "replace", end.addressAndPrefix(), "dev", end.networkInterface);
            End other = other(end);
            // Address resolution would wait for packets that are lost.
            succeed(
                    "ip",
                    "neigh",
                    "replace",
                    other.address.getHostAddress(),
                    "lladdr",
                    other.hardwareAddress,
                    "nud",
                    "permanent",
                    "dev",
                    end.networkInterface);
        }
        for (End end : ends()) {
            awaitReady(end);
        }
    }

    private static void awaitReady(End end) throws IOException, InterruptedException {
        try (OpenDeviceContext device = TestDevice.engine().open(end.device)) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (device.portAttributes(1).state() != PortState.ACTIVE
                    || device.findGid(1, GidType.ROCE_V2, end.address).isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw new IOException(end + " does not become ready");
                }
                Thread.sleep(10);
            }
        }
    }

    /** A queue pair at an end that is to send to the other end. */
    HandMade open(End end) throws VerbsException {
        OpenDeviceContext device = TestDevice.engine().open(end.device);
        return new HandMade(QueuePairType.RELIABLE_CONNECTED, HandMade.DEPTH, device, end.address, other(end).address);
    }

    /** One of the device's counters, such as "sent_pkts". */
    long counter(End end, String name) throws IOException, InterruptedException {
        // The kernel answers for so long what it answered before.
        Path directory = Path.of("/sys/class/infiniband", end.device, "ports/1/hw_counters");
        Thread.sleep(2 * number(directory.resolve("lifespan")));
        return number(directory.resolve(name));
    }

    /** One of the network interface's counters, such as "tx_bytes". */
    long statistic(End end, String name) throws IOException {
        return number(Path.of("/sys/class/net", end.networkInterface, "statistics", name));
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).trim());
    }

    /** Down, without addresses. */
    void retire() throws IOException, InterruptedException {
        for (End end : ends()) {
            succeed("ip", "addr", "flush", "dev", end.networkInterface);
            succeed("ip", "link", "set", end.networkInterface, "down");
        }
    }
}
