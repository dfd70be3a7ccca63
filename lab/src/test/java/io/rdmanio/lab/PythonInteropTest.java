package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A Python program on sockets, under rdma-core's preload library, against a plain NIO program; data verified. */
@Tag("rdma")
class PythonInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String BYTES = "5000000";

    @RegisterExtension
    final Guest guest = new Guest();

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void javaServer_pythonClient_dataVerified(Device device) throws Exception {
        Peer server = guest.java("EchoServer", device.address(), "0", "--selector");
        String port = Integer.toString(server.awaitReady());
        Peer client = python("echo_client.py", device.address(), port, BYTES);
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            assertThat(client.awaitSuccess(PATIENCE)).contains("OK bytes=" + BYTES);
            proof.verify(2 * Long.parseLong(BYTES));
        }
        server.endInput();
        assertThat(server.awaitSuccess(PATIENCE)).doesNotContain("LOST");
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void pythonServer_javaClient_dataVerified(Device device) throws Exception {
        String port = Integer.toString(Guest.freshPort());
        Peer server = python("echo_server.py", device.address(), port);
        server.awaitReady();
        Peer client = guest.java("EchoClient", device.address(), port, "--bytes=" + BYTES, "--hold");
        try (RdmaProof proof = RdmaProof.watch(device, server, client)) {
            proof.releaseWhenSeen(client);
            assertThat(client.awaitSuccess(PATIENCE)).contains("OK bytes=" + BYTES);
            proof.verify(2 * Long.parseLong(BYTES));
        }
        assertThat(server.awaitSuccess(PATIENCE)).contains("ECHOED bytes=" + BYTES);
    }

    private Peer python(String script, String... args) throws IOException, InterruptedException {
        Map<String, String> environment = Lab.RDMA ? Map.of("LD_PRELOAD", guest.preloadLibrary()) : Map.of();
        List<String> command = new java.util.ArrayList<>(List.of(
                "/usr/bin/python3", Lab.HOME.resolve("python").resolve(script).toString()));
        command.addAll(List.of(args));
        return guest.command(environment, command.toArray(String[]::new));
    }
}
