package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The proof does not hold for programs that go over kernel TCP. */
@Tag("rdma")
class RdmaProofTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final List<String> ON_KERNEL_TCP =
            List.of("-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider");

    @RegisterExtension
    final Guest guest = new Guest();

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void verify_programsOnKernelTcp_fails(Device device) throws Exception {
        assumeTrue(Lab.RDMA, "a run without proof");
        Peer server = guest.javaWith(ON_KERNEL_TCP, "EchoServer", device.address(), "0");
        String port = Integer.toString(server.awaitReady());
        Peer client = guest.javaWith(ON_KERNEL_TCP, "EchoClient", device.address(), port, "--hold");
        client.awaitHeld();
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            proof.awaitOneLook();
            client.release();
            assertThat(client.awaitSuccess(PATIENCE)).contains("OK ");
            assertThatThrownBy(() -> proof.verify(1))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("TCP socket", server.toString(), client.toString());
        }
    }
}
