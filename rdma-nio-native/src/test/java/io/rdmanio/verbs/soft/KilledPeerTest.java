package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Peers on the software device that are killed (SIGKILL) at a random moment, while connections are made or under traffic of
 * all kinds. This process must be told of the end of every connection, and get back all work, within a second; and nothing
 * of the dead may stay. {@code -Dio.rdmanio.test.kills=200} for more than a few, {@code -Dio.rdmanio.test.seed} to repeat.
 */
class KilledPeerTest {
    private static final int KILLS = Integer.getInteger("io.rdmanio.test.kills", 20);
    private static final long SEED = Long.getLong("io.rdmanio.test.seed", System.nanoTime());
    private static final int WARM_UP = 3;
    private static final int MAX_CONNECTIONS = 4;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SETUP_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final int MAX_MESSAGES = 100;
    private static final int MAX_DELAY_MICROS = 60_000;

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private final Random random = new Random(SEED);

    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    void peerKilled_endsEverythingWithinASecondAndLeavesNothing() throws Exception {
        System.out.println(KILLS + " kills, seed " + SEED);
        try (TrafficNode node =
                new TrafficNode(RdmaEngine.soft(), InetAddress.getLoopbackAddress(), random.nextLong())) {
            Map<String, Integer> before = null;
            long worstNanos = 0;
            TrafficProcess next = new TrafficProcess(random.nextLong());
            for (int round = -WARM_UP; round < KILLS; round++) {
                try (TrafficProcess victim = next) {
                    next = new TrafficProcess(random.nextLong());
                    worstNanos = Math.max(worstNanos, killOnce(node, victim, "seed " + SEED + ", round " + round));
                } catch (Exception | AssertionError e) {
                    next.close();
                    throw e;
                }
                node.closeEnds();
                if (round == -1) {
                    before = Possessions.settled(null, PATIENCE_NANOS);
                } else if (round >= 0) {
                    assertThat(Possessions.settled(before, PATIENCE_NANOS))
                            .as("what is left after round %d, seed %d", round, SEED)
                            .isEqualTo(before);
                }
            }
            next.close();
            System.out.printf(
                    "%d messages received; the slowest end took %.1f ms%n",
                    node.received(), worstNanos / (double) TimeUnit.MILLISECONDS.toNanos(1));
            assertThat(node.received()).isPositive();
        }
    }

    /** Returns how long it took after the kill until everything had ended. */
    private long killOnce(TrafficNode node, TrafficProcess victim, String where) throws IOException {
        int connections = 1 + random.nextInt(MAX_CONNECTIONS);
        int port = victim.awaitPort();
        if (random.nextBoolean()) {
            victim.begin(node.port(), connections);
        } else {
            victim.begin(0, 0);
            for (int i = 0; i < connections; i++) {
                node.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), random.nextBoolean());
            }
        }
        boolean polls = random.nextBoolean();
        if (random.nextInt(4) != 0) {
            long deadline = System.nanoTime() + SETUP_NANOS;
            long messages = node.received() + random.nextInt(MAX_MESSAGES);
            while (node.ends().stream().filter(TrafficEnd::isEstablished).count() < connections
                    || node.received() < messages) {
                assertThat(System.nanoTime())
                        .as("connecting, %s: %s", where, node.ends())
                        .isLessThan(deadline);
                step(node, polls);
            }
        }
        long killAt = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(random.nextInt(MAX_DELAY_MICROS));
        while (System.nanoTime() < killAt) {
            step(node, polls);
        }
        victim.kill();
        return awaitEnd(node, polls, where);
    }

    private static void step(TrafficNode node, boolean polls) throws IOException {
        if (!node.step() && !polls) {
            node.await(1);
        }
    }

    private static long awaitEnd(TrafficNode node, boolean polls, String where) throws IOException {
        long killed = System.nanoTime();
        long now = killed;
        while (now - killed < PATIENCE_NANOS) {
            step(node, polls);
            now = System.nanoTime();
            if (node.ends().stream().allMatch(TrafficEnd::isOver)) {
                break;
            }
        }
        assertThat(node.ends()).as("a second after the kill, %s", where).allMatch(TrafficEnd::isOver);
        assertThat(node.ends()).as("how it ended, %s", where).allMatch(TrafficEnd::endedAsItShould);
        return now - killed;
    }
}
