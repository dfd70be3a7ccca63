package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Connections that cannot be had: each attempt, blocking or selecting, ends soon and with an exception that says why; the
 * JVM neither hangs nor crashes, and further attempts leave no descriptor. What lacks a device or its library fails only
 * where RDMA is demanded, and else runs over the software device.
 */
@Tag("rdma")
class FailureTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final long FIRST_USE_MILLIS = 10_000;
    /** To a port where nobody listens, if it matters at all. */
    private static final String PORT = "19999";

    private static final String RDMA_DEMANDED = "-Dio.rdmanio.policy=rdma";
    private static final String LIBRARY_MISSING = "-Dio.rdmanio.ibverbs.library=libnothere.so.9";
    /** With the limit of 64 KiB, and without the privilege to exceed it, as in a container. */
    private static final String SMALL_MEMLOCK =
            "ulimit -l 64; exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$@\"";

    @RegisterExtension
    final Guest guest = new Guest();

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void connect_nobodyListens_isRefused(Device device) throws Exception {
        Peer client = guest.java("ConnectAttempt", device.address(), PORT, "--times=5");
        assertFailures(client, 5_000, "java\\.net\\.ConnectException: Connection refused.*");
    }

    /** Whatever the device: the kernel asks in vain who has the address. */
    @Test
    @Tag("once")
    void connect_addressOfNobody_isUnreachable() throws Exception {
        Peer client = guest.java("ConnectAttempt", Device.ROCE.addressOfNobody(), PORT);
        assertFailures(client, 10_000, "java\\.net\\.(ConnectException|NoRouteToHostException|SocketException): .+");
    }

    @Test
    @Tag("once")
    void connect_noRouteToAddress_isUnreachable() throws Exception {
        Peer client = guest.java("ConnectAttempt", "192.0.2.1", PORT);
        assertFailures(client, 10_000, "java\\.net\\.(ConnectException|NoRouteToHostException|SocketException): .+");
    }

    @Test
    @Tag("once")
    void connect_routeWithoutRdmaDevice_isUnreachable() throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP takes minutes here");
        guest.run("ip", "link", "add", "plain0", "type", "dummy");
        try {
            guest.run("ip", "addr", "add", "10.79.0.1/24", "dev", "plain0");
            guest.run("ip", "link", "set", "plain0", "up");
            Peer client = guest.java("ConnectAttempt", "10.79.0.2", PORT);
            assertFailures(
                    client, 10_000, "java\\.net\\.(ConnectException|NoRouteToHostException|SocketException): .+");
        } finally {
            guest.run("ip", "link", "del", "plain0");
        }
    }

    @Test
    @Tag("once")
    void connectAndListen_noDeviceAndRdmaDemanded_fail() throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP needs no RDMA device");
        deleteDevices();
        try {
            Peer client =
                    guest.javaWith(List.of(RDMA_DEMANDED), "ConnectAttempt", Device.ROCE.address(), PORT, "--times=3");
            Peer server = guest.javaWith(List.of(RDMA_DEMANDED), "Sink", "listen", Device.ROCE.address(), "0");
            assertFailures(client, 5_000, "java\\.\\S+Exception: .+");
            assertThat(client.output()).containsIgnoringCase("device");
            assertThat(server.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(server.output())
                    .containsPattern("java\\.\\S+Exception: .+")
                    .containsIgnoringCase("device");
        } finally {
            addDevices();
        }
    }

    @Test
    @Tag("once")
    void echo_noDevice_isOverSoftwareDevice() throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP needs no RDMA device");
        deleteDevices();
        try {
            echoOverSoftwareDevice(List.of());
        } finally {
            addDevices();
        }
    }

    @Test
    @Tag("once")
    void connect_libraryMissingAndRdmaDemanded_namesLibrary() throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP needs no library");
        List<String> flags = List.of(LIBRARY_MISSING, RDMA_DEMANDED);
        Peer client = guest.javaWith(flags, "ConnectAttempt", Device.ROCE.address(), PORT, "--times=3");
        assertFailures(client, 5_000, "java\\.\\S+Exception: .*libnothere\\.so\\.9.*");
    }

    @Test
    @Tag("once")
    void echo_libraryMissing_isOverSoftwareDevice() throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP needs no library");
        echoOverSoftwareDevice(List.of(LIBRARY_MISSING));
    }

    private void deleteDevices() throws IOException, InterruptedException {
        for (Device device : Device.values()) {
            guest.run("rdma", "link", "delete", device.link);
        }
    }

    private void addDevices() throws IOException, InterruptedException {
        for (Device device : Device.values()) {
            guest.run("rdma", "link", "add", device.link, "type", device.driver, "netdev", device.netdev);
        }
    }

    /** One process listens and another connects, and data go there and back through the memory that they share. */
    private void echoOverSoftwareDevice(List<String> flags) throws IOException, InterruptedException {
        Peer server = guest.javaWith(flags, "EchoServer", Device.ROCE.address(), "0");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.javaWith(flags, "EchoClient", Device.ROCE.address(), port, "--bytes=1000001", "--hold");
        client.awaitHeld();
        List<String> tcpSockets = Kernel.tcpSocketNames();
        for (Peer peer : List.of(server, client)) {
            assertThat(peer.openDescriptors())
                    .as("descriptors of %s", peer)
                    .anyMatch(target -> target.startsWith("/memfd:rdmanio-slab"))
                    .noneMatch(tcpSockets::contains);
        }
        assertThat(Kernel.queuePairs()).isEmpty();
        client.release();
        assertThat(client.awaitSuccess(PATIENCE)).contains("OK bytes=1000001 connections=1");
        server.endInput();
        server.awaitSuccess(PATIENCE);
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void connect_memlockTooSmall_namesLimit(Device device) throws Exception {
        assumeTrue(Lab.RDMA, "kernel TCP locks no memory");
        Peer server = guest.java("EchoServer", device.address(), "0");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.javaUnder(SMALL_MEMLOCK, "ConnectAttempt", device.address(), port, "--times=3");
        assertFailures(client, 5_000, "java\\.\\S+Exception: .+");
        assertThat(client.output()).containsIgnoringCase("memlock").containsPattern("65,?536|64 ?K");
        // The server has not suffered.
        guest.java("EchoClient", device.address(), port).awaitSuccess(PATIENCE);
    }

    /**
     * Every attempt of a ConnectAttempt failed in time and as the pattern says, and none left a descriptor. The first two
     * may take longer: they also load and link what the JVM has not used before, which takes seconds in a busy guest.
     */
    private static void assertFailures(Peer client, long maxMillis, String pattern) throws InterruptedException {
        String output = client.awaitSuccess(PATIENCE);
        List<String> attempts = output.lines()
                .filter(line -> line.matches("(blocking|selecting) \\d+ ms .*"))
                .toList();
        assertThat(attempts).hasSizeGreaterThanOrEqualTo(2).allSatisfy(attempt -> {
            assertThat(attempt).matches("\\w+ \\d+ ms " + pattern);
            long slack = attempts.indexOf(attempt) < 2 ? FIRST_USE_MILLIS : 0;
            assertThat(Long.parseLong(attempt.split(" ", 3)[1])).as(attempt).isLessThan(maxMillis + slack);
        });
        MatchResult descriptors = Pattern.compile("DESCRIPTORS before=(\\d+) after=(\\d+)")
                .matcher(output)
                .results()
                .findFirst()
                .orElseThrow();
        assertThat(Integer.parseInt(descriptors.group(2)))
                .as("descriptors after all attempts")
                .isLessThanOrEqualTo(Integer.parseInt(descriptors.group(1)));
    }
}
