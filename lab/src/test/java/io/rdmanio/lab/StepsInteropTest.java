package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What can go slowly, half or wrong on a connection, step by step: a plain NIO server, and a client in Python on rsockets with
 * queues of 16 and buffers of 4 KiB. Data are verified on both sides.
 */
@Tag("rdma")
class StepsInteropTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String MEBIBYTE = Integer.toString(1 << 20);

    /** For how long a side that stalls doesn't look at the connection. */
    private static final int STALL_MILLIS = 1_500;

    private static final int LONG_STALL_MILLIS = 10_000;

    /** What a close may take that has nothing to wait for, on a machine that does other things as well. */
    private static final long CLOSE_MILLIS = 1_000;

    @RegisterExtension
    final Guest guest = new Guest();

    private Path data;

    /** What a connection is for: what our side does, and what theirs does. */
    record Scenario(String name, List<String> ours, List<String> theirs) {}

    private static List<Scenario> scenarios(int stallMillis) {
        String stall = "pause=" + stallMillis;
        return List.of(
                new Scenario(
                        "we never read while they write 1 MiB, then do",
                        List.of(stall, "receive=" + MEBIBYTE, "send=1", "end"),
                        List.of("send=" + MEBIBYTE, "receive=1", "close")),
                new Scenario(
                        "they never read while we write 1 MiB, then do",
                        List.of("send=" + MEBIBYTE, "receive=1", "end"),
                        List.of(stall, "receive=" + MEBIBYTE, "send=1", "close")),
                new Scenario(
                        "they shut down and we send 1 MiB",
                        List.of("receive=5", "end", "send=" + MEBIBYTE, "shutdown"),
                        List.of("send=5", "shutdown", "receive=" + MEBIBYTE, "end", "close")),
                new Scenario(
                        "we shut down and they send 1 MiB",
                        List.of("send=5", "shutdown", "receive=" + MEBIBYTE, "end"),
                        List.of("receive=5", "end", "send=" + MEBIBYTE, "close")),
                new Scenario(
                        "they close with data unread",
                        List.of("send=3000", "receive=1", "end"),
                        // more than fits in a half of theirs, so that all has been sent by then
                        List.of("receive=2049", "send=1", "close")),
                new Scenario(
                        "they close while we stall",
                        List.of(stall, "receive=3000", "end"),
                        List.of("send=3000", "close")),
                new Scenario(
                        "we close with data unread, while they stall",
                        List.of("receive=1", "send=1", "close", stall),
                        List.of("send=3000", "receive=1", "pause=" + stallMillis / 2, "end", "close")));
    }

    @BeforeEach
    void makeData() throws IOException {
        assumeTrue(Lab.RDMA, "the peer's tuning is that of rsockets");
        byte[] contents = new byte[1 << 20];
        new Random(17).nextBytes(contents);
        data = Files.write(guest.folder("data").resolve("data"), contents);
    }

    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void tunedClient_slowHalfClosedOrGone_losesNothing(Device device) throws Exception {
        play(device, scenarios(STALL_MILLIS));
    }

    @Tag("slow")
    @Timeout(value = 4, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void tunedClient_thatStallsForTenSeconds_losesNothing(Device device) throws Exception {
        play(device, scenarios(LONG_STALL_MILLIS));
    }

    private void play(Device device, List<Scenario> scenarios) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(device.address(), "0", data.toString()));
        for (Scenario scenario : scenarios) {
            arguments.addAll(scenario.ours);
            arguments.add("next");
        }
        // killed without a word, at the end of the list: the kernel ends its connection, and nobody says so in the
        // stream
        arguments.addAll(List.of("receive=7", "reset"));
        Peer server = guest.java("Steps", arguments.toArray(String[]::new));
        String port = Integer.toString(server.awaitReady());
        for (Scenario scenario : scenarios) {
            Peer client = client(device, port, scenario.theirs);
            assertThat(client.awaitExit(PATIENCE))
                    .as("%s: %s", scenario.name, client.output())
                    .isZero();
        }
        Peer victim = client(device, port, List.of("send=7", "pause=60000"));
        server.awaitLine("STEP receive=7", PATIENCE);
        victim.kill();
        String steps = server.awaitSuccess(PATIENCE);
        assertThat(steps).contains("EXCEPTION java.net.SocketException: Connection reset", "DONE");
        assertThat(steps.lines().filter(line -> line.startsWith("STEP close ")))
                .singleElement()
                .satisfies(line -> assertThat(Long.parseLong(line.replaceFirst(".*millis=", "")))
                        .isLessThan(CLOSE_MILLIS));
    }

    private Peer client(Device device, String port, List<String> steps) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("/usr/bin/python3", Lab.HOME.resolve("python/steps.py").toString()));
        command.addAll(List.of("connect", device.address(), port, data.toString(), "queue=16", "buffer=4096"));
        command.addAll(steps);
        return guest.command(Map.of("LD_PRELOAD", guest.preloadLibrary()), command.toArray(String[]::new));
    }
}
