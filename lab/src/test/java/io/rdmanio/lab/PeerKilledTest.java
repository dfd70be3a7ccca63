package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A peer that is killed in mid-stream: over RDMA the survivor is told of a reset, soon, and of no end of stream. */
@Tag("rdma")
class PeerKilledTest {
    private static final Duration STREAMING_PATIENCE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int ENDED_BY_EXCEPTION = 3;

    @RegisterExtension
    final Guest guest = new Guest();

    static Stream<Arguments> devicesRolesAndStyles() {
        return Device.selected()
                .flatMap(device -> Stream.of("Source", "Sink")
                        .flatMap(survivor ->
                                Stream.of("listen", "connect").map(role -> Arguments.of(device, survivor, role))));
    }

    /** The survivor in the given role; blocking as a listener, with a selector as a client. */
    @ParameterizedTest
    @MethodSource("devicesRolesAndStyles")
    void peerKilledWhileStreaming_survivorGetsReset(Device device, String survivorProgram, String role)
            throws Exception {
        String victimProgram = survivorProgram.equals("Source") ? "Sink" : "Source";
        Peer survivor;
        Peer victim;
        if (role.equals("listen")) {
            survivor = guest.java(survivorProgram, "listen", device.address(), "0");
            victim = guest.java(victimProgram, "connect", device.address(), Integer.toString(survivor.awaitReady()));
        } else {
            victim = guest.java(victimProgram, "listen", device.address(), "0");
            String port = Integer.toString(victim.awaitReady());
            survivor = guest.java(survivorProgram, "connect", device.address(), port, "--selector");
        }
        survivor.awaitLine("STREAMING", STREAMING_PATIENCE);
        victim.kill();
        int status = survivor.awaitExit(PATIENCE);
        if (Lab.RDMA || survivorProgram.equals("Source")) {
            assertThat(survivor.output()).containsPattern("EXCEPTION bytes=\\d+ java\\.\\S+: ");
            assertThat(survivor.output()).contains(Lab.RDMA ? "Connection reset" : "");
            assertThat(status).isEqualTo(ENDED_BY_EXCEPTION);
        } else {
            // The kernel sends FIN for the dead, unless data were left unread.
            assertThat(survivor.output()).containsPattern("EOF bytes=|EXCEPTION bytes=");
        }
    }
}
