package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a selection waits, and what ends it. */
abstract class SelectContractTest extends ChannelContract {
    private Selector selector;

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    @Test
    void rule10_select_holdsTheSelectorAndItsSelectedKeys() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            pair.client().register(selector, WRITE);
            AtomicInteger called = new AtomicInteger();
            selector.select(key -> {
                called.incrementAndGet();
                assertThat(Thread.holdsLock(selector)).isTrue();
                assertThat(Thread.holdsLock(selector.selectedKeys())).isTrue();
            });
            assertThat(called).hasValue(1);
        }
        for (Object monitor : List.of(selector, selector.selectedKeys())) {
            Doing<Integer> selecting;
            synchronized (monitor) {
                selecting = doing(() -> selector.selectNow());
                await().until(() -> selecting.thread().getState() == Thread.State.BLOCKED);
                assertThat(selecting.isDone()).isFalse();
            }
            assertThat(selecting.get()).isZero();
        }
    }

    @Test
    void rule10_select_withANegativeTimeoutOrANullAction_isRefused() throws IOException {
        assertThatThrownBy(() -> selector.select(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> selector.select(key -> {}, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> selector.select(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> selector.select(null, 1)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> selector.selectNow(null)).isInstanceOf(NullPointerException.class);
        selector.close();
        assertThatThrownBy(() -> selector.select(-1))
                .as("before it is seen to be closed")
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void rule10_closedSelector_saysSo() throws IOException {
        selector.close();
        selector.close();
        assertThat(selector.isOpen()).isFalse();
        assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(selector::selectNow).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(() -> selector.select(1)).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(() -> selector.select(key -> {})).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
        assertThatThrownBy(selector::selectedKeys).isInstanceOf(ClosedSelectorException.class);
        assertThat(selector.wakeup()).isSameAs(selector);
    }

    @Test
    void rule10_close_endsASelectionThatWaits() throws Exception {
        Doing<Integer> selecting = doing(() -> selector.select()).blocked();
        selector.close();
        // whether it had found nothing or already looked at its key sets when the close came
        try {
            assertThat(selecting.get()).isZero();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseExactlyInstanceOf(ClosedSelectorException.class);
        }
    }

    @Test
    void rule14_wakeup_beforeASelection_endsItAtOnceAndOnlyIt() throws IOException {
        assertThat(selector.wakeup()).isSameAs(selector);
        selector.wakeup();
        selector.wakeup();
        assertThat(selector.select()).isZero();
        assertWaits(100);
    }

    @Test
    void rule14_wakeup_isConsumedBySelectNow() throws IOException {
        selector.wakeup();
        assertThat(selector.selectNow()).isZero();
        assertWaits(100);
    }

    @Test
    void rule14_wakeup_isConsumedByASelectionThatFindsAKey() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, WRITE);
            selector.wakeup();
            assertThat(selector.select()).isOne();
            key.cancel();
            selector.selectNow();
        }
        assertWaits(100);
    }

    private void assertWaits(long millis) throws IOException {
        long start = System.nanoTime();
        assertThat(selector.select(millis)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(millis - 5));
    }

    @Test
    void rule14_wakeup_endsASelectionThatWaits() throws Exception {
        Doing<Integer> selecting = doing(() -> selector.select()).blocked();
        selector.wakeup();
        assertThat(selecting.get()).isZero();
    }

    @Test
    void rule14_wakeup_ofManyThreads_isNeverLost() throws Exception {
        for (int round = 0; round < 500; round++) {
            Doing<Integer> selecting = doing(() -> selector.select());
            selector.wakeup();
            assertThat(selecting.get()).isZero();
        }
    }

    @Test
    void rule15_interrupt_thatIsPending_endsASelectionAndLeavesTheSelectorOpen() throws IOException {
        Thread.currentThread().interrupt();
        try {
            assertThat(selector.select()).isZero();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(selector.isOpen()).isTrue();
        assertWaits(50);
    }

    @Test
    void rule15_interrupt_ofASelectionThatWaits_endsItWithTheStatusSet() throws Exception {
        Callable<Boolean> select = () -> {
            selector.select();
            return Thread.interrupted();
        };
        for (boolean virtually : new boolean[] {false, true}) {
            Doing<Boolean> selecting = virtually ? doingVirtually(select) : doing(select);
            await().until(() -> selecting.thread().getState() != Thread.State.NEW);
            selecting.thread().interrupt();
            assertThat(selecting.get()).isTrue();
        }
        assertThat(selector.isOpen()).isTrue();
    }

    @Test
    void rule15_interruptedThread_mayLookWithoutWaiting() throws IOException {
        Thread.currentThread().interrupt();
        try {
            assertThat(selector.selectNow()).isZero();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void rule16_select_ofZeroOrOfAges_waitsUntilWoken() throws Exception {
        for (long timeout : new long[] {0, 1L << 40, Long.MAX_VALUE}) {
            Doing<Integer> selecting = doing(() -> selector.select(timeout)).blocked();
            selector.wakeup();
            assertThat(selecting.get()).as("timeout %d", timeout).isZero();
        }
    }

    @Test
    void rule16_selectNow_neverWaits() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            pair.client().register(selector, READ);
            Doing<Integer> selecting = doing(() -> {
                int found = 0;
                for (int i = 0; i < 1000; i++) {
                    found += selector.selectNow();
                }
                return found;
            });
            assertThat(selecting.get()).isZero();
        }
    }

    @Test
    void rule16_select_withATimeout_waitsForItAndNoLess() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            pair.client().register(selector, READ);
            assertWaits(200);
        }
    }

    @Test
    void rule17_interest_ofAChannelClosedMeanwhile_isHarmless() throws IOException {
        try (Pair pair = connectNonBlocking();
                Pair other = connectNonBlocking();
                ServerSocketChannel listener = listen()) {
            listener.configureBlocking(false);
            SelectionKey accepting = listener.register(selector, 0);
            SelectionKey key = pair.client().register(selector, 0);
            SelectionKey live = other.client().register(selector, 0);
            assertThat(selector.selectNow()).isZero();
            accepting.interestOps(ACCEPT);
            key.interestOps(READ | WRITE);
            live.interestOps(WRITE);
            closeNow(listener);
            pair.client().close();
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(live);
            assertThat(selector.keys()).containsExactly(live);
        }
    }

    @Test
    void rule17_interest_ofAKeyCancelledMeanwhile_isHarmless() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, 0);
            assertThat(selector.selectNow()).isZero();
            key.interestOps(WRITE);
            key.cancel();
            assertThat(selector.selectNow()).isZero();
            SelectionKey again = pair.client().register(selector, WRITE);
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(again);
        }
    }

    /** However many channels it watches: one epoll instance, and one descriptor that wakes it. */
    @Test
    void rule59_selector_costsTwoDescriptors() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            int before = anonymousDescriptors();
            try (Selector counted = provider().openSelector()) {
                pair.client().register(counted, READ);
                pair.server().register(counted, READ);
                assertThat(counted.select(1)).isZero();
                assertThat(anonymousDescriptors() - before).isEqualTo(2);
            }
            assertThat(anonymousDescriptors()).isEqualTo(before);
        }
    }

    private static int anonymousDescriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return (int) open.filter(SelectContractTest::isAnonymous).count();
        }
    }

    private static boolean isAnonymous(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.equals("anon_inode:[eventpoll]") || target.equals("anon_inode:[eventfd]");
        } catch (IOException e) {
            return false; // the descriptor of the directory itself, closed by now
        }
    }
}
