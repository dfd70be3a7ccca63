package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.UnixSocket.Receipt;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class UnixSocketTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final String name = "rdmanio-test/" + ProcessHandle.current().pid() + "/" + NAMES.incrementAndGet();
    private final ReceivedMessage received = new ReceivedMessage();
    private final MemorySegment room = Arena.ofAuto().allocate(64);
    private List<String> before;

    @BeforeEach
    void listDescriptors() {
        before = OpenDescriptors.list();
    }

    @AfterEach
    void descriptors_areAsBefore() {
        assertThat(OpenDescriptors.list()).isEqualTo(before);
    }

    private static MemorySegment message(int... bytes) {
        MemorySegment message = Arena.ofAuto().allocate(bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            message.set(ValueLayout.JAVA_BYTE, i, (byte) bytes[i]);
        }
        return message;
    }

    private static int[] copies(int fileDescriptor, int count) {
        int[] all = new int[count];
        Arrays.fill(all, fileDescriptor);
        return all;
    }

    private interface Exchange {
        void with(UnixSocket client, UnixSocket server) throws IOException;
    }

    private void connected(Exchange exchange) throws IOException {
        try (UnixSocket listener = UnixSocket.listen(name, 4);
                UnixSocket client = UnixSocket.connect(name);
                UnixSocket server = listener.accept()) {
            exchange.with(client, server);
            received.closeDescriptors();
        }
    }

    @Test
    void accept_returnsNothingUntilSomebodyConnects() throws IOException {
        try (UnixSocket listener = UnixSocket.listen(name, 4)) {
            assertThat(listener.accept()).isNull();
            try (UnixSocket client = UnixSocket.connect(name);
                    UnixSocket server = listener.accept()) {
                assertThat(client.peerCredentials()).isEqualTo(ProcessCredentials.own());
                assertThat(server.peerCredentials()).isEqualTo(ProcessCredentials.own());
                assertThat(server.peerCredentials().processId())
                        .isEqualTo((int) ProcessHandle.current().pid());
                for (UnixSocket socket : List.of(listener, client, server)) {
                    assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(socket.fileDescriptor()))
                            .isTrue();
                }
            }
            assertThat(listener.accept()).isNull();
        }
    }

    @Test
    void send_keepsMessagesWholeAndInOrder() throws IOException {
        connected((client, server) -> {
            assertThat(server.receive(room, received)).isEqualTo(Receipt.NOTHING_YET);
            assertThat(client.send(message(1, 2, 3))).isTrue();
            assertThat(client.send(message(4))).isTrue();
            assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
            assertThat(received.byteCount()).isEqualTo(3);
            assertThat(room.get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 3);
            assertThat(received.descriptorCount()).isZero();
            assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
            assertThat(received.byteCount()).isEqualTo(1);
            assertThat(room.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 4);
            assertThat(server.receive(room, received)).isEqualTo(Receipt.NOTHING_YET);
            assertThat(received.byteCount()).isZero();
        });
    }

    @Test
    void receive_getsDescriptorsOfTheSameThings() throws IOException {
        connected((client, server) -> {
            try (EventFd event = new EventFd();
                    MemoryFile file = MemoryFile.create("rdmanio-sent", 1)) {
                client.send(message(1), event.fileDescriptor(), file.fileDescriptor());
                assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
                assertThat(received.descriptorCount()).isEqualTo(2);
                int eventToo = received.takeDescriptor(0);
                assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(eventToo))
                        .isTrue();
                event.signal();
                assertThat(Poll.awaitReadable(eventToo, -1, 0)).isEqualTo(1);
                FileDescriptors.close(eventToo);
                assertThatThrownBy(() -> received.takeDescriptor(0)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> received.takeDescriptor(2)).isInstanceOf(IndexOutOfBoundsException.class);
                try (MemoryFile same = MemoryFile.fromDescriptor(received.takeDescriptor(1))) {
                    assertThat(same.sizeBytes()).isEqualTo(1);
                }
            }
        });
    }

    @Test
    void receive_closesWhatNobodyTook() throws IOException {
        connected((client, server) -> {
            try (EventFd event = new EventFd()) {
                client.send(message(1), copies(client.fileDescriptor(), UnixSocket.MAX_DESCRIPTORS));
                client.send(message(2), event.fileDescriptor());
                server.receive(room, received);
                assertThat(received.descriptorCount()).isEqualTo(UnixSocket.MAX_DESCRIPTORS);
                assertThat(received.isControlTruncated()).isFalse();
                server.receive(room, received);
                assertThat(received.descriptorCount()).isEqualTo(1);
            }
        });
    }

    @Test
    void receive_tellsOfMoreDescriptorsThanFitAndLeaksNone() throws IOException {
        connected((client, server) -> {
            sendTooMany(client.fileDescriptor());
            assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
            assertThat(received.isControlTruncated()).isTrue();
            assertThat(received.descriptorCount()).isEqualTo(UnixSocket.MAX_DESCRIPTORS);
        });
    }

    /** As a peer that keeps no rules would: one descriptor more than {@link UnixSocket#send} permits. */
    private static void sendTooMany(int socket) {
        int count = UnixSocket.MAX_DESCRIPTORS + 1;
        try (Arena arena = Arena.ofConfined();
                CallFrame frame = CallFrame.enter()) {
            MemorySegment control = arena.allocate(UnixSocket.CMSGHDR_BYTES + 4L * count, 8);
            control.set(ValueLayout.JAVA_LONG, 0, control.byteSize());
            control.set(ValueLayout.JAVA_INT, UnixSocket.LEVEL, UnixSocket.SOL_SOCKET);
            control.set(ValueLayout.JAVA_INT, UnixSocket.TYPE, UnixSocket.SCM_RIGHTS);
            for (int i = 0; i < count; i++) {
                control.set(ValueLayout.JAVA_INT, UnixSocket.CMSGHDR_BYTES + 4L * i, socket);
            }
            MemorySegment iovec = arena.allocate(UnixSocket.IOVEC_BYTES, 8);
            iovec.set(ValueLayout.JAVA_LONG, 0, arena.allocate(1).address());
            iovec.set(ValueLayout.JAVA_LONG, UnixSocket.IOVEC_LENGTH, 1);
            MemorySegment header = arena.allocate(UnixSocket.MSGHDR_BYTES, 8);
            header.set(ValueLayout.JAVA_LONG, UnixSocket.IOV, iovec.address());
            header.set(ValueLayout.JAVA_LONG, UnixSocket.IOV_COUNT, 1);
            header.set(ValueLayout.JAVA_LONG, UnixSocket.CONTROL, control.address());
            header.set(ValueLayout.JAVA_LONG, UnixSocket.CONTROL_BYTES, control.byteSize());
            assertThat(Downcall.call(Downcall.libc("sendmsg"), frame, socket, header.address(), 0))
                    .isEqualTo(1);
        }
    }

    @Test
    void receive_tellsOfBytesThatDidNotFit() throws IOException {
        connected((client, server) -> {
            client.send(message(1, 2, 3));
            client.send(message(4));
            assertThat(server.receive(room.asSlice(0, 2), received)).isEqualTo(Receipt.MESSAGE);
            assertThat(received.isDataTruncated()).isTrue();
            assertThat(received.byteCount()).isEqualTo(2);
            server.receive(room, received);
            assertThat(received.isDataTruncated()).isFalse();
            assertThat(room.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 4);
        });
    }

    @Test
    void send_returnsFalseWhenFullAndTrueWhenRead() throws IOException {
        connected((client, server) -> {
            int sent = 0;
            while (client.send(message(sent & 0x7F))) {
                sent++;
                assertThat(sent).isLessThan(1_000_000);
            }
            assertThat(sent).isPositive();
            for (int i = 0; i < sent; i++) {
                assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
                assertThat(room.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (i & 0x7F));
            }
            assertThat(server.receive(room, received)).isEqualTo(Receipt.NOTHING_YET);
            assertThat(client.send(message(1))).isTrue();
        });
    }

    @Test
    void end_comesAfterTheLastMessage() throws IOException {
        connected((client, server) -> {
            client.send(message(1));
            client.close();
            assertThat(server.receive(room, received)).isEqualTo(Receipt.MESSAGE);
            assertThat(server.receive(room, received)).isEqualTo(Receipt.END);
            assertThat(server.receive(room, received)).isEqualTo(Receipt.END);
            assertThatThrownBy(() -> server.send(message(1)))
                    .isInstanceOfSatisfying(
                            SystemCallException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EPIPE));
        });
    }

    @Test
    void end_isSeenWhenThePeerLeftMessagesUnread() throws IOException {
        connected((client, server) -> {
            try (EventFd event = new EventFd()) {
                server.send(message(1), event.fileDescriptor());
            }
            client.close();
            assertThat(server.receive(room, received)).isEqualTo(Receipt.END);
        });
    }

    @Test
    void listen_refusesANameInUseUntilItIsFree() throws IOException {
        UnixSocket first = UnixSocket.listen(name, 1);
        assertThatThrownBy(() -> UnixSocket.listen(name, 1))
                .isInstanceOfSatisfying(
                        SystemCallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        first.close();
        UnixSocket.listen(name, 1).close();
    }

    @Test
    void connect_isRefusedWhereNobodyListens() {
        assertThatThrownBy(() -> UnixSocket.connect(name))
                .isInstanceOfSatisfying(
                        SystemCallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED));
    }

    @Test
    void connect_failsAtOnceWhenTooManyWait() throws IOException {
        try (UnixSocket listener = UnixSocket.listen(name, 0);
                UnixSocket first = UnixSocket.connect(name)) {
            assertThat(first).isNotNull();
            assertThatThrownBy(() -> UnixSocket.connect(name))
                    .isInstanceOfSatisfying(
                            SystemCallException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EAGAIN));
            listener.accept().close();
        }
    }

    @Test
    void arguments_areChecked() throws IOException {
        assertThatThrownBy(() -> UnixSocket.listen("", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> UnixSocket.connect("x".repeat(UnixSocket.MAX_NAME_BYTES + 1)))
                .isInstanceOf(IllegalArgumentException.class);
        String longest = name + "x".repeat(UnixSocket.MAX_NAME_BYTES - name.length());
        UnixSocket.listen(longest, 1).close();
        connected((client, server) -> {
            assertThatThrownBy(() -> client.send(room.asSlice(0, 0))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> client.send(MemorySegment.ofArray(new byte[1])))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> client.send(room, copies(1, UnixSocket.MAX_DESCRIPTORS + 1)))
                    .isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void use_afterCloseIsRefused() throws IOException {
        UnixSocket socket = UnixSocket.listen(name, 1);
        socket.close();
        socket.close();
        assertThatThrownBy(socket::accept).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> socket.send(message(1))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> socket.receive(room, received)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(socket::peerCredentials).isInstanceOf(IllegalStateException.class);
    }
}
