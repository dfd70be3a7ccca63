package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Plain programs on channels: blocking on one side, selecting on the other. */
@Tag("rdma")
class EchoTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @RegisterExtension
    final Guest guest = new Guest();

    static Stream<Arguments> devicesAndStyles() {
        return Device.selected()
                .flatMap(device ->
                        Stream.of(Arguments.of(device, "", "--selector"), Arguments.of(device, "--selector", "")));
    }

    @ParameterizedTest
    @MethodSource("devicesAndStyles")
    void echo_severalConnections_dataReturnAndDescriptorsToo(Device device, String serverStyle, String clientStyle)
            throws Exception {
        Peer server = guest.java("EchoServer", arguments(device.address(), "0", serverStyle));
        String port = Integer.toString(server.awaitReady());
        // What a server opens for good, it opens with its first connection.
        guest.java("EchoClient", device.address(), port).awaitSuccess(PATIENCE);
        List<String> before = awaitSteadyDescriptors(server);

        String[] connections =
                arguments(device.address(), port, clientStyle, "--bytes=1000001", "--connections=5", "--hold");
        Peer client = guest.java("EchoClient", connections);
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            proof.releaseWhenSeen(client);
            assertThat(client.awaitSuccess(PATIENCE)).contains("OK bytes=1000001 connections=5");
            proof.verify(5 * 2 * 1_000_001);
        }
        await("the server's descriptors as before")
                .atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(server.openDescriptors()).hasSizeLessThanOrEqualTo(before.size()));
        server.endInput();
        server.awaitSuccess(PATIENCE);
    }

    /** The descriptors once two looks in a row, some time apart, show as many. */
    private static List<String> awaitSteadyDescriptors(Peer server) {
        List<Integer> counts = new ArrayList<>();
        await("a steady number of descriptors")
                .pollInterval(Duration.ofMillis(500))
                .until(() -> {
                    counts.add(server.openDescriptors().size());
                    int last = counts.size() - 1;
                    return last > 0 && counts.get(last).equals(counts.get(last - 1));
                });
        try {
            return server.openDescriptors();
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String[] arguments(String... given) {
        return Arrays.stream(given).filter(argument -> !argument.isEmpty()).toArray(String[]::new);
    }
}
