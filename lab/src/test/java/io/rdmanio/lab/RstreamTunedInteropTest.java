package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * rstream with the shallowest queues (16) and the smallest buffers that rsockets have, against a plain NIO program whose own
 * buffers are as small as ours can be: the peer's halves are 2 KiB, ours 4 KiB. Every byte is verified on both sides.
 */
@Tag("rdma")
class RstreamTunedInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration LONG_PATIENCE = Duration.ofMinutes(5);

    /** In a mount namespace of its own, so that neither the guest nor the host, whose files it has, sees the files. */
    private static final String TUNED =
            "mount -t tmpfs tmpfs /etc/rdma && mkdir /etc/rdma/rsocket && cd /etc/rdma/rsocket"
                    + " && echo 16 > sqsize_default && echo 16 > rqsize_default && exec \"$@\"";

    /** rsockets double it. */
    private static final String C_BUFFER_BYTES = "2048";

    private static final String JAVA_BUFFER_BYTES = "8192";

    /** Transfers of a size, in a row each way. */
    record Series(String size, String transfers) {}

    /** One byte at a time; then one byte short of a half of the peer's, as it is, and one byte more; then around ours. */
    private static final List<Series> BOUNDARIES = List.of(
            new Series("1", "2000"),
            new Series("2047", "40"),
            new Series("2048", "40"),
            new Series("2049", "40"),
            new Series("4095", "40"),
            new Series("4097", "40"));

    /** In each direction the count of messages passes 65,536, which is where credits begin again. */
    private static final List<Series> WRAP = List.of(new Series("1", "100000"));

    @RegisterExtension
    final Guest guest = new Guest();

    @BeforeEach
    void rsocketsOnly() {
        assumeTrue(Lab.RDMA, "the peer's tuning is that of rsockets");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_tunedCClient_dataVerifiedAtTheBoundaries(Device device) throws Exception {
        javaServer(device, BOUNDARIES, PATIENCE);
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void tunedCServer_javaClient_dataVerifiedAtTheBoundaries(Device device) throws Exception {
        cServer(device, BOUNDARIES, PATIENCE);
    }

    @Tag("slow")
    @Timeout(value = 6, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_tunedCClient_creditsWrap(Device device) throws Exception {
        javaServer(device, WRAP, LONG_PATIENCE);
    }

    @Tag("slow")
    @Timeout(value = 6, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void tunedCServer_javaClient_creditsWrap(Device device) throws Exception {
        cServer(device, WRAP, LONG_PATIENCE);
    }

    private void javaServer(Device device, List<Series> all, Duration patience) throws Exception {
        Peer server = guest.java("RstreamPeer", java(all, "-b", device.address(), "-p", "0"));
        String port = Integer.toString(server.awaitReady());
        for (Series series : all) {
            Peer client = tuned(series, "-s", device.address(), "-p", port);
            assertVerified(client, series, patience);
        }
        assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
    }

    private void cServer(Device device, List<Series> all, Duration patience) throws Exception {
        List<Peer> servers = new ArrayList<>();
        List<String> ports = new ArrayList<>();
        for (Series series : all) {
            int port = Guest.freshPort();
            ports.add(Integer.toString(port));
            Peer server = tuned(series, "-b", device.address(), "-p", Integer.toString(port));
            await("rstream to listen").until(() -> Kernel.listens(server, port));
            servers.add(server);
        }
        Peer client =
                guest.java("RstreamPeer", java(all, "-s", device.address(), "-p", String.join(",", ports), "-T", "a"));
        for (int i = 0; i < all.size(); i++) {
            assertVerified(servers.get(i), all.get(i), patience);
        }
        assertThat(client.awaitSuccess(PATIENCE)).contains("DONE");
    }

    private static void assertVerified(Peer peer, Series series, Duration patience) throws Exception {
        assertThat(peer.awaitSuccess(patience))
                .as("%s", series)
                .contains("custom")
                .doesNotContain("verification failed");
    }

    private static String[] java(List<Series> all, String... place) {
        String sizes = String.join(",", all.stream().map(Series::size).toList());
        String transfers = String.join(",", all.stream().map(Series::transfers).toList());
        return Stream.concat(
                        Stream.of("-S", sizes, "-C", transfers, "-I", "1", "-T", "v", "-B", JAVA_BUFFER_BYTES),
                        Stream.of(place))
                .toArray(String[]::new);
    }

    private Peer tuned(Series series, String... place) throws IOException {
        List<String> command = new ArrayList<>(List.of("unshare", "-m", "bash", "-c", TUNED, "bash"));
        command.addAll(List.of("rstream", "-T", "b", "-B", C_BUFFER_BYTES));
        command.addAll(List.of("-S", series.size, "-C", series.transfers, "-I", "1", "-T", "v"));
        command.addAll(List.of(place));
        return guest.command(Map.of(), command.toArray(String[]::new));
    }
}
