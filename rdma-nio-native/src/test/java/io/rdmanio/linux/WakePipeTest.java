package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WakePipeTest {
    private static boolean isReadable(WakePipe pipe) throws IOException {
        return Poll.awaitReadable(pipe.fileDescriptor(), -1, 0) == 1;
    }

    private static void setFlags(int fileDescriptor, int flags) {
        try (CallFrame frame = CallFrame.enter()) {
            assertThat((int) Downcall.callVariadic(
                            FileDescriptors.FCNTL, frame, fileDescriptor, FileDescriptors.F_SETFL, flags))
                    .isZero();
        }
    }

    @Test
    void pipe_isReadableBetweenSignalAndDrain() throws IOException {
        try (WakePipe pipe = new WakePipe();
                WakePipe.Bell bell = WakePipe.Bell.ofReceived(pipe.openOtherEnd())) {
            assertThat(isReadable(pipe)).isFalse();
            bell.signal();
            pipe.signal();
            assertThat(isReadable(pipe)).isTrue();
            pipe.drain();
            pipe.drain();
            assertThat(isReadable(pipe)).isFalse();
            assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(pipe.fileDescriptor()))
                    .isTrue();
        }
    }

    /** A peer that makes its end blocking, and fills the pipe, holds up nobody who signals. */
    @Test
    void signal_doesNotBlockWhenTheOtherProcessChangesItsOwnFlagsAndFillsThePipe() throws IOException {
        try (WakePipe pipe = new WakePipe()) {
            int sent = pipe.openOtherEnd();
            int theirs = duplicate(sent);
            try (WakePipe.Bell bell = WakePipe.Bell.ofReceived(sent)) {
                while (fill(theirs)) {}
                setFlags(theirs, 0);
                bell.signal();
                pipe.signal();
                assertThat(isReadable(pipe)).isTrue();
                int drains = 0;
                while (isReadable(pipe)) {
                    pipe.drain();
                    drains++;
                }
                assertThat(drains).isGreaterThan(1);
                pipe.drain();
            } finally {
                FileDescriptors.close(theirs);
            }
        }
    }

    private static int duplicate(int fileDescriptor) {
        try (CallFrame frame = CallFrame.enter()) {
            return (int) Downcall.call(Downcall.libc("dup"), frame, fileDescriptor);
        }
    }

    private static boolean fill(int fileDescriptor) {
        try (CallFrame frame = CallFrame.enter();
                Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(1);
            return Downcall.call(Downcall.libc("write"), frame, fileDescriptor, room.address(), 1) == 1;
        }
    }

    @Test
    void bell_isMadeOfNothingButAPipe() throws IOException {
        int file = FileDescriptors.openForReading(Path.of("/proc/self/maps"));
        assertThatThrownBy(() -> WakePipe.Bell.ofReceived(file))
                .isInstanceOfSatisfying(
                        SystemCallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
        try (EventFd event = new EventFd()) {
            int copy = duplicate(event.fileDescriptor());
            assertThatThrownBy(() -> WakePipe.Bell.ofReceived(copy)).isInstanceOf(SystemCallException.class);
            // It was closed, so its number is free again.
            assertThat(duplicate(event.fileDescriptor())).isEqualTo(copy);
            FileDescriptors.close(copy);
        }
    }

    @Test
    void bell_ofAReaderThatIsGoneIsSilent() throws IOException {
        WakePipe pipe = new WakePipe();
        int early = pipe.openOtherEnd();
        int late = pipe.openOtherEnd();
        try (WakePipe.Bell bell = WakePipe.Bell.ofReceived(early)) {
            pipe.close();
            bell.signal();
        }
        try (WakePipe.Bell bell = WakePipe.Bell.ofReceived(late)) {
            bell.signal();
        }
        assertThatThrownBy(pipe::openOtherEnd).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void closedOnes_doNotTouchTheirNumbers() throws IOException {
        WakePipe closed = new WakePipe();
        WakePipe.Bell bell = WakePipe.Bell.ofReceived(closed.openOtherEnd());
        bell.close();
        bell.close();
        closed.close();
        closed.close();
        try (WakePipe successor = new WakePipe()) {
            assertThat(successor.fileDescriptor()).isEqualTo(closed.fileDescriptor());
            closed.signal();
            bell.signal();
            assertThat(isReadable(successor)).isFalse();
            successor.signal();
            closed.drain();
            assertThat(isReadable(successor)).isTrue();
        }
    }
}
