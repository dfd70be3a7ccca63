package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * rdma-core's udaddy and mckey, C programs for datagrams and multicast groups, against ones on our verbs. What C sends has
 * no contents to verify, so Java against Java does that.
 */
@Tag("rdma")
class DatagramInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int UDADDY_PORT = 7174;
    private static final String GROUP = "239.0.0.1";
    private static final String[] LARGE = {"-C", "100", "-S", "4000"};

    @RegisterExtension
    final Guest guest = new Guest();

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaUdaddyServer_cClient_datagramsBothWays(Device device) throws Exception {
        assumeDatagrams(device);
        Peer server = guest.verbs("Udaddy", with(LARGE, "-b", device.address()));
        server.awaitReady();
        Peer client = guest.command(Map.of(), c("udaddy", with(LARGE, "-s", device.address())));
        assertThat(client.awaitSuccess(PATIENCE)).contains("data transfers complete");
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cUdaddyServer_javaClient_datagramsBothWays(Device device) throws Exception {
        assumeDatagrams(device);
        Peer server = guest.command(Map.of(), c("udaddy", with(LARGE, "-b", device.address())));
        await("udaddy to listen").until(() -> Kernel.listens(server, UDADDY_PORT));
        Peer client = guest.verbs("Udaddy", with(LARGE, "-s", device.address(), "-b", device.address()));
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
        assertThat(server.awaitSuccess(PATIENCE)).contains("data transfers complete");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaUdaddyBothSides_dataVerified(Device device) throws Exception {
        assumeDatagrams(device);
        Peer server = guest.verbs("Udaddy", with(LARGE, "-b", device.address(), "-V"));
        server.awaitReady();
        Peer client = guest.verbs("Udaddy", with(LARGE, "-s", device.address(), "-V"));
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaMckeyReceiver_cSender_allArrive(Device device) throws Exception {
        assumeDatagrams(device);
        Peer receiver = guest.verbs("Mckey", "-m", GROUP, "-b", device.address());
        receiver.awaitLine("JOINED", PATIENCE);
        Peer sender = guest.command(Map.of(), "mckey", "-m", GROUP, "-b", device.address(), "-s");
        assertThat(sender.awaitSuccess(PATIENCE)).contains("data transfers complete");
        assertThat(receiver.awaitSuccess(PATIENCE)).contains("DONE datagrams=10");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cMckeyReceiver_javaSender_allArrive(Device device) throws Exception {
        assumeDatagrams(device);
        // Line by line, so that it can be seen when it has joined.
        Peer receiver = guest.command(Map.of(), "stdbuf", "-oL", "mckey", "-m", GROUP, "-b", device.address());
        receiver.awaitLine("mckey: joined", PATIENCE);
        Peer sender = guest.verbs("Mckey", "-m", GROUP, "-b", device.address(), "-s");
        assertThat(sender.awaitSuccess(PATIENCE)).contains("DONE datagrams=10");
        assertThat(receiver.awaitSuccess(PATIENCE)).contains("data transfers complete");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaMckeyTwoReceiversAndSender_dataVerified(Device device) throws Exception {
        assumeDatagrams(device);
        List<Peer> receivers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            receivers.add(guest.verbs("Mckey", with(LARGE, "-m", GROUP, "-b", device.address(), "-V")));
        }
        for (Peer receiver : receivers) {
            receiver.awaitLine("JOINED", PATIENCE);
        }
        Peer sender = guest.verbs("Mckey", with(LARGE, "-m", GROUP, "-b", device.address(), "-s"));
        assertThat(sender.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
        for (Peer receiver : receivers) {
            assertThat(receiver.awaitSuccess(PATIENCE)).contains("DONE datagrams=100");
        }
    }

    private static void assumeDatagrams(Device device) {
        assumeTrue(device == Device.ROCE, "iWARP has no datagrams");
    }

    private static String[] with(String[] options, String... more) {
        List<String> all = new ArrayList<>(List.of(more));
        all.addAll(List.of(options));
        return all.toArray(String[]::new);
    }

    private static String[] c(String program, String[] options) {
        List<String> all = new ArrayList<>(List.of(program));
        all.addAll(List.of(options));
        return all.toArray(String[]::new);
    }
}
