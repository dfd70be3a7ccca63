package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a program wrote before it ended arrives, and then the end of the stream. */
@Tag("rdma")
class ExitTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @RegisterExtension
    final Guest guest = new Guest();

    /** One stream that is all under way at the end, and one that is longer than all buffers. */
    static Stream<Arguments> devicesProgramsAndSizes() {
        return Device.selected()
                .flatMap(device -> Stream.of(
                        Arguments.of(device, "WriteExit", 100_000), Arguments.of(device, "WriteCloseReturn", 8 << 20)));
    }

    @ParameterizedTest
    @MethodSource("devicesProgramsAndSizes")
    void writerEnds_peerReadsAllThenEndOfStream(Device device, String program, int bytes) throws Exception {
        String size = "--bytes=" + bytes;
        Peer sink = guest.java("Sink", "listen", device.address(), "0", size);
        String port = Integer.toString(sink.awaitReady());
        Peer writer = guest.java(program, device.address(), port, size);
        writer.awaitSuccess(PATIENCE);
        assertThat(sink.awaitSuccess(PATIENCE)).contains("EOF bytes=" + bytes);
    }
}
