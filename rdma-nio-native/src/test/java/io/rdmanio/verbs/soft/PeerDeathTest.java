package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Another process that is killed. */
@Timeout(60)
class PeerDeathTest {
    private static final byte PAIRED = '!';

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    /** A process that has a pair with a host and does nothing more. */
    static final class Peer {
        private Peer() {}

        /**
         * Connects and waits to be killed.
         *
         * @param arguments the name of the host
         */
        public static void main(String[] arguments) throws IOException, InterruptedException {
            SoftHost host = SoftHost.acquire();
            ProcessPair pair = AwaitedPair.connect(host, arguments[0]).pair();
            pair.allocateArea(5_000_000).memory().fill((byte) 1);
            System.out.write(PAIRED);
            System.out.flush();
            TimeUnit.MINUTES.sleep(1);
        }
    }

    private static Process start(SoftHost host) throws IOException {
        Process process = new ProcessBuilder(List.of(
                        ChildProcess.java(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Peer.class.getName(),
                        Rendezvous.processName(host.userId(), host.token())))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        process.getErrorStream().close();
        return process;
    }

    @Test
    void killedProcess_isMissedAtOnceAndLeavesNothing() throws Exception {
        SoftHost host = SoftHost.startAnother();
        Process process = start(host);
        try {
            int first = process.getInputStream().read();
            if (first != PAIRED) {
                String rest = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                throw new AssertionError((char) first + rest);
            }
            await().until(() -> host.pairs().count() == 1);
            ProcessPair pair = host.pairs().all().findAny().orElseThrow();
            assertThat(pair.peer().processId()).isEqualTo((int) process.pid());
            Place place = pair.allocateArea(64);
            place.memory().fill((byte) 1);
            CountDownLatch dead = new CountDownLatch(1);
            pair.onDeath(dead::countDown);
            long beginNanos = System.nanoTime();
            process.destroyForcibly();
            assertThat(dead.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(System.nanoTime() - beginNanos).isLessThan(TimeUnit.SECONDS.toNanos(5));
            await().until(() -> !Files.readString(Path.of("/proc/self/maps")).contains("/memfd:rdmanio-slab"));
            assertThat(place.memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
            String name = Rendezvous.processName(host.userId(), pair.peerToken());
            assertThat(AwaitedPair.connect(host, name).errno()).isEqualTo(Errno.ECONNREFUSED);
        } finally {
            process.destroyForcibly().waitFor();
            process.getInputStream().close();
            host.release();
        }
    }
}
