package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Connections between two processes that come and go over the software device: what the two have of each other stays,
 * and nothing of it grows at either end.
 */
@ExtendWith(LeakCheck.class)
class ComingAndGoingTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final int WARM_UP = 40;
    private static final int FEW = 100;
    private static final int MANY = 1_000;
    private static final int CROWD = 100;
    private static final ConnectionParameters PARAMETERS = new ConnectionParameters(1, 1, 0, 7, 7, false, 0);

    private static CommunicationEvent next(EventChannel channel, CommunicationEventType type) throws IOException {
        CommunicationEvent event = channel.awaitEvent(10_000);
        if (event == null || event.type() != type) {
            throw new AssertionError("expected " + type + ", got " + event);
        }
        return event;
    }

    private static void expectSuccess(Endpoint.Completion completion) {
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError(completion);
        }
    }

    /** A connection at the end that accepts, with memory for the peer to write to. */
    private static final class Accepted implements AutoCloseable {
        final Endpoint end;
        final MemoryRegion target;

        Accepted(CommunicationEvent request) throws IOException {
            end = new Endpoint(request.id());
            end.postReceive(1, 0, Endpoint.MEMORY_BYTES);
            target = end.domain.allocateMemory(
                    Endpoint.MEMORY_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
            end.id.accept(
                    PARAMETERS,
                    ByteBuffer.allocate(2 * Long.BYTES + 2 * Integer.BYTES)
                            .putLong(target.address())
                            .putLong(end.region.address())
                            .putInt(target.remoteKey())
                            .putInt(end.region.remoteKey())
                            .array());
        }

        @Override
        public void close() throws IOException {
            target.close();
            end.close();
        }
    }

    /** Accepts one connection after the other, each until the peer leaves. */
    private static void serve(EventChannel channel, int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            CommunicationEvent request = next(channel, CommunicationEventType.CONNECT_REQUEST);
            try (Accepted accepted = new Accepted(request)) {
                request.close();
                next(channel, CommunicationEventType.ESTABLISHED).close();
                expectSuccess(accepted.end.awaitCompletion());
                next(channel, CommunicationEventType.DISCONNECTED).close();
            }
        }
    }

    /** The process that connects. */
    static final class Client {
        private Client() {}

        /**
         * Connects as often as it reads that it shall, and says each time what it has then.
         *
         * @param arguments the port
         */
        public static void main(String[] arguments) throws IOException {
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            InetSocketAddress address =
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
            try (EventChannel channel = EventChannel.open(RdmaEngine.soft())) {
                Map<String, Long> before = Map.of();
                for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                    int connections = Integer.parseInt(line);
                    for (int i = 0; i < connections; i++) {
                        connectOnce(channel, address);
                    }
                    Map<String, Long> after = ProcessState.now();
                    // What grows while it warms up is not looked at.
                    long deadline = System.nanoTime() + (connections > WARM_UP ? PATIENCE.toNanos() : 0);
                    while (!ProcessState.growth(before, after).isEmpty() && System.nanoTime() < deadline) {
                        // The peer's last words may be under way.
                        LockSupport.parkNanos(PAUSE.toNanos());
                        after = ProcessState.now();
                    }
                    System.out.println(ProcessState.growth(before, after));
                    before = after;
                }
            }
        }

        private static void connectOnce(EventChannel channel, InetSocketAddress address) throws IOException {
            CommunicationId id = channel.createId(PortSpace.TCP);
            id.resolveAddress(null, address, 10_000);
            next(channel, CommunicationEventType.ADDRESS_RESOLVED).close();
            id.resolveRoute(10_000);
            next(channel, CommunicationEventType.ROUTE_RESOLVED).close();
            try (Endpoint end = new Endpoint(id)) {
                id.connect(PARAMETERS, new byte[0]);
                ByteBuffer keys;
                try (CommunicationEvent event = next(channel, CommunicationEventType.ESTABLISHED)) {
                    keys = ByteBuffer.wrap(event.privateData());
                }
                long direct = keys.getLong();
                long foreign = keys.getLong();
                write(end, direct, keys.getInt());
                write(end, foreign, keys.getInt());
                end.pair.postSend(end.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 64));
                expectSuccess(end.awaitCompletion());
            }
        }

        private static void write(Endpoint end, long address, int key) throws IOException {
            end.pair.postSend(
                    end.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 64).remote(address, key));
            expectSuccess(end.awaitCompletion());
        }
    }

    private static Process start(CommunicationId listener) throws IOException {
        Process process = new ProcessBuilder(List.of(
                        ChildProcess.java(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Client.class.getName(),
                        String.valueOf(listener.localAddress().getPort())))
                .redirectErrorStream(true)
                .start();
        process.getErrorStream().close();
        return process;
    }

    @Test
    @Timeout(120)
    void connectionsThatComeAndGo_leaveNothingAtEitherEnd() throws Exception {
        comeAndGo(FEW);
    }

    // Not of every build.
    @Test
    @Tag("rdma")
    @Tag("slow")
    @Timeout(600)
    void thousandConnectionsThatComeAndGo_leaveNothingAtEitherEnd() throws Exception {
        comeAndGo(MANY);
    }

    private static void comeAndGo(int cycles) throws Exception {
        try (EventChannel channel = EventChannel.open(RdmaEngine.soft());
                CommunicationId listener = channel.createId(PortSpace.TCP)) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(CROWD);
            Process process = start(listener);
            try (BufferedReader answers = process.inputReader()) {
                connect(process, answers, channel, WARM_UP);
                ProcessState.now();
                // Once more, as looking at all this makes objects, too.
                connect(process, answers, channel, WARM_UP);
                Map<String, Long> before = ProcessState.now();
                String grown = connect(process, answers, channel, cycles);
                assertThat(grown).as("what has grown at the end that connects").isEqualTo("{}");
                // The peer's last words may be under way.
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(ProcessState.growth(before, ProcessState.now()))
                                .as("what has grown at the end that accepts")
                                .isEmpty());
            } finally {
                process.destroyForcibly().waitFor();
                process.getOutputStream().close();
            }
        }
    }

    private static String connect(Process process, BufferedReader answers, EventChannel channel, int connections)
            throws IOException {
        process.getOutputStream().write((connections + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        serve(channel, connections);
        return answers.readLine();
    }
}
