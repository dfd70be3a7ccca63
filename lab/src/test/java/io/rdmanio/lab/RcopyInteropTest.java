package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** rdma-core's rcopy, a C program on rsockets, copies files to and from plain NIO programs; whole files are compared. */
@Tag("rdma")
class RcopyInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int EINVAL = 22;

    /** One byte; half of the Java side's first buffer but for one byte, as it is, and with one more; and some MiB. */
    private static final List<Integer> SIZES = List.of(1, 4095, 4096, 4097, 65_536, (3 << 20) + 1);

    @RegisterExtension
    final Guest guest = new Guest();

    private Path from;
    private Path to;

    @BeforeEach
    void makeFolders() throws IOException {
        assumeTrue(Lab.RDMA, "rcopy knows no other sockets than rsockets");
        from = guest.folder("from");
        to = guest.folder("to");
    }

    /** Makes files of these sizes, named by them; returns how many bytes they have together. */
    private long makeFiles(List<Integer> sizes) throws IOException {
        long total = 0;
        for (int size : sizes) {
            byte[] contents = new byte[size];
            new Random(size).nextBytes(contents);
            Files.write(from.resolve(Integer.toString(size)), contents);
            total += size;
        }
        return total;
    }

    private void assertCopied(List<Integer> sizes) {
        for (int size : sizes) {
            String name = Integer.toString(size);
            assertThat(to.resolve(name)).hasSize(size).hasSameBinaryContentAs(from.resolve(name));
        }
    }

    /**
     * Among them comes a client with an empty file, which rcopy can't map: it connects, and goes before it has said a word.
     */
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_cClient_filesArriveWhole(Device device) throws Exception {
        makeFiles(List.of(0));
        long total = makeFiles(SIZES);
        Peer server = guest.java("RcopyServer", device.address(), "0", "--files=" + SIZES.size(), "--hold");
        String port = Integer.toString(server.awaitReady());
        Peer first = cClient(device, port, SIZES.getFirst());
        try (RdmaProof proof = RdmaProof.watch(device, server, first)) {
            proof.releaseWhenSeen(server);
            assertThat(first.awaitSuccess(PATIENCE)).contains(SIZES.getFirst() + " bytes in ");
            assertThat(cClient(device, port, 0).awaitExit(PATIENCE)).isEqualTo(EINVAL);
            for (int size : SIZES.subList(1, SIZES.size())) {
                assertThat(cClient(device, port, size).awaitSuccess(PATIENCE)).contains(size + " bytes in ");
            }
            assertThat(server.awaitSuccess(PATIENCE)).contains("DONE");
            proof.verify(total);
        }
        assertCopied(SIZES);
        assertThat(to.resolve("0")).doesNotExist();
    }

    /** The last one is empty, for which rcopy reserves no space and can't map any: it says so, and the client is told. */
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void cServer_javaClient_filesArriveWhole(Device device) throws Exception {
        makeFiles(List.of(0));
        long total = makeFiles(SIZES);
        int port = Guest.freshPort();
        Peer server = cServer(port);
        Peer client = javaClient(device, port);
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            proof.releaseWhenSeen(client);
            assertThat(client.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(client.output())
                    .contains("SENT bytes=1 ")
                    .contains("command 3 was answered with status " + EINVAL);
            proof.verify(total);
        }
        assertCopied(SIZES);
    }

    private Peer cClient(Device device, String port, int size) throws IOException {
        String name = Integer.toString(size);
        String source = from.resolve(name).toString();
        String destination = device.address() + ":" + to.resolve(name);
        return guest.command(Map.of(), "rcopy", source, destination, "-p", port);
    }

    private Peer cServer(int port) throws IOException {
        Peer server = guest.command(Map.of(), "rcopy", "-p", Integer.toString(port));
        await("rcopy to listen").until(() -> Kernel.listens(server, port));
        return server;
    }

    private Peer javaClient(Device device, int port) throws IOException {
        String portText = Integer.toString(port);
        return guest.java("RcopyClient", device.address(), portText, from.toString(), to.toString(), "--hold");
    }
}
