package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
            new Shape("65536", "50", "2", false),
            new Shape("100001", "30", "2", true), // never the end of a buffer's half
            new Shape("1048576", "10", "1", false));

    /** More messages each way than credits have bits for; what counts them knows neither the device nor who has connected. */
    private static final Shape MANY_MESSAGES = new Shape("1", "70000", "1", true);

    static Stream<Arguments> devicesAndShapes() {
        return Device.selected().flatMap(device -> SHAPES.stream().map(shape -> Arguments.of(device, shape)));
    }

    @ParameterizedTest
    @MethodSource("devicesAndShapes")
    void javaServer_cClient_dataVerified(Device device, Shape shape) throws Exception {
        javaServer(device, shape);
    }

    @Test
    @Tag("once")
    void javaServer_cClientOfManyMessages_dataVerified() throws Exception {
        javaServer(Device.ROCE, MANY_MESSAGES);
    }

    private void javaServer(Device device, Shape shape) throws Exception {
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

    // -- every form of rstream, one after the other --

    /** rstream's ways to use its sockets; the first is idle for a while, so that it has something to keep alive. */
    private static final List<List<String>> FORMS = List.of(
            List.of("-k", "1", "-T", "b"),
            List.of("-T", "b"),
            List.of("-T", "a", "-T", "b"),
            List.of("-T", "n"),
            List.of("-T", "a", "-T", "n"),
            List.of("-T", "r", "-T", "b"),
            List.of("-f", "ip", "-B", "2048", "-T", "b"));

    /** Those of them that make a difference to how rstream listens and accepts. */
    private static final List<List<String>> SERVER_FORMS =
            List.of(List.of("-k", "1", "-T", "b"), List.of("-T", "a", "-T", "b"), List.of("-T", "n"));

    private static final List<String> FORM_SHAPE = List.of("-S", "3001", "-C", "20", "-I", "2", "-T", "v");

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_cClientInEveryForm_dataVerified(Device device) throws Exception {
        assumeTrue(Lab.RDMA, "the forms are those of rsockets");
        Peer server = guest.java("RstreamPeer", inForms(FORMS.size(), "-b", device.address(), "-p", "0"));
        String port = Integer.toString(server.awaitReady());
        Peer first = cInForm(FORMS.getFirst(), "-s", device.address(), "-p", port);
        try (RdmaProof proof = RdmaProof.watch(device, server, first)) {
            server.awaitHeld();
            proof.awaitQueuePairs();
            awaitProbes(device);
            server.release();
            assertThat(first.awaitSuccess(PATIENCE)).contains("Keepalive: ON").doesNotContain("verification failed");
            for (List<String> form : FORMS.subList(1, FORMS.size())) {
                Peer client = cInForm(form, "-s", device.address(), "-p", port);
                assertThat(client.awaitSuccess(PATIENCE))
                        .as("rstream %s", form)
                        .contains("custom")
                        .doesNotContain("verification failed");
            }
            assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
            proof.verify(2L * FORMS.size() * 3001 * 20 * 2);
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cServerInEveryForm_javaClient_dataVerified(Device device) throws Exception {
        assumeTrue(Lab.RDMA, "the forms are those of rsockets");
        List<Peer> servers = new ArrayList<>();
        List<String> ports = new ArrayList<>();
        for (List<String> form : SERVER_FORMS) {
            int port = Guest.freshPort();
            ports.add(Integer.toString(port));
            Peer server = cInForm(form, "-b", device.address(), "-p", Integer.toString(port));
            await("rstream " + form + " to listen").until(() -> Kernel.listens(server, port));
            servers.add(server);
        }
        Peer client = guest.java(
                "RstreamPeer", inForms(SERVER_FORMS.size(), "-s", device.address(), "-p", String.join(",", ports)));
        try (RdmaProof proof = RdmaProof.watch(device, client, servers.getFirst())) {
            client.awaitHeld();
            proof.awaitQueuePairs();
            awaitProbes(device);
            client.release();
            for (int i = 0; i < SERVER_FORMS.size(); i++) {
                assertThat(servers.get(i).awaitSuccess(PATIENCE))
                        .as("rstream %s", SERVER_FORMS.get(i))
                        .contains("custom")
                        .doesNotContain("verification failed");
            }
            assertThat(client.awaitSuccess(PATIENCE)).contains("DONE");
            proof.verify(2L * SERVER_FORMS.size() * 3001 * 20 * 2);
        }
    }

    /** Waits while the C side sends two probes at least, which only its device's counter tells. */
    private static void awaitProbes(Device device) throws Exception {
        if (device == Device.IWARP) {
            TimeUnit.MILLISECONDS.sleep(2_500);
            return;
        }
        long before = Kernel.counter(device, "sent_pkts");
        await("two probes and their answers")
                .atMost(PATIENCE)
                .until(() -> Kernel.counter(device, "sent_pkts") >= before + 4);
    }

    /** Of the lowest class: those that poll would keep everybody else from the guest's one processor. */
    private Peer cInForm(List<String> form, String... place) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("chrt", "--idle", "0", "rstream"));
        arguments.addAll(form);
        arguments.addAll(FORM_SHAPE);
        arguments.addAll(List.of(place));
        return guest.command(Map.of(), arguments.toArray(String[]::new));
    }

    private static String[] inForms(int count, String... place) {
        List<String> arguments = new ArrayList<>(List.of(place));
        arguments.addAll(FORM_SHAPE);
        arguments.set(arguments.indexOf("-S") + 1, String.join(",", Collections.nCopies(count, "3001"))); // a peer each
        arguments.addAll(List.of("-T", "hold"));
        return arguments.toArray(String[]::new);
    }

    // -- every size of rstream's own list --

    private static final List<String> SIZES = IntStream.rangeClosed(6, 22)
            .mapToObj(power ->
                    power == 6 ? Stream.of(1 << power) : Stream.of(1 << power, (1 << power) + (1 << (power - 1))))
            .flatMap(sizes -> sizes.map(String::valueOf))
            .toList();

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_cClientOfEverySize_dataVerified(Device device) throws Exception {
        Peer server = guest.java(
                "RstreamPeer",
                inEverySize(String.join(",", SIZES), "-b", device.address(), "-p", "0")
                        .toArray(String[]::new));
        String port = Integer.toString(server.awaitReady());
        for (String size : SIZES) {
            Peer client = cOfSize(size, "-s", device.address(), "-p", port);
            assertThat(client.awaitSuccess(PATIENCE)).contains("custom").doesNotContain("verification failed");
        }
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cServerOfEverySize_javaClient_dataVerified(Device device) throws Exception {
        List<Peer> servers = new ArrayList<>();
        List<String> ports = new ArrayList<>();
        for (String size : SIZES) {
            int port = Guest.freshPort();
            ports.add(Integer.toString(port));
            Peer server = cOfSize(size, "-b", device.address(), "-p", Integer.toString(port));
            await("rstream to listen").until(() -> Kernel.listens(server, port));
            servers.add(server);
        }
        Peer client = guest.java(
                "RstreamPeer",
                inEverySize(String.join(",", SIZES), "-s", device.address(), "-p", String.join(",", ports), "-T", "a")
                        .toArray(String[]::new));
        for (Peer server : servers) {
            assertThat(server.awaitSuccess(PATIENCE)).contains("custom").doesNotContain("verification failed");
        }
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE");
    }

    private static List<String> inEverySize(String size, String... place) {
        List<String> arguments = new ArrayList<>(List.of(place));
        arguments.addAll(List.of("-S", size, "-C", "3", "-I", "2", "-T", "v"));
        return arguments;
    }

    private Peer cOfSize(String size, String... place) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("rstream", "-T", Lab.RDMA ? "b" : "s"));
        arguments.addAll(inEverySize(size, place));
        return guest.command(Map.of(), arguments.toArray(String[]::new));
    }

    /**
     * rstream's own lists of tests, latency over one connection and bandwidth over another; minutes in the guest, all sizes
     * many times that.
     */
    @Tag("slow")
    @Timeout(value = 12, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_cClientWithDefaultList_dataVerified(Device device) throws Exception {
        assumeListRuns(device);
        Peer server = guest.java("RstreamPeer", "-b", device.address(), "-p", "0", "-T", "v");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.command(Map.of(), "rstream", "-T", "v", "-T", "b", "-s", device.address(), "-p", port);
        assertThat(client.awaitSuccess(LIST_PATIENCE)).contains("1m_bw").doesNotContain("verification failed");
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
    }

    @Tag("slow")
    @Timeout(value = 12, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cServerWithDefaultList_javaClient_dataVerified(Device device) throws Exception {
        assumeListRuns(device);
        int port = Guest.freshPort();
        String portText = Integer.toString(port);
        Peer server = guest.command(Map.of(), "rstream", "-T", "v", "-T", "b", "-b", device.address(), "-p", portText);
        await("rstream to listen").until(() -> Kernel.listens(server, port));
        Peer client = guest.java("RstreamPeer", "-s", device.address(), "-p", portText, "-T", "v", "-T", "a");
        assertThat(server.awaitSuccess(LIST_PATIENCE)).contains("1m_bw").doesNotContain("verification failed");
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE");
    }

    private static void assumeListRuns(Device device) {
        assumeTrue(
                device == Device.ROCE,
                "rstream sets its inline size to 0 for the list's second half, which iWARP refuses");
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
