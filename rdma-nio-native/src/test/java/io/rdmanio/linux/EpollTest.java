package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EpollTest {
    private static final long DATA = 0x0123456789abcdefL;

    @Test
    void await_reportsEventsWithTheirData() throws IOException {
        try (Epoll epoll = new Epoll(4);
                EventFd first = new EventFd();
                EventFd second = new EventFd()) {
            epoll.add(first.fileDescriptor(), Epoll.IN, DATA);
            epoll.add(second.fileDescriptor(), Epoll.IN | Epoll.OUT, -2);
            assertThat(epoll.await(0)).isEqualTo(1);
            assertThat(epoll.data(0)).isEqualTo(-2);
            assertThat(epoll.events(0)).isEqualTo(Epoll.OUT);
            epoll.modify(second.fileDescriptor(), Epoll.IN, -3);
            first.signal();
            second.signal();
            assertThat(epoll.await(-1)).isEqualTo(2);
            assertThat(new long[] {epoll.data(0), epoll.data(1)}).containsExactlyInAnyOrder(DATA, -3);
            assertThat(epoll.events(0)).isEqualTo(Epoll.IN);
            epoll.remove(second.fileDescriptor());
            assertThat(epoll.await(0)).isEqualTo(1);
        }
    }

    @Test
    void await_returnsNothingWhenTheTimeIsOver() throws IOException {
        try (Epoll epoll = new Epoll(1);
                EventFd event = new EventFd()) {
            epoll.add(event.fileDescriptor(), Epoll.IN, 0);
            long before = System.nanoTime();
            assertThat(epoll.await(30)).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(Duration.ofMillis(29));
        }
    }

    @Test
    void await_returnsNoMoreThanItHasRoomFor() throws IOException {
        try (Epoll epoll = new Epoll(1);
                EventFd first = new EventFd();
                EventFd second = new EventFd()) {
            epoll.add(first.fileDescriptor(), Epoll.OUT, 1);
            epoll.add(second.fileDescriptor(), Epoll.OUT, 2);
            assertThat(epoll.await(-1)).isEqualTo(1);
        }
    }

    @Test
    void oneShot_isSilentUntilModified() throws IOException {
        try (Epoll epoll = new Epoll(1);
                EventFd event = new EventFd()) {
            epoll.add(event.fileDescriptor(), Epoll.IN | Epoll.ONESHOT, 0);
            event.signal();
            assertThat(epoll.await(0)).isEqualTo(1);
            assertThat(epoll.await(0)).isZero();
            epoll.modify(event.fileDescriptor(), Epoll.IN | Epoll.ONESHOT, 0);
            assertThat(epoll.await(0)).isEqualTo(1);
        }
    }

    @Test
    void edgeTriggered_reportsChangesOnly() throws IOException {
        try (Epoll epoll = new Epoll(1);
                EventFd event = new EventFd()) {
            epoll.add(event.fileDescriptor(), Epoll.IN | Epoll.ET, 0);
            event.signal();
            assertThat(epoll.await(0)).isEqualTo(1);
            assertThat(epoll.await(0)).isZero();
            event.signal();
            assertThat(epoll.await(0)).isEqualTo(1);
        }
    }

    @Test
    void remove_ofUnknownDescriptorIsHarmless() throws IOException {
        try (Epoll epoll = new Epoll(1)) {
            EventFd event = new EventFd();
            epoll.remove(event.fileDescriptor());
            event.close();
            epoll.remove(event.fileDescriptor());
            epoll.remove(-1);
        }
    }

    @Test
    void failure_namesCallAndError() throws IOException {
        try (Epoll epoll = new Epoll(1)) {
            assertThatThrownBy(() -> epoll.add(-1, Epoll.IN, 0))
                    .isInstanceOf(IOException.class)
                    .hasMessage("epoll_ctl(add, -1): bad file descriptor (EBADF, 9)");
        }
        assertThatThrownBy(() -> new Epoll(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void close_isIdempotentAndRefusesLaterUse() throws IOException {
        Epoll epoll = new Epoll(1);
        epoll.close();
        epoll.close();
        assertThatThrownBy(() -> epoll.await(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> epoll.add(0, Epoll.IN, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void close_leavesTheDescriptorToAWaiter() throws Exception {
        try (EventFd event = new EventFd()) {
            Epoll epoll = new Epoll(1);
            epoll.add(event.fileDescriptor(), Epoll.IN, 0);
            int[] result = {-1};
            Thread waiter = Thread.ofVirtual().start(() -> result[0] = awaitUnchecked(epoll));
            Thread.sleep(20);
            epoll.close();
            event.signal();
            assertThat(waiter.join(Duration.ofSeconds(10))).isTrue();
            assertThat(result[0]).isIn(1, -2);
        }
    }

    private static int awaitUnchecked(Epoll epoll) {
        try {
            return epoll.await(-1);
        } catch (IllegalStateException e) {
            // Closed before it waited.
            return -2;
        } catch (IOException e) {
            return -3;
        }
    }
}
