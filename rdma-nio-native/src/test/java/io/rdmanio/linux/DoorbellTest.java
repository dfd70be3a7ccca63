package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Doorbells, and peers that try to make them block. */
@Timeout(10)
class DoorbellTest {
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int PIPE_BYTES = 64 * 1024;

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private static int fcntl(int fileDescriptor, int command, int argument) {
        try (CallFrame frame = CallFrame.enter()) {
            return (int) Downcall.callVariadic(FileDescriptors.FCNTL, frame, fileDescriptor, command, argument);
        }
    }

    private static void makeBlocking(int fileDescriptor) {
        int flags = fcntl(fileDescriptor, FileDescriptors.F_GETFL, 0);
        assertThat(flags & FileDescriptors.O_NONBLOCK).isNotZero();
        fcntl(fileDescriptor, FileDescriptors.F_SETFL, flags & ~FileDescriptors.O_NONBLOCK);
    }

    private static int duplicate(int fileDescriptor) {
        return fcntl(fileDescriptor, F_DUPFD_CLOEXEC, 0);
    }

    private static boolean isReadable(Doorbell bell) throws IOException {
        return Poll.awaitReadable(bell.fileDescriptor(), -1, 0) == 1;
    }

    @Test
    void bell_isReadableBetweenRingAndDrain() throws IOException {
        try (Doorbell bell = new Doorbell();
                PeerDoorbell peer = PeerDoorbell.fromDescriptor(bell.openForPeer())) {
            assertThat(isReadable(bell)).isFalse();
            peer.signal();
            peer.signal();
            assertThat(isReadable(bell)).isTrue();
            bell.drain();
            assertThat(isReadable(bell)).isFalse();
            bell.signal();
            assertThat(isReadable(bell)).isTrue();
            bell.drain();
            bell.drain();
            assertThat(isReadable(bell)).isFalse();
        }
    }

    @Test
    void ring_ofAFullPipeDoesNotBlock() throws IOException {
        try (Doorbell bell = new Doorbell();
                PeerDoorbell peer = PeerDoorbell.fromDescriptor(bell.openForPeer())) {
            for (int i = 0; i < PIPE_BYTES + 10; i++) {
                peer.signal();
            }
            bell.signal();
            bell.drain();
            assertThat(isReadable(bell)).isFalse();
        }
    }

    /** The peer keeps what it sent, and what it got, and makes both blocking. */
    @Test
    void peerThatMakesItsEndBlocking_blocksNobody() throws IOException {
        try (Doorbell bell = new Doorbell()) {
            int got = bell.openForPeer();
            int sent = duplicate(got);
            try (PeerDoorbell peer = PeerDoorbell.fromDescriptor(sent)) {
                makeBlocking(got);
                for (int i = 0; i < PIPE_BYTES + 10; i++) {
                    peer.signal();
                    bell.signal();
                }
                bell.drain();
                bell.drain();
                assertThat(isReadable(bell)).isFalse();
            }
            FileDescriptors.close(got);
        }
    }

    @Test
    void ring_afterTheOwnerClosedDoesNothing() throws IOException {
        Doorbell bell = new Doorbell();
        try (PeerDoorbell peer = PeerDoorbell.fromDescriptor(bell.openForPeer())) {
            bell.close();
            peer.signal();
        }
        bell.signal();
        bell.drain();
        assertThatThrownBy(bell::openForPeer).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void peerDoorbell_refusesAndClosesWhatIsNoPipe() throws IOException {
        int event;
        try (EventFd original = new EventFd()) {
            event = duplicate(original.fileDescriptor());
        }
        assertThatThrownBy(() -> PeerDoorbell.fromDescriptor(event)).hasMessageContaining("EINVAL");
        assertThatThrownBy(() -> FileDescriptors.isPipe(event)).hasMessageContaining("EBADF");
    }
}
