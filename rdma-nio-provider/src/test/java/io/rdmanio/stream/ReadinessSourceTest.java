package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.EventFd;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that wait for a source, without a device: the source is a descriptor and what the test says is ready. */
@Timeout(30)
class ReadinessSourceTest {
    /** A source with a descriptor that it consumes when notified, as a connection does with its completion channel. */
    private static final class Described extends ReadinessSource implements AutoCloseable {
        private final EventFd events = new EventFd();
        private final CountDownLatch firstSleep = new CountDownLatch(1);

        // begin: guarded by lock
        private int toCome;
        private int ready;
        private int notifications;
        private int armed;
        private int wakeUps;
        // end

        Described() throws IOException {}

        /** What the next look finds, told by the descriptor alone. */
        void comes(int operations) {
            lock.lock();
            try {
                toCome = operations;
            } finally {
                lock.unlock();
            }
            events.signal();
        }

        @Override
        int readiness() {
            return ready;
        }

        @Override
        void update() {
            if (toCome != 0) {
                ready |= toCome;
                toCome = 0;
                if (anyoneSleeps()) {
                    wakeUps++;
                }
                publish();
            }
            if (anyoneSleeps()) {
                armed++;
                firstSleep.countDown();
            }
        }

        @Override
        void notified() {
            notifications++;
            events.drain();
        }

        @Override
        void watchByEventLoop() {
            throw new AssertionError("a thread with a descriptor watches it by itself");
        }

        @Override
        public int descriptor() {
            return events.fileDescriptor();
        }

        @Override
        public void close() {
            events.close();
        }
    }

    private static CompletableFuture<Boolean> waiterFor(ReadinessSource source, int operation) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(source.await(operation, 0, false));
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Each would cost system calls for every message: the wake-up a write and a read, the arming a call of the driver. */
    @Test
    void thread_thatFindsWhatItWaitsFor_neitherWakesItselfNorArms() throws Exception {
        try (Described source = new Described()) {
            CompletableFuture<Boolean> reader = waiterFor(source, SelectionKey.OP_READ);
            assertThat(source.firstSleep.await(20, TimeUnit.SECONDS)).isTrue();
            source.comes(SelectionKey.OP_READ);
            assertThat(reader.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(source.notifications).isOne();
            assertThat(source.armed).isOne();
            assertThat(source.wakeUps).isZero();
        }
    }

    @Test
    void thread_thatFindsSomethingElse_sleepsOnAndIsArmedFor() throws Exception {
        try (Described source = new Described()) {
            CompletableFuture<Boolean> reader = waiterFor(source, SelectionKey.OP_READ);
            assertThat(source.firstSleep.await(20, TimeUnit.SECONDS)).isTrue();
            source.comes(SelectionKey.OP_WRITE);
            CompletableFuture<Boolean> writer = waiterFor(source, SelectionKey.OP_WRITE);
            assertThat(writer.get(20, TimeUnit.SECONDS)).isTrue();
            source.comes(SelectionKey.OP_READ);
            assertThat(reader.get(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Two threads sleep; the one whom the descriptor wakes finds what the other waits for. */
    @Test
    void thread_thatFindsWhatAnotherWaitsFor_wakesIt() throws Exception {
        try (Described source = new Described()) {
            CompletableFuture<Boolean> reader = waiterFor(source, SelectionKey.OP_READ);
            CompletableFuture<Boolean> writer = waiterFor(source, SelectionKey.OP_WRITE);
            assertThat(source.firstSleep.await(20, TimeUnit.SECONDS)).isTrue();
            source.comes(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            assertThat(reader.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(writer.get(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void thread_whoseWaitIsEnded_returnsWithoutAnythingReady() throws Exception {
        try (Described source = new Described()) {
            CompletableFuture<Boolean> reader = waiterFor(source, SelectionKey.OP_READ);
            assertThat(source.firstSleep.await(20, TimeUnit.SECONDS)).isTrue();
            source.endWaits();
            assertThat(reader.get(20, TimeUnit.SECONDS)).isFalse();
        }
    }
}
