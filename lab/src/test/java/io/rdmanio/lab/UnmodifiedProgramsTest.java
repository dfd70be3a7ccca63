package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers and clients that other people wrote, in JVMs with a class path and the provider's flag. */
@Tag("rdma")
class UnmodifiedProgramsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(150);
    private static final long BODY_BYTES = 32L << 20;

    @RegisterExtension
    final Guest guest = new Guest();

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void jettyAndHttpClient_keepAliveAndLargeBodies_checksumsEqual(Device device) throws Exception {
        Peer server = guest.java(
                "JettyFileServer", device.address(), "0", guest.folder("files").toString());
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.java("HttpClientFiles", device.address(), port, "--body=" + BODY_BYTES, "--stop");
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            String figures = client.awaitSuccess(PATIENCE);
            assertThat(figures).contains("OK requests=1000 ");
            System.out.println(device + ": " + figures.substring(figures.indexOf("OK ")));
            proof.verify(2 * BODY_BYTES);
        }
        server.awaitSuccess(PATIENCE);
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void nettyClientAndServer_keepAliveAndLargeBodies_checksumsEqual(Device device) throws Exception {
        Peer server = guest.java(
                "NettyHttpServer", device.address(), "0", guest.folder("files").toString());
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.java("NettyHttpClient", device.address(), port, "--body=" + BODY_BYTES);
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            String figures = client.awaitSuccess(PATIENCE);
            assertThat(figures).contains("OK requests=1000 ");
            System.out.println(device + ": " + figures.substring(figures.indexOf("OK ")));
            proof.verify(2 * BODY_BYTES);
        }
        server.endInput();
        server.awaitSuccess(PATIENCE);
    }
}
