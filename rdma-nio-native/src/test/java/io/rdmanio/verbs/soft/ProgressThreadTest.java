package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Epoll;
import io.rdmanio.linux.EventFd;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The progress thread: tasks, timers, descriptors, and nothing when there is nothing. */
@Timeout(30)
class ProgressThreadTest {
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private final AtomicInteger ends = new AtomicInteger();
    private ProgressThread progress;

    @BeforeEach
    void start() throws IOException {
        progress = new ProgressThread(ends::incrementAndGet);
        progress.start();
    }

    @AfterEach
    void stop() {
        progress.stop();
        assertThat(progress.awaitEnd(TimeUnit.SECONDS.toNanos(10))).isTrue();
        assertThat(ends).hasValue(1);
    }

    private void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** Waits until the thread has done what it was given before. */
    private void settle() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        progress.execute(done::countDown);
        await(done);
    }

    @Test
    void execute_ofMany_runsThemInOrderOnTheThread() throws InterruptedException {
        List<Integer> ran = new ArrayList<>();
        AtomicBoolean elsewhere = new AtomicBoolean();
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            progress.execute(() -> {
                ran.add(number);
                elsewhere.compareAndSet(false, !progress.isCurrent());
            });
        }
        settle();
        assertThat(ran).hasSize(10_000).isSorted();
        assertThat(elsewhere).isFalse();
        assertThat(progress.isCurrent()).isFalse();
    }

    @Test
    void execute_byManyThreadsWhileItFallsAsleep_isNeverMissed() throws InterruptedException {
        for (int round = 0; round < 2_000; round++) {
            CountDownLatch done = new CountDownLatch(2);
            Thread other = Thread.ofPlatform().start(() -> progress.execute(done::countDown));
            progress.execute(done::countDown);
            await(done);
            other.join();
        }
    }

    @Test
    void taskThatThrows_costsNobodyElse() throws InterruptedException, IOException {
        try (EventFd event = new EventFd()) {
            CountDownLatch seen = new CountDownLatch(2);
            ProgressThread.Watch watch = progress.watch(event.fileDescriptor(), Epoll.IN, _ -> {
                event.drain();
                seen.countDown();
                throw new IllegalStateException("as this test wants");
            });
            progress.execute(() -> {
                throw new AssertionError("as this test wants");
            });
            event.signal();
            while (seen.getCount() > 1) {
                settle();
            }
            event.signal();
            await(seen);
            settle();
            watch.cancel();
        }
    }

    @Test
    void failureThatCanNotBeLogged_doesNotEndTheThread() throws InterruptedException {
        progress.execute(() -> {
            throw new IllegalStateException() {
                private static final long serialVersionUID = 1L;

                @Override
                public String getMessage() {
                    throw new AssertionError("thrown by a test");
                }
            };
        });
        settle();
        assertThat(progress.isRunning()).isTrue();
    }

    @Test
    void interruptOfTheThread_endsWithItsRound() throws InterruptedException {
        AtomicBoolean interrupted = new AtomicBoolean();
        progress.execute(() -> Thread.currentThread().interrupt());
        settle();
        // Perhaps in the same round; from now on in another.
        settle();
        progress.execute(() -> interrupted.set(Thread.currentThread().isInterrupted()));
        settle();
        assertThat(interrupted).isFalse();
    }

    @Test
    void tasksThatHandOnTasks_leaveRoomForDescriptors() throws InterruptedException, IOException {
        try (EventFd event = new EventFd()) {
            AtomicBoolean enough = new AtomicBoolean();
            CountDownLatch seen = new CountDownLatch(1);
            ProgressThread.Watch watch = progress.watch(event.fileDescriptor(), Epoll.IN, _ -> {
                event.drain();
                seen.countDown();
            });
            Runnable again = new Runnable() {
                @Override
                public void run() {
                    if (!enough.get()) {
                        progress.execute(this);
                    }
                }
            };
            progress.execute(again);
            event.signal();
            await(seen);
            enough.set(true);
            watch.cancel();
            settle();
        }
    }

    @Test
    void timers_fireInOrderAndNotEarly() throws InterruptedException {
        List<Integer> fired = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(3);
        AtomicLong earlyNanos = new AtomicLong();
        long beginNanos = System.nanoTime();
        for (int i = 3; i > 0; i--) {
            int number = i;
            long deadlineNanos = beginNanos + number * SOON_NANOS;
            ProgressThread.Timer ignored = progress.schedule(deadlineNanos, () -> {
                fired.add(number);
                earlyNanos.accumulateAndGet(deadlineNanos - System.nanoTime(), Math::max);
                done.countDown();
            });
        }
        await(done);
        settle();
        assertThat(fired).containsExactly(1, 2, 3);
        assertThat(earlyNanos.get()).isZero();
    }

    @Test
    void timer_cancelled_neverFires() throws InterruptedException {
        AtomicBoolean fired = new AtomicBoolean();
        long beginNanos = System.nanoTime();
        ProgressThread.Timer timer = progress.schedule(beginNanos + SOON_NANOS, () -> fired.set(true));
        timer.cancel();
        timer.cancel();
        CountDownLatch later = new CountDownLatch(1);
        ProgressThread.Timer ignored = progress.schedule(beginNanos + 2 * SOON_NANOS, later::countDown);
        await(later);
        assertThat(fired).isFalse();
    }

    @Test
    void watch_cancelledByAHandlerOfTheSameRound_isSilent() throws InterruptedException, IOException {
        try (EventFd one = new EventFd();
                EventFd other = new EventFd()) {
            AtomicInteger calls = new AtomicInteger();
            List<ProgressThread.Watch> watches = new ArrayList<>();
            CountDownLatch handled = new CountDownLatch(1);
            ProgressThread.Handler handler = _ -> {
                calls.incrementAndGet();
                watches.forEach(ProgressThread.Watch::cancel);
                handled.countDown();
            };
            progress.execute(() -> {
                try {
                    watches.add(progress.watch(one.fileDescriptor(), Epoll.IN, handler));
                    watches.add(progress.watch(other.fileDescriptor(), Epoll.IN, handler));
                    one.signal();
                    other.signal();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            await(handled);
            // Behind the round in which the events came.
            settle();
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void idleThread_doesNotWake() throws Exception {
        settle();
        ProgressThread.Timer far =
                progress.schedule(System.nanoTime() + TimeUnit.HOURS.toNanos(1), () -> ends.set(1000));
        settle();
        TimeUnit.MILLISECONDS.sleep(50);
        String before = wakeUps();
        TimeUnit.MILLISECONDS.sleep(1_000);
        assertThat(wakeUps()).isEqualTo(before);
        far.cancel();
    }

    /** How often the kernel has put the thread to sleep and taken it from its processor. */
    static String wakeUps() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            List<String> counts = new ArrayList<>();
            for (Path thread : threads.toList()) {
                List<String> status = status(thread);
                if (ProgressThread.NAME.startsWith(status.getFirst().replaceFirst("^Name:\\s*", ""))) {
                    status.stream()
                            .filter(line -> line.contains("ctxt_switches"))
                            .forEach(counts::add);
                }
            }
            assertThat(counts).hasSize(2);
            return String.join(", ", counts);
        }
    }

    private static List<String> status(Path thread) {
        try {
            return Files.readAllLines(thread.resolve("status"));
        } catch (IOException e) {
            // One that has ended meanwhile.
            return List.of("Name: none");
        }
    }

    @Test
    void stop_runsWhatItWasGivenAndRejectsTheRest() {
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 1_000; i++) {
            progress.execute(ran::incrementAndGet);
        }
        progress.stop();
        assertThat(progress.awaitEnd(TimeUnit.SECONDS.toNanos(10))).isTrue();
        assertThat(ran).hasValue(1_000);
        assertThat(progress.isRunning()).isFalse();
        assertThatThrownBy(() -> progress.execute(ran::incrementAndGet)).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> progress.schedule(System.nanoTime(), ran::incrementAndGet))
                .isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> progress.watch(0, Epoll.IN, _ -> ran.incrementAndGet()))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(ran).hasValue(1_000);
    }
}
