package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** rdma-core's rstream, a C program on rsockets, against a plain NIO program, with every byte verified on both sides. */
@Tag("rdma")
class RstreamInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration LIST_PATIENCE = Duration.ofMinutes(10);

    @RegisterExtension
    final Guest guest = new Guest();

    /** One pair of runs: the size of a transfer, how many in a row, how many rounds, and the style of the Java side. */
    record Shape(String size, String transfers, String rounds, boolean select) {
        long bytesOneWay() {
            return Long.parseLong(size) * Long.parseLong(transfers) * Long.parseLong(rounds);
        }

        List<String> options() {
            return List.of("-S", size, "-C", transfers, "-I", rounds, "-T", "v");
        }
    }

    private static final List<Shape> SHAPES = List.of(
            new Shape("64", "1", "500", false), // one message at a time
            new Shape("1", "70000", "1", true), // credits beyond 16 bits
            new Shape("65536", "50", "2", false),
            new Shape("100001", "30", "2", true), // never the end of a buffer's half
            new Shape("1048576", "10", "1", false));

    static Stream<Arguments> devicesAndShapes() {
        return Device.selected().flatMap(device -> SHAPES.stream().map(shape -> Arguments.of(device, shape)));
    }

    @ParameterizedTest
    @MethodSource("devicesAndShapes")
    void javaServer_cClient_dataVerified(Device device, Shape shape) throws Exception {
        Peer server = guest.java("RstreamPeer", javaArguments(shape, "-b", device.address(), "-p", "0"));
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.command(Map.of(), cArguments(shape, "-s", device.address(), "-p", port));
        judge(device, shape, server, client);
    }

    @ParameterizedTest
    @MethodSource("devicesAndShapes")
    void cServer_javaClient_dataVerified(Device device, Shape shape) throws Exception {
        int port = Guest.freshPort();
        String portText = Integer.toString(port);
        Peer server = guest.command(Map.of(), cArguments(shape, "-b", device.address(), "-p", portText));
        await("rstream to listen").until(() -> Kernel.listens(server, port));
        Peer client = guest.java("RstreamPeer", javaArguments(shape, "-s", device.address(), "-p", portText));
        judge(device, shape, client, server);
    }

    private void judge(Device device, Shape shape, Peer javaSide, Peer cSide) throws Exception {
        try (RdmaProof proof = RdmaProof.watch(device, javaSide, cSide)) {
            proof.releaseWhenSeen(javaSide);
            assertThat(javaSide.awaitSuccess(PATIENCE)).contains("DONE");
            assertThat(cSide.awaitSuccess(PATIENCE)).contains("custom").doesNotContain("verification failed");
            proof.verify(2 * shape.bytesOneWay());
        }
    }

    /** rstream's own list of tests, over two connections; minutes in the guest. */
    @Tag("slow")
    @Timeout(value = 12, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_cClientWithDefaultList_dataVerified(Device device) throws Exception {
        assumeTrue(
                device == Device.ROCE,
                "rstream sets its inline size to 0 for the list's second half, which iWARP refuses");
        Peer server = guest.java("RstreamPeer", "-b", device.address(), "-p", "0", "-T", "v");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.command(Map.of(), "rstream", "-T", "v", "-T", "b", "-s", device.address(), "-p", port);
        assertThat(client.awaitSuccess(LIST_PATIENCE)).contains("1m_bw").doesNotContain("verification failed");
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
    }

    private static String[] javaArguments(Shape shape, String... place) {
        List<String> arguments = new ArrayList<>(List.of(place));
        arguments.addAll(shape.options());
        arguments.addAll(List.of("-T", "hold"));
        if (shape.select) {
            arguments.addAll(List.of("-T", "a"));
        }
        return arguments.toArray(String[]::new);
    }

    /** Blocking calls on the C side: polling, it would hold the guest's one processor. */
    private static String[] cArguments(Shape shape, String... place) {
        List<String> arguments = new ArrayList<>(List.of("rstream", "-T", Lab.RDMA ? "b" : "s"));
        arguments.addAll(shape.options());
        arguments.addAll(List.of(place));
        return arguments.toArray(String[]::new);
    }
}
