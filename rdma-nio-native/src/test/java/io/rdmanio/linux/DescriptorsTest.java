package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** EventFd, Poll, FileDescriptors, ResourceLimits and Errno. */
class DescriptorsTest {
    private static final int NO_DESCRIPTOR = 1_000_000;

    @Test
    void eventFd_isReadableBetweenSignalAndDrain() throws IOException {
        try (EventFd event = new EventFd()) {
            assertThat(Poll.awaitReadable(event.fileDescriptor(), -1, 0)).isZero();
            event.signal();
            event.signal();
            assertThat(Poll.awaitReadable(event.fileDescriptor(), -1, 0)).isEqualTo(1);
            event.drain();
            event.drain();
            assertThat(Poll.awaitReadable(event.fileDescriptor(), -1, 0)).isZero();
            assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(event.fileDescriptor()))
                    .isTrue();
        }
    }

    @Test
    void eventFd_closedDoesNotTouchItsNumber() throws IOException {
        EventFd closed = new EventFd();
        closed.close();
        closed.close();
        try (EventFd successor = new EventFd()) {
            assertThat(successor.fileDescriptor()).isEqualTo(closed.fileDescriptor());
            closed.signal();
            assertThat(Poll.awaitReadable(successor.fileDescriptor(), -1, 0)).isZero();
            successor.signal();
            closed.drain();
            assertThat(Poll.awaitReadable(successor.fileDescriptor(), -1, 0)).isEqualTo(1);
        }
    }

    @Test
    void eventFd_wakesAPollOnAnotherThread() throws Exception {
        try (EventFd event = new EventFd()) {
            Thread signaller = Thread.ofPlatform().start(() -> {
                try {
                    TimeUnit.MILLISECONDS.sleep(20);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                event.signal();
            });
            assertThat(Poll.awaitReadable(-1, event.fileDescriptor(), 10_000)).isEqualTo(2);
            signaller.join();
        }
    }

    @Test
    void poll_tellsTwoDescriptorsApart() throws IOException {
        try (EventFd first = new EventFd();
                EventFd second = new EventFd()) {
            first.signal();
            assertThat(Poll.awaitReadable(first.fileDescriptor(), second.fileDescriptor(), -1))
                    .isEqualTo(1);
            second.signal();
            assertThat(Poll.awaitReadable(first.fileDescriptor(), second.fileDescriptor(), -1))
                    .isEqualTo(3);
            first.drain();
            assertThat(Poll.awaitReadable(first.fileDescriptor(), second.fileDescriptor(), -1))
                    .isEqualTo(2);
        }
    }

    @Test
    void poll_reportsADescriptorThatIsNotOpen() throws IOException {
        assertThat(Poll.awaitReadable(NO_DESCRIPTOR, -1, 1000)).isEqualTo(1);
    }

    @Test
    void setFlags_failsOnADescriptorThatIsNotOpen() {
        assertThatThrownBy(() -> FileDescriptors.setNonBlockingAndCloseOnExec(NO_DESCRIPTOR))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("EBADF");
    }

    @Test
    void lockedMemory_isKnown() {
        assertThat(ResourceLimits.lockedMemoryBytes()).isGreaterThanOrEqualTo(-1);
        assertThat(ResourceLimits.lockableMemoryBytes()).isIn(-1L, ResourceLimits.lockedMemoryBytes());
        assertThat(ResourceLimits.availableMemoryBytes()).isBetween(1L << 20, Long.MAX_VALUE - 1);
    }

    @Test
    void errno_hasNameAndText() {
        assertThat(Errno.name(Errno.ENOMEM)).isEqualTo("ENOMEM");
        assertThat(Errno.describe(Errno.ENOMEM)).isEqualTo("out of memory");
        assertThat(Errno.name(4711)).isEqualTo("errno 4711");
        assertThat(Errno.describe(4711)).isEqualTo("unknown error");
    }

    @Test
    void availableMemory_isKnown() {
        assertThat(ResourceLimits.availableMemoryBytes()).isBetween(1L << 20, 1L << 50);
        assertThat(ResourceLimits.kibibytes("       12 kB")).isEqualTo(12 * 1024);
    }
}
