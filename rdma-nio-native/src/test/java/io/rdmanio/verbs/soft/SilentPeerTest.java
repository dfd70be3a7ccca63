package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that lives and does nothing, as a process that was stopped. */
@Timeout(60)
class SilentPeerTest {
    private static final String TIMEOUT_PROPERTY = "io.rdmanio.soft.answerTimeoutMillis";
    private static final long TIMEOUT_MILLIS = 1_000;

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private SoftDevice left;
    private SoftDevice right;
    private SoftSide from;
    private SoftSide to;

    @BeforeEach
    void open() throws IOException {
        System.setProperty(TIMEOUT_PROPERTY, Long.toString(TIMEOUT_MILLIS));
        left = new SoftDevice();
        right = new SoftDevice();
    }

    @AfterEach
    void close() throws VerbsException {
        System.clearProperty(TIMEOUT_PROPERTY);
        if (from != null) {
            from.close();
            to.close();
        }
        left.close();
        right.close();
    }

    private void connect(SoftSide.Options peers) throws VerbsException {
        SoftSide[] sides = SoftSide.connected(left, right, SoftSide.Options.DEFAULT, peers);
        from = sides[0];
        to = sides[1];
    }

    /** Holds up the progress thread of a host. */
    private static final class Silence implements AutoCloseable {
        private final CountDownLatch over = new CountDownLatch(1);

        Silence(SoftDevice device) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            device.host.progress().execute(() -> {
                begun.countDown();
                try {
                    over.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public void close() {
            over.countDown();
        }
    }

    private SendWorkRequest request(String kind) {
        return switch (kind) {
            case "send to a shared queue" -> from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8);
            case "write to foreign memory", "write by an unknown key" ->
                from.toPeer(to, SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8, 0);
            case "read from foreign memory" -> from.toPeer(to, SendOpcode.READ, SendFlags.SIGNALED, 0, 8, 0);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "send to a shared queue",
                "write to foreign memory",
                "read from foreign memory",
                "write by an unknown key"
            })
    void silentPeer_exhaustsRetries(String kind) throws Exception {
        SoftSide.Options peers = kind.endsWith("foreign memory")
                ? SoftSide.Options.DEFAULT.withForeignMemory()
                : SoftSide.Options.DEFAULT.withSharedReceives();
        connect(peers);
        to.postReceive(1, 0, 64);
        if (!kind.endsWith("unknown key")) {
            from.pair.postSend(request(kind));
            assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            to.postReceive(2, 0, 64);
        }
        try (Silence _ = new Silence(right)) {
            long begin = System.nanoTime();
            from.pair.postSend(request(kind));
            assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isGreaterThan(Duration.ofMillis(TIMEOUT_MILLIS - 1));
            assertThat(from.pair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void slowPeer_isWaitedFor() throws Exception {
        connect(SoftSide.Options.DEFAULT.withSharedReceives());
        long begin = System.nanoTime();
        for (int i = 0; i < 4; i++) {
            to.postReceive(i, 0, 64);
            try (Silence _ = new Silence(right)) {
                from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
                assertThat(from.isSilent(from.sends)).isTrue();
                TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS / 4);
            }
            assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
        // Longer in all than the peer may be silent.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(TIMEOUT_MILLIS));
    }

    @Test
    void timeWithoutReceive_isNotTheAnswers() throws Exception {
        connect(SoftSide.Options.DEFAULT.withForeignMemory());
        // Waits for the key, then for a receive.
        from.pair.postSend(from.toPeer(to, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, 8, 0));
        TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS * 7 / 10);
        try (Silence _ = new Silence(right)) {
            // From now on for the peer to do it.
            to.postReceive(1, 0, 64);
            TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS * 6 / 10);
        }
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void processesThatWereBothStopped_goOn() throws Exception {
        connect(SoftSide.Options.DEFAULT.withSharedReceives());
        to.postReceive(1, 0, 64);
        // So that they have found each other, by something that needs no answer.
        from.pair.postSend(from.toPeer(to, SendOpcode.WRITE, SendFlags.SIGNALED, 0, 0, 0));
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        try (Silence _ = new Silence(right)) {
            try (Silence _ = new Silence(left)) {
                from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
                TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS * 3 / 2);
            }
            // The peer goes on a little later.
            TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS / 10);
        }
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }
}
