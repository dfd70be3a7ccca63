package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * rdma-core's rping, a C program on verbs, against one on our verbs: messages, reads and writes of the peer's memory, with
 * all data verified by the client and, where it is ours, by the server.
 */
@Tag("rdma")
class RpingInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String EXCHANGES = "100";

    @RegisterExtension
    final Guest guest = new Guest();

    /** The last is the largest that rping takes. */
    static Stream<Arguments> devicesAndSizes() {
        return Device.selected()
                .flatMap(device -> Stream.of("64", "4096", "65535").map(size -> Arguments.of(device, size)));
    }

    @ParameterizedTest
    @MethodSource("devicesAndSizes")
    void javaServer_cClient_dataVerified(Device device, String size) throws Exception {
        Peer server = guest.verbs("Rping", "-s", "-a", device.address(), "-p", "0", "-S", size, "-V");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.command(Map.of(), cClient(device, port, size));
        client.awaitSuccess(PATIENCE);
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE exchanges=" + EXCHANGES);
    }

    @ParameterizedTest
    @MethodSource("devicesAndSizes")
    void cServer_javaClient_dataVerified(Device device, String size) throws Exception {
        int port = Guest.freshPort();
        Peer server = cServer(device, port, size);
        Peer client = javaClient(device, port, size);
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE exchanges=" + EXCHANGES);
        server.awaitSuccess(PATIENCE);
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void persistentJavaServer_severalCClients_allServed(Device device) throws Exception {
        Peer server = guest.verbs("Rping", "-s", "-P", "-a", device.address(), "-p", "0", "-S", "4096", "-V");
        String port = Integer.toString(server.awaitReady());
        List<Peer> atOnce = List.of(
                guest.command(Map.of(), cClient(device, port, "64")),
                guest.command(Map.of(), cClient(device, port, "4096")));
        for (Peer client : atOnce) {
            client.awaitSuccess(PATIENCE);
        }
        guest.command(Map.of(), cClient(device, port, "100")).awaitSuccess(PATIENCE);
        await("the third client's end")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(server.output())
                        .doesNotContain("FAILED")
                        .containsSubsequence(
                                "DONE exchanges=" + EXCHANGES,
                                "DONE exchanges=" + EXCHANGES,
                                "DONE exchanges=" + EXCHANGES));
        assertThat(server.isAlive()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaClient_serverWithSmallerBuffer_bothFailAndEnd(Device device) throws Exception {
        int port = Guest.freshPort();
        Peer server = cServer(device, port, "64");
        Peer client = javaClient(device, port, "4096");
        assertThat(client.awaitExit(PATIENCE)).isNotZero();
        assertThat(client.output()).contains("in the middle of an exchange");
        // What status it ends with is a race of its own between the failed completion and the disconnect.
        server.awaitExit(PATIENCE);
        assertThat(server.output()).contains("cq completion failed");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_clientWithLargerBuffer_tellsWhyAndEnds(Device device) throws Exception {
        Peer server = guest.verbs("Rping", "-s", "-a", device.address(), "-p", "0", "-S", "64");
        String port = Integer.toString(server.awaitReady());
        // What status this client ends with is its own business.
        Peer client = guest.command(Map.of(), cClient(device, port, "4096"));
        assertThat(server.awaitExit(PATIENCE)).isNotZero();
        assertThat(server.output()).contains("the peer's buffer of 4096 bytes is larger than ours of 64");
        client.awaitExit(PATIENCE);
    }

    private static String[] cClient(Device device, String port, String size) {
        return new String[] {"rping", "-c", "-a", device.address(), "-p", port, "-C", EXCHANGES, "-S", size, "-V"};
    }

    private Peer cServer(Device device, int port, String size) throws Exception {
        Peer server = guest.command(
                Map.of(), "rping", "-s", "-a", device.address(), "-p", Integer.toString(port), "-S", size, "-V");
        await("rping to listen").until(() -> Kernel.listens(server, port));
        return server;
    }

    private Peer javaClient(Device device, int port, String size) throws Exception {
        String text = Integer.toString(port);
        return guest.verbs("Rping", "-c", "-a", device.address(), "-p", text, "-C", EXCHANGES, "-S", size, "-V");
    }
}
