package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.lang.foreign.Arena;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who has a completion queue for itself: one poller, a resize, or the close. */
@ExtendWith(LeakCheck.class)
class CompletionQueueClaimTest {
    private static final int TIMEOUT_SECONDS = 10;
    private static final int QUIET_MILLIS = 100;

    private final FakeEngine fake = new FakeEngine();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private OpenDeviceContext device;
    private CompletionQueue queue;
    private WorkCompletions completions;

    @BeforeEach
    void open() throws VerbsException {
        device = VerbsAccess.get().newEngine(fake).open("fake0");
        completions = new WorkCompletions(1);
        queue = device.createCompletionQueue(10, null);
    }

    @AfterEach
    void close() throws VerbsException {
        released.countDown();
        threads.close();
        device.close();
        completions.close();
    }

    @Test
    void poll_intoMemoryOfAClosedArenaIsRefused() throws VerbsException {
        WorkCompletions freed;
        try (Arena arena = Arena.ofConfined()) {
            freed = new WorkCompletions(arena, 1);
            assertThat(queue.poll(freed)).isZero();
        }
        fake.duringPoll = () -> {
            throw new AssertionError("the driver would write into freed memory");
        };
        assertThatThrownBy(() -> queue.poll(freed)).isInstanceOf(IllegalStateException.class);
        freed.close();
        // The refusal leaves the queue to others.
        fake.duringPoll = () -> {};
        assertThat(queue.poll(completions)).isZero();
        assertThatThrownBy(() -> queue.poll(freed)).hasMessage("this WorkCompletions is closed");
    }

    /** Holds up a native call until the test lets it go on. */
    private void hold() {
        entered.countDown();
        try {
            assertThat(released.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Begins a call that is held up. */
    private <T> Future<T> begin(Callable<T> call) throws InterruptedException {
        Future<T> future = threads.submit(call);
        assertThat(entered.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return future;
    }

    private Callable<Integer> resize() {
        return () -> {
            queue.resize(20);
            return queue.depthEntries();
        };
    }

    private Callable<Integer> poll() {
        return () -> queue.poll(completions);
    }

    private void assertWaits(Future<?> first, Callable<?> second) throws Exception {
        Future<?> waiting = threads.submit(second);
        assertThatThrownBy(() -> waiting.get(QUIET_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        released.countDown();
        first.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        waiting.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void resize_tellsWhatWasGranted() throws VerbsException {
        assertThat(queue.depthEntries()).isEqualTo(10);
        queue.resize(20);
        assertThat(queue.depthEntries()).isEqualTo(21);
        assertThatThrownBy(() -> queue.resize(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void poller_waitsForAResize() throws Exception {
        fake.duringResize = this::hold;
        assertWaits(begin(resize()), poll());
    }

    @Test
    void resize_waitsForAPoller() throws Exception {
        fake.duringPoll = this::hold;
        assertWaits(begin(poll()), resize());
        assertThat(queue.depthEntries()).isEqualTo(21);
    }

    @Test
    void close_waitsForAResize() throws Exception {
        fake.duringResize = this::hold;
        assertWaits(begin(resize()), () -> {
            queue.close();
            return null;
        });
        assertThatThrownBy(() -> queue.resize(5))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this CompletionQueue is closed");
    }

    @Test
    void secondPoller_isRefused() throws Exception {
        fake.duringPoll = this::hold;
        Future<Integer> first = begin(poll());
        assertThatThrownBy(() -> queue.poll(completions))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another thread is polling");
        released.countDown();
        assertThat(first.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void pollerOfAQueueThatIsBeingClosed_isRefused() throws Exception {
        fake.duringResize = this::hold;
        Future<Integer> resizing = begin(resize());
        Future<Object> closing = threads.submit(() -> {
            queue.close();
            return null;
        });
        while (!queue.life.isClosed()) {
            Thread.onSpinWait();
        }
        assertThatThrownBy(() -> queue.poll(completions))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this CompletionQueue is closed");
        released.countDown();
        resizing.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        closing.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }
}
